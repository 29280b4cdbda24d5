"""A strategy file as its parent sees it: in a process of its own, which may die for it alone.

A crash, an end, a hang or a full memory there is a fault of one decision, told with the line it
came in; the next decision is made by a new process. `workbench.file_process` is the other end.
"""

import pickle
import re
import shlex
import signal
import sys
import threading
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from pydantic import BaseModel, ValidationError

from cardsharp.errors import ConfigError, StrategyFault
from cardsharp.game import Game
from cardsharp.registry import strategies_of
from cardsharp.strategy import Decision
from cardsharp.trying import LATE, Unfit
from workbench import companion
from workbench.habits import note_decision
from workbench.process import Process
from workbench.program import Outside, Plain, told_where_slow

_STACK = re.compile(
    r"Fatal (?:Python|sandbox) error|Current thread 0x|Thread 0x|Stack \(most recent"
)
"""Begins what the process says of its end."""


class HousedFile(BaseModel):
    """What the process of a file says of it: the name it registers, or why it cannot be used."""

    name: str = ""
    files: tuple[Path, ...] = ()
    refused: Plain = ""


class _HousedAnswer(BaseModel, hide_input_in_errors=True):
    """A decision, or its fault; actions are places among those that the game offers."""

    action: int = 0
    reason: Plain = ""
    options: tuple[tuple[int, float | None, Plain], ...] = ()
    unit: str = ""
    fault: Plain | None = None
    trace: Plain = ""
    hints: tuple[Plain, ...] = ()
    seconds: float = 0.0


class _HouseProcess(Process):
    """The process of a file: before it is ended, it tells where it is."""

    def __init__(self, command: str) -> None:
        super().__init__(command)
        self._folder, self.place = str(Path(self.words[-1]).parent), ""
        self._telling = threading.Lock()
        self.hello: HousedFile | None = None

    def greet(self) -> HousedFile:
        """What the file is, once it is imported; raises `Unfit`."""
        if self.hello is None:
            self.hello = HousedFile.model_validate_json(self.ask(b""))
        return self.hello

    def end(self) -> None:
        """End it, after it has told its stack once; a second signal would end it before."""
        with self._telling, suppress(ProcessLookupError):
            if self.lives:
                self.popen.send_signal(companion.ASK)
                self.await_end(1)
        super().end()

    def fault(self, line: bytes) -> tuple[str, str]:
        """Why there is no answer and in which line; and what was printed before."""
        self.await_end(1)
        told = self.heard()
        if self.late is not None:
            why = f"{LATE} {self.late.total_seconds():g} s"
        elif line:
            why = "its answer has no end"
        else:
            why = f"the strategy ended the process ({self._how(told)})"
        self.place, text = companion.place_in(told, {self._folder})
        where = f" ({self.place}: {text})" if self.place else ""
        return f"{why}{where}", _STACK.split(told)[0]

    def _how(self, told: str) -> str:
        """What ended it, in a phrase."""
        crash, code = companion.CRASH.search(told), self.popen.returncode
        if crash:
            return crash[1]
        if code is not None and code < 0:
            return signal.strsignal(-code) or f"signal {-code}"
        return f"exit code {code}"


_numbers = count(1)


class Housed(Outside):
    """A strategy file as a strategy, decided by a process of its own."""

    kind = _HouseProcess
    process: _HouseProcess

    def __init__(self, command: str, of: Game, given: object, file: str = "") -> None:
        super().__init__(command)
        self._file = file  # whose habits are told to whoever started us, "" for nobody's
        self._translation, self._number = of.program.load(), next(_numbers)  # type: ignore[union-attr]
        self._given = None if isinstance(given, SystemRandom) else given  # which cannot be sent

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        """What the file's strategy decides; raises `Unfit`, with where, if it fails or is late."""
        self.ready()
        try:
            answer = self.asked(pickle.dumps((self._number, self._given, position)), self._read)
        except Unfit as unfit:
            print(unfit.trace, end="")  # noqa: T201 - kept, as from any strategy
            raise Unfit(str(unfit)) from None
        if self._file:
            note_decision(self._file, answer.seconds, answer.hints)
        if answer.fault is not None:
            raise Unfit(answer.fault, answer.trace)
        known, allowed = self._translation, self._translation.actions(position)
        kinds = (known.option, *known.option.__subclasses__())
        option = next((one for one in kinds if one.unit == answer.unit), known.option)
        options = tuple(option(allowed[at], value, note) for at, value, note in answer.options)
        decision: Decision[Any] = known.decision(allowed[answer.action], answer.reason, options)
        return decision

    def _read(self, line: bytes) -> _HousedAnswer:
        try:
            return _HousedAnswer.model_validate_json(line)
        except ValidationError as error:
            raise Unfit(f"its process answered what is no decision: {error}") from None

    def ready(self) -> None:
        """Wait until the file is imported, which has a limit of its own; raises `Unfit`."""
        with self.renewed():
            hello = self.process.greet()
            if hello.refused:
                raise Unfit(hello.refused)

    def renew(self) -> None:
        """Go on with a new process, and other dice: those of the last one are thrown."""
        super().renew()
        if isinstance(self._given, Random):
            self._given = Random(self._given.getrandbits(64))


def house_of(path: Path, of: Game) -> list[str]:
    """The words of the command that is a file's process."""
    return [sys.executable, "-P", "-m", "workbench.file_process", of.name, str(path)]


@cache
def housed(path: Path, of: Game, boxed: str = "") -> HousedFile:
    """The file, imported in a process of its own, as a strategy that can be built now.

    A command that is `boxed` is that process in a sandbox; its strategy has the file's whole path.
    Raises `ConfigError` if it cannot be used, or is not imported in time; says why; `StrategyFault`
    if it ends its process.
    """
    if of.program is None:
        raise ConfigError(f"No file can play {of.title} yet: the game names no `program`.")
    command = boxed or shlex.join(house_of(path, of))
    process = _HouseProcess(command)
    try:
        with told_where_slow(f"{path.name}: still being imported ..."):
            hello = process.greet()
    except Unfit as unfit:
        place, why = process.place or path.name, str(unfit).partition(f" ({process.place}:")[0]
        if process.late is None:
            raise StrategyFault(f"{place}: {why}.") from None
        seconds = f"{process.late.total_seconds():g}"
        raise ConfigError(
            f"{place}: not imported within {seconds} s; let the file define, and decide do."
        ) from None
    if hello.refused:
        raise ConfigError(hello.refused)
    name = str(path) if boxed else free_name(hello.name, path, of.strategies)
    file = "" if boxed else path.name
    strategies_of(of.strategies).admit(name, lambda given: Housed(command, of, given, file))
    Outside.leave(command, process)
    return HousedFile(name=name, files=hello.files)


_paths: dict[tuple[str, str], Path] = {}  # which file has a name, by package of strategies


def is_of_file(name: str, package: str) -> bool:
    """Whether a file has that name, and no strategy of ours."""
    return (package, name) in _paths


def free_name(name: str, path: Path, package: str) -> str:
    """What the file's strategy is called: a copy meets its original."""
    if _paths.setdefault((package, name), path) == path:
        return name
    return f"{name} ({path.parent.name}/{path.name})"
