"""Program that answers questions, one line each way, and is killed if it is late.

When the program or this process ends, its guard or sandbox ends everything that it has started.
"""

import fcntl
import os
import select
import signal
import subprocess
import sys
import tempfile
import weakref
from contextlib import suppress
from datetime import timedelta
from time import monotonic
from typing import IO, AnyStr

from cardsharp.core.limits import DECISION_TIMEOUT
from cardsharp.errors import ConfigError
from cardsharp.play.guarded_call import (
    MAX_STDOUT_CHARS,
    InvalidDecision,
    describe_late_decision,
    first_and_last_lines,
)
from cardsharp_tools.executors import hang_monitor, process_guard, sandbox_supervisor
from cardsharp_tools.executors.clean_environment import clean_environment
from cardsharp_tools.executors.command_text import split_command
from cardsharp_tools.executors.process_usage import process_tree

# Both limits count processor time, or time in which the program sleeps or waits
# (`hang_monitor.Usage`), so a busy machine makes no program late. A late program is killed and
# started again.
ANSWER_TIMEOUT = DECISION_TIMEOUT  # for an answer
MAX_ANSWER_CLOCK_TIME = hang_monitor.WALL_TIME_FACTOR * ANSWER_TIMEOUT  # however busy the machine
PROGRAM_START_TIMEOUT = timedelta(
    seconds=20
)  # for the first answer; a match does not wait for so long
MAX_LINE_BYTES = 1_000_000  # bytes of an answer
PAUSE = 0.1  # seconds from one check of a program's usage to the next
_MAX_STDERR_BYTES = (
    8 * MAX_STDOUT_CHARS
)  # bytes of stderr that are read: the stored part and a last stack
_EXIT_GRACE_SECONDS = (
    0.5  # seconds in which a program that has closed its output is expected to end
)


class LineProcess:
    """Running program that answers each request with one line.

    It is in a session of its own: Ctrl-C reaches only us, and we end the program.
    """

    def __init__(self, command: str) -> None:
        self.command = split_command(command)
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as the process
        fcntl.fcntl(errors, fcntl.F_SETFL, os.O_APPEND)  # so that it can be emptied
        try:
            popen = _start_program(self.command, errors)
        except OSError as error:
            errors.close()
            reason = error.strerror
            if isinstance(error, FileNotFoundError):
                reason = f"there is no program {error.filename} on this machine"
            raise ConfigError(f"'{command}' cannot be started: {reason}.") from None
        self.process, self._stderr_file = popen, errors
        self._stdin, self._stdout = (
            require_pipe(popen.stdin).fileno(),
            require_pipe(popen.stdout).fileno(),
        )
        os.set_blocking(self._stdin, False)
        self._unread_output, self._has_exited = b"", False
        self.exceeded_timeout: timedelta | None = None
        self._is_busy = False
        self._timeout = PROGRAM_START_TIMEOUT
        weakref.finalize(self, _close_program, popen, errors)

    @property
    def is_alive(self) -> bool:
        """True while the process runs and can answer."""
        return self.process.poll() is None

    def request(self, request: bytes) -> bytes:
        """Send a question and return the answer.

        Raises `InvalidDecision` if the process ends, or if it is late; it is then killed.
        """
        self._is_busy = True
        try:
            line = self._exchange_line(request)
        finally:  # also where this thread is told to end
            self._is_busy = False
        if not line.endswith(b"\n") or self.exceeded_timeout is not None:
            raise InvalidDecision(*self.describe_failure(line))
        self._timeout = ANSWER_TIMEOUT
        return line

    def _exchange_line(self, request: bytes) -> bytes:
        """Send the request; return the answer up to the end of its line, or of the process.

        A process that is late is killed. It may read the request late or never, so both pipes
        are watched at the same time.
        """
        pipes, usage = select.poll(), self._start_usage_meter()
        pipes.register(self._stdout, select.POLLIN)
        if request:
            pipes.register(self._stdin, select.POLLOUT)
        while len(self._unread_output) < MAX_LINE_BYTES and (
            request or b"\n" not in self._unread_output
        ):
            ready = dict(pipes.poll(PAUSE * 1000))
            if self._stdin in ready:
                request = self._write_request(request)
                if not request:
                    pipes.unregister(self._stdin)
            if not self._read_output(is_ready=self._stdout in ready):
                break
            self._enforce_timeout(usage, is_waiting_for_caller=bool(ready))
        line, end, self._unread_output = self._unread_output.partition(b"\n")
        return line + end if len(line) < MAX_LINE_BYTES else line

    def _read_output(self, *, is_ready: bool) -> bool:
        """Read the available output; return False if no more can come.

        The end of the program counts, not only the end of its output: a process that it has
        started and left behind may hold the output open for ever.
        """
        if is_ready:
            chunk = os.read(self._stdout, 1 << 16)
            self._unread_output += chunk
            return bool(chunk)
        had_exited, self._has_exited = self._has_exited, not self.is_alive
        return not had_exited

    def _enforce_timeout(
        self, usage: hang_monitor.BusyIdleTimeMeter, *, is_waiting_for_caller: bool
    ) -> None:
        """Kill the program if it has exceeded its time limit."""
        if self.exceeded_timeout is not None or monotonic() - usage.looked < PAUSE:
            return
        usage.take_sample(2 * PAUSE, is_waiting_for_caller=is_waiting_for_caller)
        if usage.exceeds(self._timeout.total_seconds()):
            self._kill_for_timeout(self._timeout)

    def _write_request(self, request: bytes) -> bytes:
        """Write as much of the request as the process accepts, and return the rest.

        The rest is empty if the process reads no more.
        """
        try:
            return request[os.write(self._stdin, request) :]
        except BrokenPipeError:
            return b""

    def _start_usage_meter(self) -> hang_monitor.BusyIdleTimeMeter:
        """Return a new meter of the time that the process and its descendants use."""
        return hang_monitor.BusyIdleTimeMeter(lambda: process_tree(self.process.pid))

    def read_stderr(self) -> str:
        """Return what the process has written to stderr since the last call."""
        text = os.pread(self._stderr_file.fileno(), _MAX_STDERR_BYTES, 0).decode(errors="replace")
        os.ftruncate(self._stderr_file.fileno(), 0)
        return text

    def wait_for_exit(self, limit: float) -> int | None:
        """Return the exit code; None if the process has used up `limit` seconds and still runs."""
        usage = self._start_usage_meter()
        while not usage.exceeds(limit):
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(PAUSE)
            usage.take_sample(2 * PAUSE)
        return None

    def kill(self) -> None:
        """End the program and everything that it has started."""
        _kill_program(self.process)

    def kill_if_answer_due(self, exceeded_timeout: timedelta) -> bool:
        """Kill a process that owes an answer; return True unless it is only starting.

        A process that is only starting is not killed. If no question is open, the process that
        had it was killed for the same reason, and its caller is just being informed.
        """
        if self._is_busy:
            if self._timeout == PROGRAM_START_TIMEOUT:
                return False
            self._kill_for_timeout(exceeded_timeout)
        return True

    def _kill_for_timeout(self, timeout: timedelta) -> None:
        self.exceeded_timeout = timeout
        self.kill()

    def describe_failure(self, partial_answer: bytes) -> tuple[str, str]:
        """Return a phrase that says why there is no answer, and the last output on stderr."""
        if self.exceeded_timeout is not None:
            reason = describe_late_decision(self.exceeded_timeout)
        elif partial_answer:
            reason = "the program wrote a line without a line break"
        else:
            exit_code = self.wait_for_exit(_EXIT_GRACE_SECONDS)
            exit_text = f"the program ended with exit code {exit_code}"
            reason = "the program closed its output" if exit_code is None else exit_text
        stderr = self.read_stderr()
        crash = hang_monitor.CRASH_PATTERN.search(stderr)
        lines = first_and_last_lines(stderr.strip().splitlines())
        text = "\n".join(line.replace("\t", "    ") for line in lines)
        return f"the program ended ({crash[1]})" if crash else reason, text


