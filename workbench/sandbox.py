"""A program of a stranger's in a sandbox: what it is started with, and what it may have there.

Bubblewrap (`bwrap`) gives it a machine of its own: no network, no processes but its own, its own
files and those of the languages to read, and a little scratch in memory to write. Ours is the
`warden` around that.
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
import workbench
from cardsharp.errors import ConfigError
from workbench import warden

SCRATCH = 64 << 20  # bytes of its home, /tmp, which is empty whenever a sandbox starts
SHARED = 16 << 20  # bytes of /dev/shm

LIMITS = ("--nproc=64", "--nofile=256", f"--fsize={SCRATCH}", "--core=0", f"--data={warden.MEMORY}")
"""What one process may have, as `prlimit` is told it; `nproc` counts threads of all of them."""

NOBODY = 0x70000000  # from here on are the users of sandboxes that root starts, one for each folder

_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/ld.so.cache", "/etc/alternatives"),
)
PYTHON = (
    *{sys.prefix, sys.base_prefix, str(Path(pydantic.__file__).parents[1])},
    *(str(Path(str(package.__file__)).parent) for package in (cardsharp, workbench)),
)
"""Where Python and our packages are, without what lies beside them."""


def boxed(
    folder: Path, words: Sequence[str], hidden: Path | None = None, notes: Path | None = None
) -> list[str]:
    """The command that starts a program in a sandbox where it can read that folder.

    All else in the folder that is `hidden` is not there, wherever that lies. Into the file `notes`
    comes, a line each, what was tried in there in vain. Raises `ConfigError` if there is no such
    program here.
    """
    name = sys.executable if words[0] in {"python", "python3"} else words[0]
    found = shutil.which(name, path=f"{_PATH}:{os.environ.get('PATH', '')}")
    if found is None:
        raise ConfigError(f"There is no program {words[0]!r} here; install it, and try again.")
    program, shown = Path(found), [*_SYSTEM, *PYTHON]
    real, places = program.resolve(), [*shown, str(folder)]
    if not all(any(one.is_relative_to(place) for place in places) for one in (program, real)):
        program = real
        shown.append(str(real))
    mounts = [*_mounts(*shown), *_mounts(str(folder))]
    if hidden is not None:
        empty, closed = ("--tmpfs", str(hidden)), ("--remount-ro", str(hidden))
        mounts = [*_mounts(*shown), *empty, *_mounts(str(folder)), *closed]
    own = [str(program), *words[1:]]
    return [sys.executable, "-IS", warden.__file__, str(notes or ""), *_bwrap(folder, mounts), *own]


@cache
def check_sandbox() -> None:
    """Start a sandbox once; raises `ConfigError` if none can be started here; says what to type."""
    if shutil.which("bwrap") is None:
        raise ConfigError(
            "A submission is played in a sandbox, and there is none here. Type: sudo apt install "
            "bubblewrap. Or give --trust to play its code as yours: it may do what you may."
        )
    command = boxed(Path(__file__).parent, ["true"])
    told = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - ours
    if told.returncode != 0:
        last = (
            told.stderr.decode(errors="replace").strip().splitlines() or ["it ended without a word"]
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
    for size, place in ((SCRATCH, "/tmp"), (SHARED, "/dev/shm")):  # noqa: S108 - in the sandbox
        yield from ("--perms", "1777", "--size", str(size), "--tmpfs", place)
    yield from mounts
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(folder))
    environment = {"PATH": _PATH, "HOME": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108
    packages = {str(Path(str(one.__file__)).parents[1]) for one in (cardsharp, workbench, pydantic)}
    environment |= {"PYTHONPATH": ":".join(sorted(packages)), "PYTHONDONTWRITEBYTECODE": "1"}
    for name, value in environment.items():
        yield from ("--setenv", name, value)
    yield "--"
    if is_root:
        user = str(NOBODY + crc32(bytes(folder)) % NOBODY)
        yield from ("setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--")
    yield from ("prlimit", *LIMITS, "--")
