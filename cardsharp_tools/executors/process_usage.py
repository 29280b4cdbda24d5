"""Resources that the processes of a sandbox use, as the kernel shows them in /proc."""

import os
from pathlib import Path

NETWORK_COUNTERS = ("OutRequests", "OutNoRoutes", "Ip6OutRequests", "Ip6OutNoRoutes")
"""Names of the kernel's counters of packets that were sent or that had no route."""

_PAGE_SIZE, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


def process_tree(process: int) -> list[int]:
    """Return the ids of a process and of all its descendants that still run."""
    pids = [process]
    for pid in pids:  # which grows meanwhile
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                pids += map(int, (task / "children").read_text("latin-1").split())
        except OSError:  # it has ended
            continue
    return pids


def resource_usage(processes: list[int]) -> tuple[int, float]:
    """Return the bytes of memory and the seconds of processor time of all processes together."""
    memory = ticks = 0
    for pid in processes:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2].split()
        except OSError:
            continue
        memory += int(fields[21]) * _PAGE_SIZE
        ticks += sum(map(int, fields[11:15]))
    return memory, ticks / _TICKS


def find_sandboxed_process(processes: list[int]) -> int | None:
    """Return the id of a process in the sandbox's own network; None if there is none.

    Those that only start or watch the sandbox are in the network of this process.
    """
    host_namespace = Path("/proc/self/ns/net").stat().st_ino
    for pid in reversed(processes):  # the program itself started last
        try:
            if Path(f"/proc/{pid}/ns/net").stat().st_ino != host_namespace:
                return pid
        except OSError:  # it has ended
            continue
    return None


def packets_sent(process: int | None) -> int:
    """Return the number of packets that were sent, or tried, in the network of a process.

    The kernel counts them, so no code in the sandbox can hide one. Without a process it is 0.
    """
    try:
        names, counts = Path(f"/proc/{process}/net/snmp").read_text("latin-1").split("\n")[:2]
        counters = dict(zip(names.split(), counts.split(), strict=True))
        six = Path(f"/proc/{process}/net/snmp6")
        if six.exists():
            counters |= dict(map(str.split, six.read_text("latin-1").splitlines()))
    except OSError:  # it has ended
        return 0
    return sum(int(counters.get(name, 0)) for name in NETWORK_COUNTERS)


def count_files_in_memory(process: int | None, folder: str, max_bytes: int) -> int:
    """Return the number of files in a folder of a sandbox that lies in memory.

    The folder is recognised by its size, `max_bytes`. Until it is mounted, and without a process,
    the result is 0.
    """
    try:
        status = os.statvfs(f"/proc/{process}/root{folder}")
    except OSError:  # it has ended
        return 0
    return status.f_files - status.f_ffree if status.f_blocks * status.f_frsize == max_bytes else 0


def available_memory_bytes() -> int:
    """Return the bytes of memory that this machine can still give to processes."""
    for line in Path("/proc/meminfo").read_text("latin-1").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    raise OSError("the kernel does not say how much memory is available")
