"""Supervisor of a sandbox: it starts bubblewrap, watches the processes in it, and ends them.

`python -IS sandbox_supervisor.py NOTES bwrap ...` passes questions on to the sandbox. The answers
go straight to stdout, not through the supervisor. It copies stderr without control characters,
and at most `PAGE` bytes of it for each question. Too much memory, processor time or text ends the
sandbox, and a line on stderr says why. An attempt to use the network fails without ending the
sandbox, and is noted in the file NOTES, unless that name is empty.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from fcntl import LOCK_EX, flock
from pathlib import Path
from time import monotonic

MAX_SANDBOX_BYTES = 512 << 20  # bytes that all processes of a sandbox may have together
MAX_CPU_SECONDS = (
    30.0  # seconds of processor time from one question to the next, of all processes together
)
MAX_IDLE_SECONDS = 900.0  # seconds without a question after which a sandbox ends
EXIT_GRACE_SECONDS = 5.0  # seconds in which it may end by itself after its stdin was closed
# Bytes of stderr for each question: PAGE are passed on, FLOOD end the sandbox.
PAGE, FLOOD = 3_000, 1_000_000
LIMIT_CHECK_SECONDS = 0.1  # seconds from one check of the limits to the next

NETWORK_COUNTERS = ("OutRequests", "OutNoRoutes", "Ip6OutRequests", "Ip6OutNoRoutes")
"""Names of the kernel's counters of packets that were sent or that had no route."""

NETWORK_VIOLATION = "it tried to use the network, which the sandbox does not have"
"""Text of the note on a sandbox, at most once for each question.

Packets that the program sends to itself count as well, because the kernel counts them in the same
place.
"""

FATAL_ERROR_PREFIX = "Fatal sandbox error: "  # begins the line that says why a sandbox was ended

_PAGE_SIZE, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
_BAD_SYSCALL_EXIT_CODE = 128 + signal.SIGSYS

# --- system calls --------------------------------------------------------------------------------

KILLED_SYSCALLS = (
    "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd mount umount2 pivot_root chroot "
    "move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr unshare setns keyctl "
    "add_key request_key userfaultfd bpf perf_event_open open_by_handle_at init_module "
    "finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl "
    "syslog"
)
"""System calls that no bot has a reason to make; they end the program.

They inspect other processes, change mounts and namespaces, or change the kernel itself. So they
could lead out of the sandbox.
"""

# Memory that these allocate belongs to no process, so the limit on memory would not count it. They
# only fail: libraries try them and then use something else.
DENIED_SYSCALLS = "io_uring_setup memfd_create memfd_secret shmget"

_ALLOW, _KILL, _EPERM, _ENOSYS = 0x7FFF0000, 0x80000000, 0x50001, 0x50026
_GREATER_OR_EQUAL, _MASKED_EQUAL = 5, 7
_CLONE_NAMESPACE_FLAGS = 0x7E020000  # all of clone's flags that make a namespace


class _Compare(ctypes.Structure):
    """Condition on an argument of a system call: `scmp_arg_cmp` of libseccomp."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


Rule = tuple[int, str] | tuple[int, str, _Compare]


def open_seccomp_filter() -> int:
    """Return an open file with the filter of system calls in the form that bubblewrap reads.

    Raises `OSError` if libseccomp cannot make it.
    """
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(lib.seccomp_init(_ALLOW))
    for action, name, *compares in _build_filter_rules():
        syscall_number = lib.seccomp_syscall_resolve_name(name.encode())
        array = (_Compare * len(compares))(*compares)
        if syscall_number >= 0:  # this machine has it
            lib.seccomp_rule_add_array(context, action, syscall_number, len(compares), array)
    file = os.memfd_create("filter")
    if lib.seccomp_export_bpf(context, file) != 0:
        raise OSError("libseccomp made no filter")
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _build_filter_rules() -> Iterator[Rule]:
    """Yield the filter's rules: an action, a system call, and conditions on its arguments."""
    yield from ((_KILL, name) for name in KILLED_SYSCALLS.split())
    yield from ((_EPERM, name) for name in DENIED_SYSCALLS.split())
    # The flags of clone3 lie in memory, where a filter cannot read them. With "not implemented",
    # libraries fall back to clone, whose flags are an argument.
    yield _ENOSYS, "clone3"
    for bit in range(17, 31):
        if _CLONE_NAMESPACE_FLAGS & 1 << bit:
            yield _KILL, "clone", _Compare(0, _MASKED_EQUAL, 1 << bit, 1 << bit)
    yield _EPERM, "socket", _Compare(0, _GREATER_OR_EQUAL, 17, 0)  # such as vsock, to the host
    yield _EPERM, "mmap", _Compare(3, _MASKED_EQUAL, 0x21, 0x21)  # shared memory of no file
    for ioctl_code in (0x5412, 0x541C):  # TIOCSTI and TIOCLINUX write what a user would have typed
        yield _KILL, "ioctl", _Compare(1, _MASKED_EQUAL, 0xFFFFFFFF, ioctl_code)


# --- what runs in the sandbox --------------------------------------------------------------------


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


def packets_sent(processes: list[int]) -> int:
    """Return the number of packets that processes tried to send in a sandbox's network.

    The kernel counts them, so no code in the sandbox can hide one. Packets in the network of
    this process are not counted.
    """
    host_namespace = Path("/proc/self/ns/net").stat().st_ino
    for pid in processes:
        try:
            if Path(f"/proc/{pid}/ns/net").stat().st_ino != host_namespace:
                counter_names, counts = (
                    Path(f"/proc/{pid}/net/snmp").read_text("latin-1").split("\n")[:2]
                )
                counters = dict(zip(counter_names.split(), counts.split(), strict=True))
                six = Path(f"/proc/{pid}/net/snmp6")
                counters |= (
                    dict(map(str.split, six.read_text("latin-1").splitlines()))
                    if six.exists()
                    else {}
                )
                return sum(int(counters.get(name, 0)) for name in NETWORK_COUNTERS)
        except OSError:  # it has ended
            continue
    return 0


