"""Sandbox for a stranger's program: the command that starts it, and its limits.

Bubblewrap (`bwrap`) gives the program a machine of its own: no network, no other processes,
its own files and those of the languages to read, and a little scratch space in memory to
write. Ours is the `sandbox_supervisor` around that.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from zlib import crc32

import pydantic

import cardsharp
import cardsharp_tools
from cardsharp.errors import ConfigError
from cardsharp_tools.executors import sandbox_supervisor

SCRATCH_BYTES = 64 << 20  # bytes of its home, /tmp, which is empty whenever a sandbox starts
SHARED_MEMORY_BYTES = 16 << 20  # bytes of /dev/shm

RESOURCE_LIMITS = (
    "--nproc=64",
    "--nofile=256",
    f"--fsize={SCRATCH_BYTES}",
    "--core=0",
    f"--data={sandbox_supervisor.MAX_MEMORY_BYTES}",
)
"""Limits of one process, as arguments of `prlimit`; `nproc` counts the threads of all processes."""

FIRST_SANDBOX_UID = (
    0x70000000  # from here on are the users of sandboxes that root starts, one for each folder
)

_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/ld.so.cache", "/etc/alternatives"),
)
PYTHON_PATHS = (
    *{sys.prefix, sys.base_prefix, str(Path(pydantic.__file__).parents[1])},
    *(str(Path(str(package.__file__)).parent) for package in (cardsharp, cardsharp_tools)),
)
"""Paths of Python and our packages, without the files beside them."""


def sandbox_command(
    folder: Path,
    command: Sequence[str],
    hidden_paths: Path | None = None,
    violation_log: Path | None = None,
) -> list[str]:
    """Return the command that starts a program in a sandbox where it can read `folder`.

    All else below `hidden_paths` is invisible there, even if `folder` lies in it. What the
    program tried in vain is written to the file `violation_log`, a line each. Raises
    `ConfigError` if there is no such program on this machine.
    """
    name = sys.executable if command[0] in {"python", "python3"} else command[0]
    executable = shutil.which(name, path=f"{_PATH}:{os.environ.get('PATH', '')}")
    if executable is None:
        raise ConfigError(f"There is no program {command[0]!r} here; install it, and try again.")
    program, visible_paths = Path(executable), [*_SYSTEM, *PYTHON_PATHS]
    real, places = program.resolve(), [*visible_paths, str(folder)]
    if not all(any(path.is_relative_to(place) for place in places) for path in (program, real)):
        program = real
        visible_paths.append(str(real))
    mounts = [*_mounts(*visible_paths), *_mounts(str(folder))]
    if hidden_paths is not None:
        empty, closed = ("--tmpfs", str(hidden_paths)), ("--remount-ro", str(hidden_paths))
        mounts = [*_mounts(*visible_paths), *empty, *_mounts(str(folder)), *closed]
    program_command = [str(program), *command[1:]]
    return [
        sys.executable,
        "-IS",
        sandbox_supervisor.__file__,
        str(violation_log or ""),
        *_bwrap(folder, mounts),
        *program_command,
    ]


@cache
def check_sandbox() -> None:
    """Start a sandbox once; raises `ConfigError` if none can be started here; says what to type."""
    if shutil.which("bwrap") is None:
        raise ConfigError(
            "A submission is played in a sandbox, and there is none here. Type: sudo apt install "
            "bubblewrap. Or give --trust to play its code as yours: it may do what you may."
        )
    command = sandbox_command(Path(__file__).parent, ["true"])
    result = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - ours
    if result.returncode != 0:
        last = (
            result.stderr.decode(errors="replace").strip().splitlines()
            or ["it ended without a word"]
        )[-1]
        raise ConfigError(
            f"No sandbox can be started here ({last}). It needs bubblewrap, libseccomp2 and user "
            "namespaces; on Ubuntu type: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
            ". Or give --trust to play a submission's code as yours: it may do what you may."
        )


def _mounts(*places: str) -> Iterator[str]:
    """Yield what makes places readable."""
    for place in places:
        yield from ("--dir", str(Path(place).parent))  # else nobody but its owner may pass
        yield from ("--ro-bind-try", place, place)


def _bwrap(folder: Path, mounts: Sequence[str]) -> Iterator[str]:
    """Yield the words before the program, which finds those mounts."""
    yield from (str(shutil.which("bwrap")), "--unshare-pid", "--unshare-net", "--unshare-ipc")
    yield from ("--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session")
    yield from ("--cap-drop", "ALL")
    # As root it is made somebody else below: root's own files and limits are not for it.
    is_root = os.geteuid() == 0
    as_root = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    yield from as_root if is_root else ("--unshare-user",)
    yield from ("--hostname", "sandbox", "--proc", "/proc", "--dev", "/dev")
    for size, place in ((SCRATCH_BYTES, "/tmp"), (SHARED_MEMORY_BYTES, "/dev/shm")):  # noqa: S108 - in the sandbox
        yield from ("--perms", "1777", "--size", str(size), "--tmpfs", place)
    yield from mounts
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(folder))
    environment = {"PATH": _PATH, "HOME": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108
    packages = {
        str(Path(str(module.__file__)).parents[1])
        for module in (cardsharp, cardsharp_tools, pydantic)
    }
    environment |= {"PYTHONPATH": ":".join(sorted(packages)), "PYTHONDONTWRITEBYTECODE": "1"}
    for name, value in environment.items():
        yield from ("--setenv", name, value)
    yield "--"
    if is_root:
        user = str(FIRST_SANDBOX_UID + crc32(bytes(folder)) % FIRST_SANDBOX_UID)
        yield from ("setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--")
    yield from ("prlimit", *RESOURCE_LIMITS, "--")
