"""Process that watches a process with a user's code, and reports the line where it hangs or dies.

Native code that never returns can stop every thread of a process, so a hanging process cannot
report itself. It writes a heartbeat, one byte a second, to the monitor's stdin. If the bytes stop,
the monitor asks the process for its stacks by a signal, reports the line, and kills it. After a
crash the stacks arrive without being asked for.
"""

import linecache
import os
import re
import resource
import select
import signal
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from threading import get_native_id
from time import monotonic
from typing import NamedTuple

HEARTBEAT = b"\0"  # what is written once a second; no stack has it
FOLDER_PREFIX = "Folder "  # begins a line that names a folder with a user's code
STACK_DUMP_SIGNAL = signal.SIGUSR2  # at this signal a process writes its stacks to its monitor
HANG_TIMEOUT_SECONDS = 10  # seconds without a heartbeat, as `Usage` counts them, that mean a hang
# A process is also late after this many times its limit on the clock, however busy the machine is.
WALL_TIME_FACTOR = 30
TRACEBACK_FRAME_PATTERN = re.compile(
    r'File "(.*)", line (\d+) in (.*)'
)  # a line of a stack: file, line and function
FATAL_ERROR_PREFIX = "Fatal Python error: "  # begins the line that says why a process ended

CRASH_PATTERN = re.compile(f"(?:{FATAL_ERROR_PREFIX}|Fatal sandbox error: )(.*)")

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_STOPPED_STATES = "tT"  # states of threads that were stopped
_IDLE_STATES = f"SIZX{_STOPPED_STATES}"  # states of threads that wait, have ended or were stopped

# --- the resource usage of processes --------------------------------------------------------------


class UsageSample(NamedTuple):
    """Resource usage of processes so far, as the kernel counts it, and their present state.

    `used` is processor time in seconds. `queued` is the time in seconds in which a thread was
    ready to run but had no processor. `resting` is True if every thread sleeps or waits for
    something other than a processor or a disk. `stopped` is True if a thread was stopped, as by
    Ctrl-Z, a debugger, or itself. `own_waits` is how often the calling thread has waited, None if
    it is not among the processes.
    """

    used: float
    queued: float
    resting: bool
    stopped: bool
    own_waits: int | None = None


def sample_usage(processes: Collection[int]) -> UsageSample | None:
    """Return the resource usage of processes, or None if the system does not report it.

    The state of the calling thread is not counted, because it would always be running.
    """
    ticks = nanoseconds = 0
    states, thread_id = set[str](), str(get_native_id())
    for process in processes:
        try:
            ticks += sum(map(int, _read_stat_fields(f"/proc/{process}/stat")[11:15]))
            for task in Path(f"/proc/{process}/task").iterdir():
                nanoseconds += int((task / "schedstat").read_text().split()[1])
                states.update(
                    _read_stat_fields(f"{task}/stat")[0] if task.name != thread_id else "S"
                )
        except OSError:  # it has ended
            continue
    if not states:
        return None
    stopped = not states.isdisjoint(_STOPPED_STATES)
    return UsageSample(
        ticks / _TICKS_PER_SECOND,
        nanoseconds / 1e9,
        states.issubset(_IDLE_STATES),
        stopped,
        resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw if os.getpid() in processes else None,
    )


def _read_stat_fields(path: str) -> list[str]:
    """Return the fields of a `stat` file that follow the process name.

    The name may contain any characters.
    """
    return Path(path).read_text("latin-1").rpartition(")")[2].split()