def _start_program(command: list[str], stderr_file: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a program under a guard; raise `OSError` if it cannot start.

    A sandbox gets no guard, because its supervisor does the same.
    """
    read_fd, write_fd = os.pipe()
    guard_command: list[str] = []
    if sys.platform == "linux" and sandbox_supervisor.ENTRY_CODE not in command:
        guard_command = [
            sys.executable,
            "-IS",
            process_guard.__file__,
            str(os.getpid()),
            str(write_fd),
        ]
    try:
        popen = subprocess.Popen(  # noqa: S603 - the user's own command
            [*guard_command, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr_file,
            start_new_session=True,
            pass_fds=[write_fd] if guard_command else [],
            env=clean_environment(),
        )
    except OSError:
        os.close(read_fd)
        raise
    finally:
        os.close(write_fd)
    with os.fdopen(read_fd, "rb") as pipe:
        failed = pipe.read() if guard_command else b""
    if failed:
        popen.communicate()
        raise OSError(int(failed), os.strerror(int(failed)), command[0])
    return popen


def _kill_program(popen: subprocess.Popen[bytes]) -> None:
    """Kill a program and everything that it has started."""
    if {process_guard.__file__, sandbox_supervisor.ENTRY_CODE}.intersection(popen.args):  # type: ignore[arg-type]  # they are words
        popen.terminate()
        return
    with suppress(ProcessLookupError):
        os.killpg(popen.pid, signal.SIGKILL)


def _close_program(popen: subprocess.Popen[bytes], stderr_file: IO[bytes]) -> None:
    _kill_program(popen)
    with suppress(BrokenPipeError):
        popen.communicate()
    stderr_file.close()


def require_pipe(pipe: IO[AnyStr] | None) -> IO[AnyStr]:
    """Return the pipe; raise `TypeError` if the process was started without it."""
    if pipe is None:
        raise TypeError("The process was started without this pipe.")
    return pipe