def escape_control_chars(text: str) -> str:
    """Return the text with control characters written as codes, so that a terminal is safe."""
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape").decode()
        for character in text
    )


class SandboxSupervisor:
    """Supervisor of a running sandbox: forwards requests and kills it above its limits.

    It measures the resources that the sandbox has used.
    """

    def __init__(self, violation_log: str, command: list[str]) -> None:
        errors, written = os.pipe()
        filter_ = open_seccomp_filter()
        self.process = subprocess.Popen(  # noqa: S603 - what we were told to start
            [command[0], "--seccomp", str(filter_), *command[1:]],
            stdin=subprocess.PIPE,
            stderr=written,
            pass_fds=[filter_],
            env={},
        )
        os.close(written)
        self._stderr_fd, self._parent_pid = errors, os.getppid()
        self._request_time, self._stderr_byte_count = monotonic(), 0
        self._cpu_seconds = self._cpu_seconds_at_request = 0.0
        self._violation_log, self._sent_packet_count, self._is_violation_logged = (
            violation_log,
            0,
            False,
        )

    def wait_for_end_reason(self) -> str:
        """Wait until the sandbox ends; return why it was ended, or "" if it ended by itself."""
        waiting, reason = [0, self._stderr_fd], ""
        looked = 0.0
        while self._stderr_fd in waiting:
            ready = select.select(waiting, [], [], LIMIT_CHECK_SECONDS)[0]
            if 0 in ready and not self._forward_request():
                waiting.remove(0)
            if self._stderr_fd in ready and not self._forward_stderr():
                waiting.remove(self._stderr_fd)
            if monotonic() - looked > LIMIT_CHECK_SECONDS and not reason:
                looked = monotonic()
                reason = self._find_exceeded_limit()
                if reason:
                    self.process.kill()
        return reason

    def dump_stacks(self, *_: object) -> None:
        """Make each process that handles the signal write its stacks to stderr."""
        for pid in process_tree(self.process.pid):
            try:
                status = Path(f"/proc/{pid}/status").read_text("latin-1")
                caught = int(status.partition("SigCgt:")[2].split()[0], 16)
                if caught & 1 << (signal.SIGUSR2 - 1):
                    os.kill(pid, signal.SIGUSR2)
            except OSError:
                continue

    def _forward_request(self) -> bool:
        """Forward a request to the sandbox; return False if no more requests will come."""
        request, pipe = os.read(0, 1 << 20), self.process.stdin
        if pipe is None:
            return False
        try:
            pipe.write(request)
            pipe.flush()
            if not request:
                pipe.close()
        except BrokenPipeError:
            return False
        self._request_time, self._stderr_byte_count = (
            monotonic() - (0 if request else MAX_IDLE_SECONDS - EXIT_GRACE_SECONDS),
            0,
        )
        self._cpu_seconds_at_request, self._is_violation_logged = self._cpu_seconds, False
        return bool(request)

    def _forward_stderr(self) -> bool:
        """Forward what the sandbox has written to stderr; return False at its end."""
        heard = os.read(self._stderr_fd, 1 << 16)
        room = max(0, PAGE - self._stderr_byte_count)
        os.write(2, escape_control_chars(heard[:room].decode(errors="replace")).encode())
        self._stderr_byte_count += len(heard)
        return bool(heard)

    def _find_exceeded_limit(self) -> str:
        """Return a phrase that names the exceeded limit, or "" if there is none."""
        processes = process_tree(self.process.pid)
        memory, self._cpu_seconds = resource_usage(processes)
        previous_count, self._sent_packet_count = (
            self._sent_packet_count,
            max(self._sent_packet_count, packets_sent(processes)),
        )
        if (
            self._violation_log
            and not self._is_violation_logged
            and self._sent_packet_count > previous_count
        ):
            self._is_violation_logged = True
            with Path(self._violation_log).open("a", encoding="utf-8") as file:
                flock(file, LOCK_EX)
                file.write(f"{NETWORK_VIOLATION}\n")
        if memory > MAX_SANDBOX_BYTES:
            return f"it took more than {MAX_SANDBOX_BYTES >> 20} MB of memory"
        if self._cpu_seconds - self._cpu_seconds_at_request > MAX_CPU_SECONDS:
            return f"it took {MAX_CPU_SECONDS:g} s of processor time for one question"
        if self._stderr_byte_count > FLOOD:
            return f"it wrote more than {FLOOD // 10**6} MB to stderr"
        if monotonic() - self._request_time > MAX_IDLE_SECONDS:
            return f"it got no question for {MAX_IDLE_SECONDS:g} s"
        return "the process that asks it has ended" if os.getppid() != self._parent_pid else ""


def main() -> int:
    """Start the command, watch it, and return its exit code."""
    os.nice(5)  # the arena and bots without a sandbox get processor time first
    supervisor = SandboxSupervisor(sys.argv[1], sys.argv[2:])
    signal.signal(signal.SIGUSR2, supervisor.dump_stacks)
    reason = supervisor.wait_for_end_reason()
    exit_code = supervisor.process.wait()
    if exit_code == _BAD_SYSCALL_EXIT_CODE and not reason:
        reason = "it made a system call that the sandbox forbids"
    if reason:
        os.write(2, f"\n{FATAL_ERROR_PREFIX}{reason}\n".encode())
    return exit_code if exit_code >= 0 else 128 - exit_code


if __name__ == "__main__":
    sys.exit(main())
