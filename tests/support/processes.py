"""Commands as programs with all that they start, which is found by a mark in the environment."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from cardsharp_tools.cli.exit_codes import handle_signals

WATCHDOG = 280.0
"""Seconds after which a test fails that would wait for ever, whatever else the machine does."""

_MARK = "TEST_MARK"


@dataclass
class Run:
    """A command that runs; what it says comes out of `pipe`."""

    process: "subprocess.Popen[bytes]"
    mark: str
    pipe: int
    said: str = ""

    def code(self) -> int:
        """Its exit code, once it has ended."""
        return self.process.wait(WATCHDOG)

    def until(self, words: str) -> None:
        """Wait until it says these words; fails where it ends before."""
        while words not in self.said:
            assert select.select([self.pipe], [], [], WATCHDOG)[0], self.said
            heard = os.read(self.pipe, 1 << 16)
            assert heard, self.said
            self.said += heard.decode(errors="replace")

    def text(self) -> str:
        """All that it has said so far."""
        while select.select([self.pipe], [], [], 0)[0] and (heard := os.read(self.pipe, 1 << 16)):
            self.said += heard.decode(errors="replace")
        return self.said

    def as_pid_1(self) -> int:
        """The process that is number 1 of a container."""
        [found] = [one for one in self._processes() if _is_first(one)]
        return found

    def left(self) -> list[str]:
        """What of it does not end though it has, as command lines; waits for what does."""
        while found := self._processes():
            if not all(_ends(one) for one in found):
                return [_file(one, "cmdline").replace("\0", " ") for one in found]
        return []

    def kill(self) -> None:
        """Kill it and all that it has started, also what is started meanwhile."""
        while found := self._processes():
            for one in found:
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
                _ends(one)
            self.process.wait()

    def _processes(self) -> list[int]:
        numbers = (int(one.name) for one in Path("/proc").iterdir() if one.name.isdecimal())
        return [one for one in numbers if f"{_MARK}={self.mark}" in _file(one, "environ")]


def _file(process: int, name: str) -> str:
    with suppress(OSError):  # it has ended
        return Path(f"/proc/{process}/{name}").read_text(errors="replace")
    return ""


def told_once(folder: Path) -> tuple[Path, str]:
    """A pipe that ends when a strategy with that line decides for the first time, and the line."""
    pipe = folder / "plays"
    os.mkfifo(pipe)
    once = f"setattr(Mine, 'told', open({str(pipe)!r}, 'w')), Mine.told.close()"
    return pipe, f"getattr(Mine, 'told', 0) or ({once})"


def _is_first(process: int) -> bool:
    """Whether it is number 1 where it is, and another here."""
    numbers = _file(process, "status").partition("NSpid:")[2].partition("\n")[0].split()
    return len(numbers) > 1 and numbers[-1] == "1"


def _ends(process: int) -> bool:
    """Wait for the end of a process; False where it lives on."""
    try:
        opened = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([opened], [], [], WATCHDOG / 8)[0])
    finally:
        os.close(opened)


@contextmanager
def running(folder: Path, *arguments: str, before: Sequence[str] = ()) -> Iterator[Run]:
    """Our command with its data in the folder; at the end all that it has started is killed."""
    mark, (pipe, output) = uuid4().hex, os.pipe()
    # Else a command would ignore what whoever started the tests has them ignore, as nohup does.
    with handle_signals(lambda *_: None, signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*before, sys.executable, "-m", "cardsharp_tools.cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "XDG_DATA_HOME": str(folder / "home"), _MARK: mark},
            start_new_session=True,
        )
    os.close(output)
    run = Run(process, mark, pipe)
    try:
        yield run
    finally:
        run.kill()
        os.close(pipe)
