"""What stands between us and a sandbox: it starts bubblewrap, watches what runs in it, and ends it.

`python -IS warden.py NOTES bwrap ...` passes questions on to the sandbox and gives its answers
their own way out. What it writes on stderr comes out without control characters, and no more than a
page of it. Too much memory, processor time or text ends the sandbox, which is told in a sentence.
What is refused without an end, the network, is noted in the file NOTES, unless that is empty.
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

MEMORY = 512 << 20  # bytes that all processes of a sandbox may have together
BUSY = 30.0  # seconds of processor time from one question to the next, of all processes together
IDLE = 900.0  # seconds without a question after which a sandbox ends
LEAVE = 5.0  # those that it has to end by itself once nobody can ask it any more
PAGE, FLOOD = 3_000, 1_000_000  # bytes of stderr passed on of a question, and that end the sandbox
PAUSE = 0.1  # seconds from one look to the next

SENT = ("OutRequests", "OutNoRoutes", "Ip6OutRequests", "Ip6OutNoRoutes")
"""The kernel's counts of packets that were sent, or that no way was there for."""

NETWORK = "it tried to use the network, and its sandbox has none but its own"
"""What is noted of a sandbox, once a question; also where it only spoke to itself."""

FATAL = "Fatal sandbox error: "  # begins the line that says what ended a sandbox

_PAGE_SIZE, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
_SYSTEM_CALL = 128 + signal.SIGSYS

# --- system calls --------------------------------------------------------------------------------

KILLS = (
    "ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd mount umount2 pivot_root chroot "
    "move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr unshare setns keyctl "
    "add_key request_key userfaultfd bpf perf_event_open open_by_handle_at init_module "
    "finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl "
    "syslog"
)
"""No program has a reason for these: they end it."""

REFUSED = "io_uring_setup memfd_create memfd_secret shmget"  # memory by these would be nobody's

_ALLOW, _KILL, _EPERM, _ENOSYS = 0x7FFF0000, 0x80000000, 0x50001, 0x50026
_GREATER_OR_EQUAL, _MASKED_EQUAL = 5, 7
_CLONE_NEW = 0x7E020000  # all of clone's flags that make a namespace


