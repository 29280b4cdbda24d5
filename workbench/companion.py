"""A small process beside one that runs a user's code: it tells where that one stands still or dies.

Native code that never returns stops every thread of a process, and nobody in it can speak any
more. So the process writes a byte a second to this one's stdin. Where the bytes stay away it is
asked for its stack, the line is told, and it is ended. Of a crash the stack comes by itself.
"""

import linecache
import os
import re
import select
import signal
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from threading import get_native_id
from time import monotonic
from typing import NamedTuple

BEAT = b"\0"  # what is written once a second; no stack has it
FOLDER = "Folder "  # begins a line that names a folder with a user's code
ASK = signal.SIGUSR2  # at this signal a process writes its stacks to its companion
SILENCE = 10  # seconds without a byte after which a process stands still, as `Usage` counts them
BACKSTOP = 30  # times a limit on the clock: so late is late, whatever else the machine does
FRAME = re.compile(r'File "(.*)", line (\d+) in (.*)')  # a line of a stack: file, line and function
FATAL = "Fatal Python error: "  # begins the line that says what ended a process

CRASH = re.compile(f"(?:{FATAL}|Fatal sandbox error: )(.*)")

_TICKS = os.sysconf("SC_CLK_TCK")
_STOPPED = "tT"  # states of threads that were stopped
_RESTING = f"SIZX{_STOPPED}"  # of those that wait or have ended, too

# --- what processes have taken --------------------------------------------------------------------


class UsageSample(NamedTuple):
    """What processes have taken so far, as the kernel counts it, and what they do now.

    `used` are seconds of the processors, `queued` those in which a thread was ready for one and had
    none. They are `resting` where every thread sleeps or waits for something else than a processor
    or a disk, and `stopped` where one was stopped, as by Ctrl-Z, a debugger, or itself.
    """

    used: float
    queued: float
    resting: bool
    stopped: bool


def sample(processes: Collection[int]) -> UsageSample | None:
    """What those processes have taken; None where the system does not tell it.

    The thread that asks is left out of the states: of itself it would always see that it runs.
    """
    ticks = nanoseconds = 0
    states, own = set[str](), str(get_native_id())
    for process in processes:
        try:
            ticks += sum(map(int, _stat(f"/proc/{process}/stat")[11:15]))
            for task in Path(f"/proc/{process}/task").iterdir():
                nanoseconds += int((task / "schedstat").read_text().split()[1])
                states.update(_stat(f"{task}/stat")[0] if task.name != own else "S")
        except OSError:  # it has ended
            continue
    if not states:
        return None
    stopped = not states.isdisjoint(_STOPPED)
    return UsageSample(ticks / _TICKS, nanoseconds / 1e9, states.issubset(_RESTING), stopped)


def _stat(path: str) -> list[str]:
    """The fields of a `stat` that follow the name, which may have any characters."""
    return Path(path).read_text("latin-1").rpartition(")")[2].split()


class Usage:
    """The seconds that processes take from now on: of the processors, and those in which they rest.

    Neither grows while a busy machine lets them wait for a processor. `elapsed` are the seconds on
    the clock, but for those in which we were stopped; they alone count where the system tells
    nothing else. That the processes are stopped is a rest, unless it is for `spares_stopped`.
    """

    def __init__(
        self, processes: Callable[[], Collection[int]], *, spares_stopped: bool = False
    ) -> None:
        self._processes, self._spares_stopped = processes, spares_stopped
        self.looked = monotonic()
        self._first: UsageSample | None = None
        self._last: UsageSample | None = None
        self.used = self.rested = self.elapsed = 0.0

    def look(self, longest: float, *, is_ours: bool = False) -> None:
        """Count on; where the last look is `longest` seconds ago or more, we were held up.

        A rest does not count that `is_ours`: they waited for what we have only just done.
        """
        now, there, last = monotonic(), sample(self._processes()), self._last
        passed, self.looked = min(now - self.looked, longest), now
        self._first, self._last = self._first or there, there
        if there is not None and there.stopped and self._spares_stopped:
            return
        self.elapsed += passed
        if there is None or self._first is None or last is None:
            return
        self.used = max(self.used, there.used - self._first.used)
        active = there.used - last.used + there.queued - last.queued
        if there.resting and active < passed / 2 and not is_ours:
            self.rested += passed

    def is_over(self, limit: float) -> bool:
        """Whether they have used or rested so many seconds, or many times as many have passed."""
        return max(self.used, self.rested) >= limit or self.elapsed >= BACKSTOP * limit


# --- the process ----------------------------------------------------------------------------------


def main(process: int, silence: int) -> None:
    """Listen until the process has ended, or end it."""
    told, silent = "", Usage(lambda: [process], spares_stopped=True)
    while not silent.is_over(silence):
        # A second at a time: who is stopped with us, as by Ctrl-Z, has missed one at most.
        if not select.select([0], [], [], 1)[0]:
            silent.look(1)
            continue
        heard, silent = os.read(0, 1 << 16), Usage(lambda: [process], spares_stopped=True)
        if not heard:
            crash = CRASH.search(told)
            if crash:
                say(f"{_place(told)}: the strategy ended the process ({crash[1]}).")
            return
        told += heard.replace(BEAT, b"").decode(errors="replace")
    os.kill(process, ASK)
    while select.select([0], [], [], 1)[0] and (heard := os.read(0, 1 << 16)):
        told += heard.decode(errors="replace")
    say(f"{_place(told)}: nothing moved for {silence} s, so the process was ended.")
    os.kill(process, signal.SIGKILL)


def _place(told: str) -> str:
    """Where those stacks are in the folders that were told of with them."""
    folders = [line.removeprefix(FOLDER) for line in told.splitlines() if line.startswith(FOLDER)]
    return place_in(told, folders)[0] or f"A strategy of {' or '.join(folders)}"


def place_in(told: str, folders: Collection[str]) -> tuple[str, str]:
    """The innermost line of a stack that lies in one of the folders, and its text."""
    for file, line, function in FRAME.findall(told):
        if str(Path(file).parent) in folders:
            text = linecache.getline(file, int(line)).strip()
            return f"{Path(file).name}, line {line}, in {function}", text
    return "", ""


def say(sentence: str) -> None:
    """Tell it past all buffers, which nobody may empty any more."""
    bar = "\r\x1b[K" if os.isatty(2) else ""  # written over, where one is just drawn
    os.write(2, f"{bar}cardsharp: {sentence}\n".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
