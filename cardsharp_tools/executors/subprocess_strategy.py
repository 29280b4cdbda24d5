"""Strategy that a process decides: a user's program, or the worker of a strategy file."""

import os
import weakref
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Lock, Timer
from typing import Annotated, Any

from pydantic import AfterValidator

from cardsharp.play.guarded_call import InvalidDecision
from cardsharp_tools.executors import hang_monitor
from cardsharp_tools.executors.line_process import LineProcess
from cardsharp_tools.executors.sandbox_supervisor import escape_control_chars

SLOW_START_SECONDS = 2.0  # seconds in which a process starts without a word


PrintableText = Annotated[str, AfterValidator(escape_control_chars)]  # may be shown on a terminal


@contextmanager
def message_if_slow(message: str, delay_seconds: float = SLOW_START_SECONDS) -> Iterator[None]:
    """Print the message if the block takes longer than `delay_seconds`."""
    alarm = Timer(delay_seconds, hang_monitor.write_unbuffered, (message,))
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


class SubprocessStrategy:
    """Strategy in a process of its own; its stderr is printed.

    When the strategy is no longer used, its process is kept for the next strategy of the same
    command, because a start can take seconds.
    """

    process_class = LineProcess

    def __init__(self, command: str) -> None:
        self._command, self._lock = command, Lock()
        self.process = self._acquire_process()

    def request(self, message: bytes) -> bytes:
        """Send a message to the program and return the line that it answers.

        Call it in a block of `lock_and_restart_on_failure`, in which the answer is read too.
        Raises `InvalidDecision` if there is no answer in time.
        """
        response_line: bytes = self.process.request(message)
        print(self.process.read_stderr(), end="")  # noqa: T201 - kept, as from a strategy in Python
        return response_line

    @contextmanager
    def lock_and_restart_on_failure(self) -> Iterator[None]:
        """Hold the process for this block alone; restart it after an `InvalidDecision`."""
        with self._lock:  # one that is late is still asked when the next decision is due
            try:
                yield
            except InvalidDecision:
                self.restart()
                raise

    def restart(self) -> None:
        """Replace the process: late output of the old one would be taken for the next answer."""
        self.process.kill()
        self.process = self._acquire_process()

    def interrupt(self, exceeded_timeout: timedelta) -> bool:
        """Kill the process because a decision has exceeded its time limit, and return True.

        Return False for a process that is only starting, which may go on.
        """
        was_interrupted: bool = self.process.kill_if_answer_due(exceeded_timeout)
        return was_interrupted

    @staticmethod
    def release_process(command: str, process: Any) -> None:  # noqa: ANN401 - of the `kind`
        """Keep an idle process for the next strategy with the same command."""
        _idle_processes[os.getpid(), command].append(process)

    def _acquire_process(self) -> Any:  # noqa: ANN401
        """Return an idle process of this command, or a new one."""
        idle = _idle_processes[os.getpid(), self._command]
        process = idle.pop() if idle else self.process_class(self._command)
        if not process.is_alive:
            process = self.process_class(self._command)
        weakref.finalize(self, idle.append, process).atexit = False
        return process


_idle_processes: defaultdict[tuple[int, str], list[LineProcess]] = defaultdict(list)
"""Idle processes, by the process that started them and by command.

A fork must not use the processes of its parent, because both would read the same pipe.
"""


def stop_idle_processes(command: str) -> None:
    """End the idle processes of a command."""
    for process in _idle_processes.pop((os.getpid(), command), []):
        process.kill()
