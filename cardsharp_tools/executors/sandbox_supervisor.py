"""Supervisor of a sandbox: it starts bubblewrap, watches the processes in it, and ends them.

It passes questions on to the sandbox, and answers back. It copies stderr without control
characters, and at most `PAGE` bytes of it for each question. It never waits for the sandbox: what
one side does not read stays in a buffer of limited size.

A control group of the kernel limits memory and processes and counts processor time. Too much
memory, processor time, files or text ends the sandbox, and a line on stderr says why. Attempts to
use the network or to start too many processes fail without ending the sandbox. They are noted in
the file of violations, and so is an end while no question was open.

`main` takes the arguments VIOLATIONS LIMITS bwrap ... VIOLATIONS names that file, or is empty.
LIMITS is `REQUIRE_GROUP` or `NO_GROUP`. Without a group the supervisor adds up itself what
the processes use, which the code can evade.
"""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from time import monotonic
from typing import NoReturn

from cardsharp_tools.executors import process_usage
from cardsharp_tools.executors.byte_relay import ByteRelay
from cardsharp_tools.executors.control_groups import (
    ControlGroup,
    ControlGroupError,
    GroupLimits,
    make_control_group,
)
from cardsharp_tools.executors.system_call_filter import open_seccomp_filter

ENTRY_CODE = (
    "import sys; sys.path[:0] = sys.argv.pop(1), sys.argv.pop(1); "
    f"from {__name__} import main; sys.exit(main())"
)
"""Code for `python -IS -c` that runs `main`; the first two arguments are our packages' folders."""

REQUIRE_GROUP, NO_GROUP = "require-group", "no-group"

MAX_SANDBOX_BYTES = 512 << 20  # bytes of memory that everything in a sandbox may use together
MAX_PROCESSES = 64  # processes and threads of a sandbox; bubblewrap itself needs two of them
MAX_SCRATCH_FILES = 10_000  # files in each of its folders in memory
SCRATCH_FOLDER_BYTES = {"/tmp": 64 << 20, "/dev/shm": 16 << 20}  # noqa: S108 - in the sandbox
"""Folders in memory where it can write, with their sizes in bytes."""

CPU_SHARE = 1024  # weight of all its processes together: that of one ordinary process
NICENESS = 5  # where no group has a share, the arena gets processor time first
MAX_CPU_SECONDS = (
    30.0  # seconds of processor time from one question to the next, of all processes together
)
MAX_IDLE_SECONDS = 900.0  # seconds without a question after which a sandbox ends
EXIT_GRACE_SECONDS = 5.0  # seconds in which it may end by itself after its stdin was closed
# Bytes of stderr for each question: PAGE are passed on, FLOOD end the sandbox.
PAGE, FLOOD = 3_000, 1_000_000
LIMIT_CHECK_SECONDS = 0.1  # seconds from one check of the limits to the next
MIN_AVAILABLE_BYTES = 256 << 20  # without a group: memory of the machine at which a sandbox ends

NETWORK_VIOLATION = "it tried to use the network, which the sandbox does not have"
"""Text of the note on a sandbox, at most once for each question.

Packets that the program sends to itself count as well, because the kernel counts them in the same
place.
"""

PROCESSES_VIOLATION = f"it tried to run more than {MAX_PROCESSES} processes and threads"
"""Text of the note on a sandbox that the kernel has refused a process, at most once a question."""

FATAL_ERROR_PREFIX = "Fatal sandbox error: "  # begins the line that says why a sandbox was ended

NO_GROUP_REASON = "no control group can be made"  # begins the reason why a sandbox cannot start

_MEMORY_REASON = f"it took more than {MAX_SANDBOX_BYTES >> 20} MB of memory"
_BAD_SYSCALL_EXIT_CODE = 128 + signal.SIGSYS
_IDLE_REASON = f"it got no question for {MAX_IDLE_SECONDS:g} s"
_ORPHAN_REASON = "the process that asks it has ended"


def escape_control_chars(text: str) -> str:
    """Return the text with control characters written as codes, so that a terminal is safe."""
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape").decode()
        for character in text
    )


