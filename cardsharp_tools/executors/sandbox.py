"""Sandbox for a stranger's program: the command that starts it, and its limits.

Bubblewrap (`bwrap`) isolates the program. It has no network and sees no other processes. It can
read its own files and those of the installed languages. It can write only to a little scratch
space in memory. The `sandbox_supervisor` runs around bubblewrap. It puts the program into a control
group of the kernel, which limits memory and processes, and enforces what is left.
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
from cardsharp_tools.executors.sandbox_supervisor import FATAL_ERROR_PREFIX, NO_GROUP_REASON

SLICE = "cardsharp-sandboxes.slice"  # unit of systemd; a limit of it holds for all sandboxes

RESOURCE_LIMITS = (
    f"--nproc={sandbox_supervisor.MAX_PROCESSES}",
    "--nofile=256",
    f"--fsize={max(sandbox_supervisor.SCRATCH_FOLDER_BYTES.values())}",
    "--core=0",
    "--msgqueue=0",
    f"--data={sandbox_supervisor.MAX_SANDBOX_BYTES}",
)
"""Limits of one process, as arguments of `prlimit`; `nproc` counts the threads of all processes.

They are a second line of defence. A program can start many processes, and much memory belongs to
no process, so a control group limits what all of them use together.
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

_PACKAGE_FOLDERS = tuple(
    str(Path(str(package.__file__)).parents[1]) for package in (cardsharp_tools, cardsharp)
)
_UNIFIED_CONTROLLERS = Path("/sys/fs/cgroup/cgroup.controllers")
_NO_SANDBOX_HINT = (
    "Or give --no-sandbox to run the submitted code without a sandbox: it can then do everything "
    "that your user can do."
)
_KERNEL_LIMITS_HINT = (
    "It needs control groups: log in with a session of systemd (loginctl enable-linger helps), or "
    "be root, or be given a group that you may divide."
)


def sandbox_command(
    folder: Path,
    command: Sequence[str],
    hidden_paths: Path | None = None,
    violation_log: Path | None = None,
    *,
    needs_kernel_limits: bool = True,
) -> list[str]:
    """Return the command that starts a program in a sandbox where it can read `folder`.

    Everything else below `hidden_paths` is invisible in the sandbox, even if `folder` lies in it.
    Each refused attempt of the program is written to the file `violation_log` as one line. The
    sandbox does not start without a control group if it `needs_kernel_limits`. Raises
    `ConfigError` if this machine has no such program.
    """
    program, visible_paths = _find_program(command[0], folder)
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
    if not needs_kernel_limits:
        # Memory that is mapped from it belongs to no process, so only a control group counts it.
        mounts = [*mounts, "--ro-bind", os.devnull, "/dev/zero"]
    return [
        *(_scope_command() if needs_kernel_limits else ()),
        *(sys.executable, "-IS", "-c", sandbox_supervisor.ENTRY_CODE, *_PACKAGE_FOLDERS),
        str(violation_log or ""),
        sandbox_supervisor.REQUIRE_GROUP if needs_kernel_limits else sandbox_supervisor.NO_GROUP,
        *_build_bwrap_arguments(folder, mounts),
        *(str(program), *command[1:]),
    ]


def _find_program(name: str, folder: Path) -> tuple[Path, list[str]]:
    """Return a program's file, and the paths that must be visible for it beside `folder`.

    Raises `ConfigError` if this machine has no such program.
    """
    name = sys.executable if name in {"python", "python3"} else name
    executable = shutil.which(name, path=f"{_SANDBOX_PATH}:{os.environ.get('PATH', '')}")
    if executable is None:
        raise ConfigError(f"The program {name!r} is not installed here. Install it and try again.")
    program, visible_paths = Path(executable), [*_SYSTEM_PATHS, *PYTHON_PATHS]
    real, mounted_paths = program.resolve(), [*visible_paths, str(folder)]
    if not all(
        any(path.is_relative_to(mounted_path) for mounted_path in mounted_paths)
        for path in (program, real)
    ):
        program = real
        visible_paths.append(str(real))
    return program, visible_paths


@cache
def check_sandbox(*, needs_kernel_limits: bool = True) -> None:
    """Start a sandbox once; raise `ConfigError`, with the command to type, if that fails."""
    if shutil.which("bwrap") is None:
        raise ConfigError(
            "A submission is played in a sandbox, but bubblewrap is not installed. Type: sudo apt "
            f"install bubblewrap. {_NO_SANDBOX_HINT}"
        )
    command = sandbox_command(
        Path(__file__).parent, ["true"], needs_kernel_limits=needs_kernel_limits
    )
    result = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - ours
    if result.returncode == 0:
        return
    lines = result.stderr.decode(errors="replace").strip().splitlines()
    reason = lines[-1] if lines else "it ended without a message"
    if reason.startswith(f"{FATAL_ERROR_PREFIX}{NO_GROUP_REASON}"):
        raise ConfigError(
            f"This machine's kernel cannot limit a sandbox here ({reason}). {_KERNEL_LIMITS_HINT} "
            "Or give --without-kernel-limits: the sandbox then counts memory and processor time "
            "itself, and hostile code can evade that."
        )
    raise ConfigError(
        f"No sandbox can be started here ({reason}). It needs bubblewrap, libseccomp2 and user "
        "namespaces; on Ubuntu type: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0. "
        f"{_NO_SANDBOX_HINT}"
    )


@cache
def _scope_command() -> tuple[str, ...]:
    """Return the command with which systemd gives a program a control group of its own.

    It is empty where systemd does not run or refuses that. Version 1 of control groups is not
    handed on to users, so there the supervisor makes a group by itself, if it may.
    """
    if not Path("/run/systemd/system").exists() or not _UNIFIED_CONTROLLERS.exists():
        return ()
    name, delegate = "--description=sandbox of a submission", "--property=Delegate=yes"
    options = ("--scope", "--quiet", "--collect", name, f"--slice={SLICE}", delegate, "--")
    # The variable says where the user's systemd listens; children may have lost it.
    as_user = ("env", f"XDG_RUNTIME_DIR=/run/user/{os.geteuid()}", "systemd-run", "--user")
    command = (*(as_user if os.geteuid() else ("systemd-run",)), *options)
    try:
        result = subprocess.run([*command, "true"], capture_output=True, check=False)  # noqa: S603
    except OSError:
        return ()
    return () if result.returncode else command


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
    for mount_point, byte_count in sandbox_supervisor.SCRATCH_FOLDER_BYTES.items():
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
