"""Control groups of the kernel: they count and limit everything that a sandbox's processes use.

A process cannot leave its group, and neither can its children. So the kernel's count is complete:
it includes shared memory, files in memory, the buffers of pipes and sockets, what the kernel
allocates for them, and the processor time of children that have ended. This module knows both
versions of control groups. Version 2 has one tree. Version 1 has a tree for each controller.

The group of a sandbox lies in the group of the process that makes it, so limits of that group
hold for both. Its name begins with `GROUP_PREFIX`. Its maker holds a file lock on it; a group
that nobody has locked is left over from a process that was killed, and the next maker removes it.
"""

import fcntl
import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

GROUP_PREFIX = "cardsharp-sandbox-"
CONTROLLERS = ("memory", "pids", "cpuacct")
"""Controllers that a sandbox needs, as version 1 names them; version 2 always counts time."""

_CPU_CONTROLLER = "cpu"  # shares the processors fairly between sandboxes; used if it is there
_REMOVAL_SECONDS = 5.0  # seconds in which the kernel has to end killed processes
_DELEGATION_SECONDS = 2.0  # seconds in which systemd has to hand controllers on
_PAUSE_SECONDS = 0.005  # seconds from one try to the next


class ControlGroupError(OSError):
    """No control group can be made here; the text says why."""


class GroupLimits(NamedTuple):
    """Limits of a group: bytes of memory, processes with their threads, and a share of the CPU.

    `cpu_share` is the weight of the whole group where others want the same processor. A process
    outside every group has the weight 1024.
    """

    max_bytes: int
    max_processes: int
    cpu_share: int