class SandboxSupervisor:
    """Supervisor of a running sandbox: relays its streams and kills it above its limits."""

    def __init__(self, violation_log: str, group: ControlGroup | None, command: list[str]) -> None:
        (requests_read, requests), (answers, answers_write) = os.pipe(), os.pipe()
        self._stderr_fd, stderr_write = os.pipe()
        filter_ = open_seccomp_filter()
        self._group, self._violation_log = group, violation_log
        self.process = subprocess.Popen(  # noqa: S603 - what we were told to start
            [command[0], "--seccomp", str(filter_), *command[1:]],
            stdin=requests_read,
            stdout=answers_write,
            stderr=stderr_write,
            pass_fds=[filter_],
            env={},
            preexec_fn=self._prepare_child,  # noqa: PLW1509 - there is only one thread
        )
        for fd in (requests_read, answers_write, stderr_write, filter_):
            os.close(fd)
        self._requests, self._answers = ByteRelay(0, requests), ByteRelay(answers, _take_stdout())
        self._end_fd, self._parent_pid = os.pidfd_open(self.process.pid), os.getppid()
        self._is_asked, self._is_stderr_open = True, True  # starting is like a first question
        self._request_time, self._stderr_byte_count = monotonic(), 0
        self._cpu_seconds_at_request = 0.0
        self._sent_packet_count = self._refused_process_count = 0
        self._noted_violations, self._unwritten_violations = set[str](), list[str]()

    def wait_for_end_reason(self) -> str:
        """Wait until the sandbox ends; return why it was ended, or "" if it ended by itself."""
        reason, looked = "", 0.0
        while self._end_fd not in self._relay_ready(LIMIT_CHECK_SECONDS):
            if monotonic() - looked > LIMIT_CHECK_SECONDS and not reason:
                looked = monotonic()
                reason = self._find_exceeded_limit()
                if reason:
                    self.process.kill()
                self._write_violations()
        self._find_violations(None)
        return reason or self._find_end_reason()

    def pass_on_last_output(self) -> None:
        """Pass on what the sandbox wrote before it ended, as far as it is read in time."""
        deadline = monotonic() + EXIT_GRACE_SECONDS
        while monotonic() < deadline and os.getppid() == self._parent_pid:
            self._relay_ready(LIMIT_CHECK_SECONDS, is_running=False)
            if self._answers.is_finished and not self._is_stderr_open:
                break

    def note_end(self, reason: str) -> None:
        """Note the end of the sandbox, unless the fault of an open question will tell it."""
        if not self._is_asked and reason not in {"", _IDLE_REASON, _ORPHAN_REASON}:
            self._unwritten_violations.append(f"its sandbox was ended: {reason}")
        for _ in range(round(EXIT_GRACE_SECONDS / LIMIT_CHECK_SECONDS)):
            self._write_violations()
            if not self._unwritten_violations:
                break
            select.select([], [], [], LIMIT_CHECK_SECONDS)

    def dump_stacks(self, *_: object) -> None:
        """Make each process that handles the signal write its stacks to stderr."""
        for pid in self._list_processes():
            try:
                status = Path(f"/proc/{pid}/status").read_text("latin-1")
                caught = int(status.partition("SigCgt:")[2].split()[0], 16)
                if caught & 1 << (signal.SIGUSR2 - 1):
                    os.kill(pid, signal.SIGUSR2)
            except OSError:
                continue

    def _prepare_child(self) -> None:
        """Put the child, which will become bubblewrap, under its limits."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.nice(NICENESS)
        # Where the machine runs out of memory all the same, the kernel takes a sandbox first.
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
        if self._group is not None:
            self._group.enter()

    def _relay_ready(self, timeout: float, *, is_running: bool = True) -> dict[int, int]:
        """Relay what can be relayed without waiting; return the ready descriptors."""
        poller = select.poll()
        if is_running:
            poller.register(self._end_fd, select.POLLIN)
            self._requests.register(poller)
        self._answers.register(poller)
        if self._is_stderr_open:
            poller.register(self._stderr_fd, select.POLLIN)
        ready = dict(poller.poll(timeout * 1000))
        request = self._requests.relay(ready)
        if request is not None:
            self._begin_question(is_last=not request)
        answer = self._answers.relay(ready)
        if answer and b"\n" in answer:
            self._is_asked = False
        if self._stderr_fd in ready:
            self._forward_stderr()
        return ready

    def _begin_question(self, *, is_last: bool) -> None:
        """Count from now on for a new question; the end of all questions only ends the waiting."""
        self._is_asked = self._is_asked or not is_last
        self._request_time = monotonic() - (MAX_IDLE_SECONDS - EXIT_GRACE_SECONDS) * is_last
        self._stderr_byte_count, self._cpu_seconds_at_request = 0, self._cpu_seconds()
        self._noted_violations.clear()

    def _forward_stderr(self) -> None:
        """Forward what the sandbox has written to stderr, up to the limit for one question."""
        heard = os.read(self._stderr_fd, 1 << 16)
        self._is_stderr_open = bool(heard)
        room = max(0, PAGE - self._stderr_byte_count)
        os.write(2, escape_control_chars(heard[:room].decode(errors="replace")).encode())
        self._stderr_byte_count += len(heard)

    def _list_processes(self) -> list[int]:
        if self._group is not None:
            return self._group.list_processes()
        return process_usage.process_tree(self.process.pid)

    def _cpu_seconds(self) -> float:
        if self._group is not None:
            return self._group.cpu_seconds()
        return process_usage.resource_usage(self._list_processes())[1]

    def _find_exceeded_limit(self) -> str:
        """Return a phrase that names the exceeded limit, or "" if there is none."""
        processes = self._list_processes()
        sandboxed = process_usage.find_sandboxed_process(processes)
        self._find_violations(sandboxed)
        reason = self._find_memory_reason(processes, sandboxed)
        if reason:
            return reason
        if self._cpu_seconds() - self._cpu_seconds_at_request > MAX_CPU_SECONDS:
            return f"it took {MAX_CPU_SECONDS:g} s of processor time for one question"
        if self._stderr_byte_count > FLOOD:
            return f"it wrote more than {FLOOD // 10**6} MB to stderr"
        if monotonic() - self._request_time > MAX_IDLE_SECONDS:
            return _IDLE_REASON
        return _ORPHAN_REASON if os.getppid() != self._parent_pid else ""

    def _find_memory_reason(self, processes: list[int], sandboxed: int | None) -> str:
        """Return a phrase that names the exceeded limit of memory, or "" if there is none."""
        for folder, size in SCRATCH_FOLDER_BYTES.items():
            files = process_usage.count_files_in_memory(sandboxed, folder, size)
            if files > MAX_SCRATCH_FILES:
                return f"it made more than {MAX_SCRATCH_FILES} files in {folder}"
        if self._group is not None:
            return _MEMORY_REASON if self._group.has_exceeded_memory() else ""
        if process_usage.resource_usage(processes)[0] > MAX_SANDBOX_BYTES:
            return _MEMORY_REASON
        if process_usage.available_memory_bytes() < MIN_AVAILABLE_BYTES:
            return f"this machine had less than {MIN_AVAILABLE_BYTES >> 20} MB of memory left"
        return ""

    def _find_end_reason(self) -> str:
        """Return why the sandbox has ended, if the kernel has ended it, and "" otherwise."""
        if self._group is not None and self._group.has_exceeded_memory():
            return _MEMORY_REASON
        if self.process.wait() == _BAD_SYSCALL_EXIT_CODE:
            return "it made a system call that the sandbox forbids"
        return ""

    def _find_violations(self, sandboxed: int | None) -> None:
        """Note what was refused since the last look, each kind at most once for each question."""
        count = process_usage.packets_sent(sandboxed)
        if count > self._sent_packet_count:
            self._sent_packet_count = count
            self._note_violation(NETWORK_VIOLATION)
        count = self._group.refused_process_count() if self._group is not None else 0
        if count > self._refused_process_count:
            self._refused_process_count = count
            self._note_violation(PROCESSES_VIOLATION)

    def _note_violation(self, text: str) -> None:
        if text not in self._noted_violations:
            self._noted_violations.add(text)
            self._unwritten_violations.append(text)

    def _write_violations(self) -> None:
        """Write the noted violations, unless somebody is just reading that file."""
        if not self._violation_log:
            self._unwritten_violations.clear()
        if not self._unwritten_violations:
            return
        with (
            suppress(BlockingIOError),
            Path(self._violation_log).open("a", encoding="utf-8") as file,
        ):
            flock(file, LOCK_EX | LOCK_NB)
            file.write("".join(f"{text}\n" for text in self._unwritten_violations))
            self._unwritten_violations.clear()


def _take_stdout() -> int:
    """Return a descriptor of stdout that can be closed; descriptor 1 leads nowhere from now on."""
    stdout, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    return stdout


@contextmanager
def _group_of_sandbox(limits: str) -> Iterator[ControlGroup | None]:
    """Make the control group of a sandbox; kill everything in it and remove it at the end."""
    if limits == NO_GROUP:
        yield None
        return
    group = make_control_group(GroupLimits(MAX_SANDBOX_BYTES, MAX_PROCESSES, CPU_SHARE))
    try:
        yield group
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        group.remove()


def _exit_at_signal(number: int, _frame: object) -> NoReturn:
    """End this process by an exception, so that the control group is removed."""
    sys.exit(128 + number)


def main() -> int:
    """Start the command, watch it, and return its exit code."""
    signal.signal(signal.SIGTERM, _exit_at_signal)
    violation_log, limits, *command = sys.argv[1:]
    try:
        with _group_of_sandbox(limits) as group:
            supervisor = SandboxSupervisor(violation_log, group, command)
            signal.signal(signal.SIGUSR2, supervisor.dump_stacks)
            reason = supervisor.wait_for_end_reason()
            exit_code = supervisor.process.wait()
            supervisor.pass_on_last_output()
            if reason:
                os.write(2, f"\n{FATAL_ERROR_PREFIX}{reason}\n".encode())
            supervisor.note_end(reason)
    except ControlGroupError as error:
        os.write(2, f"{FATAL_ERROR_PREFIX}{NO_GROUP_REASON} ({error})\n".encode())
        return 1
    return exit_code if exit_code >= 0 else 128 - exit_code