class _Compare(ctypes.Structure):
    """libseccomp's `scmp_arg_cmp`: what an argument of a system call is."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


Rule = tuple[int, str] | tuple[int, str, _Compare]


def forbidden() -> int:
    """An open file with the filter of system calls, as bubblewrap reads it; raises `OSError`."""
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(lib.seccomp_init(_ALLOW))
    for action, name, *compares in _rules():
        number = lib.seccomp_syscall_resolve_name(name.encode())
        array = (_Compare * len(compares))(*compares)
        if number >= 0:  # this machine has it
            lib.seccomp_rule_add_array(context, action, number, len(compares), array)
    file = os.memfd_create("filter")
    if lib.seccomp_export_bpf(context, file) != 0:
        raise OSError("libseccomp made no filter")
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _rules() -> Iterator[Rule]:
    """Yield what is done with which system call, for such arguments."""
    yield from ((_KILL, name) for name in KILLS.split())
    yield from ((_EPERM, name) for name in REFUSED.split())
    yield _ENOSYS, "clone3"  # its flags cannot be looked at; libraries use clone in its place
    for bit in range(17, 31):
        if _CLONE_NEW & 1 << bit:
            yield _KILL, "clone", _Compare(0, _MASKED_EQUAL, 1 << bit, 1 << bit)
    yield _EPERM, "socket", _Compare(0, _GREATER_OR_EQUAL, 17, 0)  # such as vsock, to the host
    yield _EPERM, "mmap", _Compare(3, _MASKED_EQUAL, 0x21, 0x21)  # shared memory of no file
    for code in (0x5412, 0x541C):  # TIOCSTI and TIOCLINUX write what a user would have typed
        yield _KILL, "ioctl", _Compare(1, _MASKED_EQUAL, 0xFFFFFFFF, code)


# --- what runs in the sandbox --------------------------------------------------------------------


def descendants(process: int) -> list[int]:
    """A process and all that it has started, as far as they still run."""
    found = [process]
    for one in found:  # which grows meanwhile
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text("latin-1").split())
        except OSError:  # it has ended
            continue
    return found


def taken(processes: list[int]) -> tuple[int, float]:
    """Bytes of memory and seconds of processor time that they have taken together."""
    memory = ticks = 0
    for one in processes:
        try:
            fields = Path(f"/proc/{one}/stat").read_text("latin-1").rpartition(")")[2].split()
        except OSError:
            continue
        memory += int(fields[21]) * _PAGE_SIZE
        ticks += sum(map(int, fields[11:15]))
    return memory, ticks / _TICKS


def sent(processes: list[int]) -> int:
    """How many packets they wanted to send in the network of a sandbox, by the kernel's count.

    So no code in there can hide one. Of our own network nothing is counted.
    """
    own = Path("/proc/self/ns/net").stat().st_ino
    for one in processes:
        try:
            if Path(f"/proc/{one}/ns/net").stat().st_ino != own:
                names, counts = Path(f"/proc/{one}/net/snmp").read_text("latin-1").split("\n")[:2]
                found = dict(zip(names.split(), counts.split(), strict=True))
                six = Path(f"/proc/{one}/net/snmp6")
                found |= (
                    dict(map(str.split, six.read_text("latin-1").splitlines()))
                    if six.exists()
                    else {}
                )
                return sum(int(found.get(name, 0)) for name in SENT)
        except OSError:  # it has ended
            continue
    return 0


def plain(text: str) -> str:
    """The text with control characters as codes, which do nothing to a terminal."""
    return "".join(
        one if one.isprintable() or one in "\n\t" else one.encode("unicode_escape").decode()
        for one in text
    )


class Warden:
    """A sandbox between its start and its end."""

    def __init__(self, notes: str, command: list[str]) -> None:
        errors, written = os.pipe()
        filter_ = forbidden()
        self.process = subprocess.Popen(  # noqa: S603 - what we were told to start
            [command[0], "--seccomp", str(filter_), *command[1:]],
            stdin=subprocess.PIPE,
            stderr=written,
            pass_fds=[filter_],
            env={},
        )
        os.close(written)
        self._errors, self._parent = errors, os.getppid()
        self._asked, self._heard = monotonic(), 0
        self._busy = self._before = 0.0
        self._notes, self._sent, self._is_noted = notes, 0, False

    def watch(self) -> str:
        """Wait for the end of it, and why it was ended; empty where it ended by itself."""
        waiting, why = [0, self._errors], ""
        looked = 0.0
        while self._errors in waiting:
            ready = select.select(waiting, [], [], PAUSE)[0]
            if 0 in ready and not self._ask():
                waiting.remove(0)
            if self._errors in ready and not self._hear():
                waiting.remove(self._errors)
            if monotonic() - looked > PAUSE and not why:
                looked = monotonic()
                why = self._excess()
                if why:
                    self.process.kill()
        return why

    def show_place(self, *_: object) -> None:
        """Have the processes that can tell where they are do so."""
        for one in descendants(self.process.pid):
            try:
                status = Path(f"/proc/{one}/status").read_text("latin-1")
                caught = int(status.partition("SigCgt:")[2].split()[0], 16)
                if caught & 1 << (signal.SIGUSR2 - 1):
                    os.kill(one, signal.SIGUSR2)
            except OSError:
                continue

    def _ask(self) -> bool:
        """Pass on what is asked; False where nobody will ask any more."""
        question, pipe = os.read(0, 1 << 20), self.process.stdin
        if pipe is None:
            return False
        try:
            pipe.write(question)
            pipe.flush()
            if not question:
                pipe.close()
        except BrokenPipeError:
            return False
        self._asked, self._heard = monotonic() - (0 if question else IDLE - LEAVE), 0
        self._before, self._is_noted = self._busy, False
        return bool(question)

    def _hear(self) -> bool:
        """Pass on what it writes on stderr; False at the end."""
        heard = os.read(self._errors, 1 << 16)
        room = max(0, PAGE - self._heard)
        os.write(2, plain(heard[:room].decode(errors="replace")).encode())
        self._heard += len(heard)
        return bool(heard)

    def _excess(self) -> str:
        """What it has had too much of, if anything."""
        processes = descendants(self.process.pid)
        memory, self._busy = taken(processes)
        before, self._sent = self._sent, max(self._sent, sent(processes))
        if self._notes and not self._is_noted and self._sent > before:
            self._is_noted = True
            with Path(self._notes).open("a", encoding="utf-8") as file:
                flock(file, LOCK_EX)
                file.write(f"{NETWORK}\n")
        if memory > MEMORY:
            return f"it took more than {MEMORY >> 20} MB of memory"
        if self._busy - self._before > BUSY:
            return f"it took {BUSY:g} s of processor time since it was asked last"
        if self._heard > FLOOD:
            return f"it wrote more than {FLOOD // 10**6} MB on stderr"
        if monotonic() - self._asked > IDLE:
            return f"nobody asked it for {IDLE:g} s"
        return "nobody is there who could ask it" if os.getppid() != self._parent else ""


def main() -> int:
    """Start the command and watch it; its exit code."""
    os.nice(5)  # the arena and who plays without a sandbox go first
    warden = Warden(sys.argv[1], sys.argv[2:])
    signal.signal(signal.SIGUSR2, warden.show_place)
    why = warden.watch()
    code = warden.process.wait()
    if code == _SYSTEM_CALL and not why:
        why = "it made a system call that the sandbox forbids"
    if why:
        os.write(2, f"\n{FATAL}{why}\n".encode())
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