class BusyIdleTimeMeter:
    """Measurement of the seconds for which processes compute (`used`) or wait (`rested`).

    Neither grows while the processes are ready to run but a busy machine gives them no processor.
    A limit on the clock alone would call a good bot late only because others play beside it.
    `elapsed` counts the seconds on the clock, without those in which this process was stopped. It
    is all that counts on a system that reports no usage. Time in which the processes are stopped
    counts as waiting, unless `spares_stopped` is set.
    """

    def __init__(
        self, processes: Callable[[], Collection[int]], *, spares_stopped: bool = False
    ) -> None:
        self._processes, self._spares_stopped = processes, spares_stopped
        self.looked = monotonic()
        self._first_sample: UsageSample | None = None
        self._last_sample: UsageSample | None = None
        self.used = self.rested = self.elapsed = 0.0

    def take_sample(self, max_seconds: float, *, is_waiting_for_caller: bool = False) -> None:
        """Take a sample and add the time since the last one, at most `max_seconds` seconds.

        A longer gap means that this process itself was held up, so the rest of it is not counted.
        With `is_waiting_for_caller`, waiting does not count, because the processes waited for the
        caller.
        """
        current_time, current, last_sample = (
            monotonic(),
            sample_usage(self._processes()),
            self._last_sample,
        )
        passed, self.looked = min(current_time - self.looked, max_seconds), current_time
        self._first_sample, self._last_sample = self._first_sample or current, current
        if current is not None and current.stopped and self._spares_stopped:
            return
        self.elapsed += passed
        if current is None or self._first_sample is None or last_sample is None:
            return
        self.used = max(self.used, current.used - self._first_sample.used)
        active = current.used - last_sample.used + current.queued - last_sample.queued
        # The calling thread runs when it looks, so its state does not tell whether it slept before.
        # A thread that sleeps has begun to wait. One that a host or a disk held up has not.
        has_waited = current.own_waits is None or current.own_waits != last_sample.own_waits
        is_idle = current.resting and has_waited and active < passed / 2
        if is_idle and not is_waiting_for_caller:
            self.rested += passed

    def exceeds(self, limit: float) -> bool:
        """Return True once the processes have used or rested `limit` seconds.

        Also return True once `WALL_TIME_FACTOR` times as many seconds have passed.
        """
        return max(self.used, self.rested) >= limit or self.elapsed >= WALL_TIME_FACTOR * limit


# --- the process ----------------------------------------------------------------------------------


def main(process: int, hang_timeout_seconds: int) -> None:
    """Read the heartbeats until the process ends; kill it if they stop."""
    output, silent = "", BusyIdleTimeMeter(lambda: [process], spares_stopped=True)
    while not silent.exceeds(hang_timeout_seconds):
        # The wait is one second at a time. If Ctrl-Z stops the monitor and the process together,
        # at most one heartbeat is missing when both go on, so nothing looks like a hang.
        if not select.select([0], [], [], 1)[0]:
            silent.take_sample(1)
            continue
        heard, silent = (
            os.read(0, 1 << 16),
            BusyIdleTimeMeter(lambda: [process], spares_stopped=True),
        )
        if not heard:
            crash = CRASH_PATTERN.search(output)
            if crash:
                write_unbuffered(
                    f"{_find_strategy_location(output)}: the strategy ended the process "
                    f"({crash[1]})."
                )
            return
        output += heard.replace(HEARTBEAT, b"").decode(errors="replace")
    # Ask for the stacks before the kill, because a killed process can report nothing.
    os.kill(process, STACK_DUMP_SIGNAL)
    while select.select([0], [], [], 1)[0] and (heard := os.read(0, 1 << 16)):
        output += heard.decode(errors="replace")
    write_unbuffered(
        f"{_find_strategy_location(output)}: the process hung for {hang_timeout_seconds} "
        "s, so it was ended."
    )
    os.kill(process, signal.SIGKILL)


def _find_strategy_location(output: str) -> str:
    """Return the innermost stack line within the strategy folders that `output` lists.

    Without such a line, return a phrase that names the folders.
    """
    folders = [
        line.removeprefix(FOLDER_PREFIX)
        for line in output.splitlines()
        if line.startswith(FOLDER_PREFIX)
    ]
    return find_user_frame(output, folders)[0] or f"A strategy of {' or '.join(folders)}"


def find_user_frame(stderr_text: str, folders: Collection[str]) -> tuple[str, str]:
    """Return the innermost line of a stack that lies in one of the folders, and its source text."""
    for file, line, function in TRACEBACK_FRAME_PATTERN.findall(stderr_text):
        if str(Path(file).parent) in folders:
            text = linecache.getline(file, int(line)).strip()
            return f"{Path(file).name}, line {line}, in {function}", text
    return "", ""


def write_unbuffered(sentence: str) -> None:
    """Write a message to stderr without a buffer, because the process may end before a flush."""
    bar = "\r\x1b[K" if os.isatty(2) else ""  # erases a progress bar on the same line
    os.write(2, f"{bar}cardsharp: {sentence}\n".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
