"""Sandbox for a stranger's program: the command that starts it, and its limits.

Bubblewrap (`bwrap`) isolates the program. It has no network and sees no other processes. It can
read its own files and those of the installed languages. It can write only to a little scratch
space in memory. The `sandbox_supervisor` runs around bubblewrap and enforces what it cannot.
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
    f"--data={sandbox_supervisor.MAX_SANDBOX_BYTES}",
)
"""Limits of one process, as arguments of `prlimit`; `nproc` counts the threads of all processes.

They are a second line of defence. A program can start 64 processes, so the supervisor adds up the
memory and the processor time of all of them.
"""

FIRST_SANDBOX_UID = (
    0x70000000  # from here on are the users of sandboxes that root starts, one for each folder
)

_SANDBOX_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM_PATHS = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/ld.so.cache", "/etc/alternatives"),
)
PYTHON_PATHS = (
    *{sys.prefix, sys.base_prefix, str(Path(pydantic.__file__).parents[1])},
    *(str(Path(str(package.__file__)).parent) for package in (cardsharp, cardsharp_tools)),
)
"""Folders of Python and of our packages; other files beside them stay invisible."""


def sandbox_command(
    folder: Path,
    command: Sequence[str],
    hidden_paths: Path | None = None,
    violation_log: Path | None = None,
) -> list[str]:
    """Return the command that starts a program in a sandbox where it can read `folder`.

    Everything else below `hidden_paths` is invisible in the sandbox, even if `folder` lies in it.
    Each refused attempt of the program is written to the file `violation_log` as one line.
    Raises `ConfigError` if this machine has no such program.
    """
    name = sys.executable if command[0] in {"python", "python3"} else command[0]
    executable = shutil.which(name, path=f"{_SANDBOX_PATH}:{os.environ.get('PATH', '')}")
    if executable is None:
        raise ConfigError(
            f"The program {command[0]!r} is not installed here. Install it and try again."
        )
    program, visible_paths = Path(executable), [*_SYSTEM_PATHS, *PYTHON_PATHS]
    real, mounted_paths = program.resolve(), [*visible_paths, str(folder)]
    if not all(
        any(path.is_relative_to(mounted_path) for mounted_path in mounted_paths)
        for path in (program, real)
    ):
        program = real
        visible_paths.append(str(real))
    mounts = [*_build_mount_arguments(*visible_paths), *_build_mount_arguments(str(folder))]
    if hidden_paths is not None:
        # An empty folder covers the submissions of all teams; only this team's own is mounted into
        # it again. The order matters: bubblewrap carries mounts out one after the other.
        empty, closed = ("--tmpfs", str(hidden_paths)), ("--remount-ro", str(hidden_paths))
        mounts = [
            *_build_mount_arguments(*visible_paths),
            *empty,
            *_build_mount_arguments(str(folder)),
            *closed,
        ]
    program_command = [str(program), *command[1:]]
    return [
        sys.executable,
        "-IS",
        sandbox_supervisor.__file__,
        str(violation_log or ""),
        *_build_bwrap_arguments(folder, mounts),
        *program_command,
    ]


@cache
def check_sandbox() -> None:
    """Start a sandbox once; raise `ConfigError`, with the command to type, if that fails."""
    if shutil.which("bwrap") is None:
        raise ConfigError(
            "A submission is played in a sandbox, but bubblewrap is not installed. Type: sudo apt "
            "install bubblewrap. Or give --no-sandbox to run the submitted code "
            "without a sandbox: it "
            "can then do everything that your user can do."
        )
    command = sandbox_command(Path(__file__).parent, ["true"])
    result = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - ours
    if result.returncode != 0:
        last_line = (
            result.stderr.decode(errors="replace").strip().splitlines()
            or ["it ended without a message"]
        )[-1]
        raise ConfigError(
            f"No sandbox can be started here ({last_line}). It needs bubblewrap, "
            "libseccomp2 and user "
            "namespaces; on Ubuntu type: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
            ". Or give --no-sandbox to run the submitted code without a sandbox: it can then do "
            "everything that your user can do."
        )


def _build_mount_arguments(*paths: str) -> Iterator[str]:
    """Yield the arguments with which bubblewrap makes paths readable."""
    for path in paths:
        # Bubblewrap makes a missing parent folder for its owner alone. The program may run as
        # another user, so the parent is made explicitly, which lets everybody pass.
        yield from ("--dir", str(Path(path).parent))
        yield from ("--ro-bind-try", path, path)


def _build_bwrap_arguments(folder: Path, mounts: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of bubblewrap that come before the program; it sees only `mounts`."""
    yield from (str(shutil.which("bwrap")), "--unshare-pid", "--unshare-net", "--unshare-ipc")
    yield from ("--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session")
    yield from ("--cap-drop", "ALL")
    # Without root, a user namespace isolates the program. Root cannot rely on that: inside it the
    # program would still own root's files, and no limit on processes applies to root. So the
    # program gets a user id of its own, one for each folder, and loses all capabilities with it.
    is_root = os.geteuid() == 0
    as_root = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    yield from as_root if is_root else ("--unshare-user",)
    yield from ("--hostname", "sandbox", "--proc", "/proc", "--dev", "/dev")
    for byte_count, mount_point in ((SCRATCH_BYTES, "/tmp"), (SHARED_MEMORY_BYTES, "/dev/shm")):  # noqa: S108 - in the sandbox
        yield from ("--perms", "1777", "--size", str(byte_count), "--tmpfs", mount_point)
    yield from mounts
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(folder))
    environment = {"PATH": _SANDBOX_PATH, "HOME": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108
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