class ControlGroup:
    """Control group that this process has made; `make_control_group` returns it."""

    def __init__(self, folders: Mapping[str, Path], lock_fd: int, *, is_unified: bool) -> None:
        self._folders, self._lock_fd, self._is_unified = folders, lock_fd, is_unified
        self._max_bytes = 0

    def enter(self) -> None:
        """Move this process into the group, with all children that it will have."""
        for folder in set(self._folders.values()):
            _write(folder / "cgroup.procs", "0")

    def list_processes(self) -> list[int]:
        """Return the ids of all processes in the group."""
        return _read_numbers(self._folders["pids"] / "cgroup.procs")

    def cpu_seconds(self) -> float:
        """Return the processor time of all processes that are or were in the group, in seconds."""
        folder = self._folders["cpuacct"]
        if self._is_unified:
            return _read_counter(folder / "cpu.stat", "usage_usec") / 1e6
        return int((folder / "cpuacct.usage").read_text("ascii")) / 1e9

    def has_exceeded_memory(self) -> bool:
        """Return True if the kernel has killed a process because the memory was used up.

        Version 1 counts the buffers of TCP apart and only slows the sockets down at their limit,
        so the sum is compared here.
        """
        memory = self._folders["memory"]
        name = "memory.events" if self._is_unified else "memory.oom_control"
        counters = ("memory.usage_in_bytes", "memory.kmem.tcp.usage_in_bytes")
        used = sum(number for file in counters for number in _read_numbers(memory / file))
        return _read_counter(memory / name, "oom_kill") > 0 or used > self._max_bytes

    def refused_process_count(self) -> int:
        """Return how many times the kernel has refused to start one more process."""
        return _read_counter(self._folders["pids"] / "pids.events", "max")

    def set_limits(self, limits: GroupLimits) -> None:
        """Set the limits; raise `OSError` if the kernel refuses one that is needed."""
        memory, max_bytes = self._folders["memory"], str(limits.max_bytes)
        self._max_bytes = limits.max_bytes
        _write(self._folders["pids"] / "pids.max", str(limits.max_processes))
        if self._is_unified:
            _write(memory / "memory.max", max_bytes)
            _write_if_present(memory / "memory.swap.max", "0")
            _write_if_present(memory / "memory.oom.group", "1")
            weight = max(1, limits.cpu_share * 100 // 1024)
            _write_if_present(memory / "cpu.weight", str(weight))
            return
        _write(memory / "memory.limit_in_bytes", max_bytes)
        _write_if_present(memory / "memory.memsw.limit_in_bytes", max_bytes)
        # The buffers of sockets are counted only where they have a limit. Newer kernels count all
        # their other memory with the rest and refuse the limit for it.
        _write_if_present(memory / "memory.kmem.limit_in_bytes", max_bytes)
        _write_if_present(memory / "memory.kmem.tcp.limit_in_bytes", str(limits.max_bytes // 16))
        if _CPU_CONTROLLER in self._folders:
            _write_if_present(self._folders[_CPU_CONTROLLER] / "cpu.shares", str(limits.cpu_share))

    def remove(self) -> None:
        """Kill all processes in the group, and remove it."""
        _remove_folders(set(self._folders.values()), self._folders["pids"])
        os.close(self._lock_fd)


def make_control_group(limits: GroupLimits) -> ControlGroup:
    """Make a control group with these limits, and remove groups that were left over.

    Raises `ControlGroupError` if this process may not make one.
    """
    parents, is_unified = _find_parents()
    name = GROUP_PREFIX + os.urandom(8).hex()
    try:
        with _lock_folder(parents["memory"]):
            _remove_stale_groups(parents)
            folders = {controller: parent / name for controller, parent in parents.items()}
            for folder in set(folders.values()):
                folder.mkdir()
            lock_fd = os.open(folders["memory"], os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock_fd, fcntl.LOCK_EX)
        group = ControlGroup(folders, lock_fd, is_unified=is_unified)
        group.set_limits(limits)
    except OSError as error:
        raise ControlGroupError(f"{error.filename}: {error.strerror}") from error
    return group


# --- where a group can be made --------------------------------------------------------------------


def _find_parents() -> tuple[dict[str, Path], bool]:
    """Return the parent of a new group for each controller, and whether all are one (version 2)."""
    own_groups = dict(_list_own_groups())
    unified = own_groups.get("")
    if unified is not None and _has_controllers(unified / "cgroup.controllers"):
        parent = _find_unified_parent(unified)
        return dict.fromkeys(CONTROLLERS, parent), True
    missing = [controller for controller in CONTROLLERS if controller not in own_groups]
    if missing:
        raise ControlGroupError(f"the kernel has no control groups for {' and '.join(missing)}")
    used = (*CONTROLLERS, *({_CPU_CONTROLLER} & own_groups.keys()))
    return {controller: own_groups[controller] for controller in used}, False


def _list_own_groups() -> Iterator[tuple[str, Path]]:
    """Yield each controller with the folder of this process's group; "" stands for version 2."""
    paths = dict[str, str]()
    for line in Path("/proc/self/cgroup").read_text("latin-1").splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path)
    for line in Path("/proc/self/mountinfo").read_text("latin-1").splitlines():
        mount, _, file_system = line.partition(" - ")
        root, mount_point = mount.split()[3:5]
        kind, _, options = file_system.split()[:3]
        if kind not in {"cgroup", "cgroup2"}:
            continue
        for controller in [""] if kind == "cgroup2" else options.split(","):
            if controller in paths:
                # In a container the mount shows only a part of the tree, which begins at `root`.
                below = paths[controller].removeprefix(root if root != "/" else "")
                yield controller, Path(mount_point, below.lstrip("/"))


def _find_unified_parent(own_group: Path) -> Path:
    """Return the group of version 2 in which a new group gets the controllers.

    A group with processes cannot hand its controllers on. So if this process is alone in its
    group, as in a scope of systemd, it moves into a leaf. Otherwise an outer group is used.
    """
    if _read_numbers(own_group / "cgroup.procs") == [os.getpid()]:
        with suppress(OSError):
            leaf = own_group / "supervisor"
            leaf.mkdir(exist_ok=True)
            _write(leaf / "cgroup.procs", "0")
            _hand_controllers_on(own_group)
    for group in (own_group, *own_group.parents):
        if not (group / "cgroup.subtree_control").exists():
            break
        if _has_controllers(group / "cgroup.subtree_control") and all(
            os.access(path, os.W_OK) for path in (group, group / "cgroup.procs")
        ):
            return group
    raise ControlGroupError("this process was given no control group of its own to divide")


def _hand_controllers_on(own_group: Path) -> None:
    """Let the groups in this process's group have the controllers, as soon as they are there.

    Systemd may hand them on to a new scope a moment after it has started the program in it.
    """
    deadline = time.monotonic() + _DELEGATION_SECONDS
    while time.monotonic() < deadline:
        for controller in ("memory", "pids", _CPU_CONTROLLER):
            _write_if_present(own_group / "cgroup.subtree_control", f"+{controller}")
        if _has_controllers(own_group / "cgroup.subtree_control"):
            return
        time.sleep(_PAUSE_SECONDS)


def _has_controllers(file: Path) -> bool:
    with suppress(OSError):
        return {"memory", "pids"}.issubset(file.read_text("ascii").split())
    return False


# --- removal --------------------------------------------------------------------------------------


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, so that nobody removes a group between its making and its lock."""
    lock_fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock_fd)


def _remove_stale_groups(parents: Mapping[str, Path]) -> None:
    """Remove the groups whose makers have ended without removing them."""
    for group in parents["memory"].glob(f"{GROUP_PREFIX}*"):
        with suppress(OSError):
            lock_fd = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                folders = {parent / group.name for parent in parents.values()}
                _remove_folders(folders, parents["pids"] / group.name)
            finally:
                os.close(lock_fd)


def _remove_folders(folders: Iterable[Path], pids_folder: Path) -> None:
    """Kill all processes of a group and remove its folders, as far as this works in time."""
    _write_if_present(pids_folder / "pids.max", "0")  # so that no process can outrun the killing
    deadline = time.monotonic() + _REMOVAL_SECONDS
    remaining = {folder for folder in folders if folder.exists()}
    while remaining and time.monotonic() < deadline:
        for folder in list(remaining):
            _write_if_present(folder / "cgroup.kill", "1")
            for pid in _read_numbers(folder / "cgroup.procs"):
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(OSError):
                folder.rmdir()
                remaining.remove(folder)
        if remaining:
            time.sleep(_PAUSE_SECONDS)


# --- files of the kernel --------------------------------------------------------------------------


def _read_numbers(file: Path) -> list[int]:
    """Return the numbers in a file of the kernel; none if the file is gone."""
    with suppress(OSError):
        return [int(word) for word in file.read_text("latin-1").split()]
    return []


def _read_counter(file: Path, name: str) -> int:
    """Return the counter of that name from a file with a name and a number in each line."""
    with suppress(OSError):
        counters = dict(line.split() for line in file.read_text("latin-1").splitlines())
        return int(counters.get(name, 0))
    return 0


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="ascii")


def _write_if_present(file: Path, text: str) -> None:
    """Write to a file of the kernel, if this kernel has it and allows it."""
    with suppress(OSError):
        _write(file, text)
