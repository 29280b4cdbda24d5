"""A strategy in any language: a program that reads positions and answers on stdout, a line each.

Each line of JSON holds a position and the actions that the rules allow in it; the answer is a line
that sends one of these back. docs/programs.md is the page for whoever writes such a program. It
plays on this machine only: what is deployed starts no programs.
"""

import json
import os
import shlex
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random
from threading import Lock, Timer
from typing import Annotated, Any, NamedTuple, TypeVar
from zlib import crc32

from pydantic import AfterValidator, BaseModel, JsonValue, ValidationError

from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.registry import strategies_of
from cardsharp.strategy import Decision, Option
from cardsharp.trying import Unfit, tried
from workbench import companion
from workbench.process import Process, words_of
from workbench.warden import plain

T = TypeVar("T")

PATIENCE = 2.0  # seconds in which a process starts without a word


class Translation(NamedTuple):
    """How a program is told a game; `Game.program` names it.

    `position` is what it is shown, as JSON, `actions` what is allowed there, and `action` one of
    these as JSON. `decision` and `option` are the game's own classes.
    """

    position: Callable[[Any], object]
    actions: Callable[[Any], Sequence[Any]]
    action: Callable[[Any], object]
    decision: type[Decision[Any]]
    option: type[Option[Any]]


def told_by(model: type[BaseModel]) -> Callable[[object], object]:
    """What tells a position as JSON: by the fields of the model, each an attribute of it."""

    def told(position: object) -> object:
        read = model.model_validate(position, from_attributes=True)
        return read.model_dump(mode="json", by_alias=True)

    return told


def is_program(name: str) -> bool:
    """Whether a player is named by a command: `node bot.js`, or `./bot` where that can be run."""
    words = words_of(name)
    if Path(name).is_file():
        return len(words) == 1 and "/" in name and os.access(name, os.X_OK)
    return len(words) > 1 and "(" not in words[0]  # as in threshold(0.2, 0.5), a strategy


def files_of(command: str) -> tuple[Path, ...]:
    """The files that a command names, such as `bot.js`."""
    return tuple(Path(word) for word in words_of(command) if Path(word).is_file())


def lasting(command: str) -> str:
    """The same command wherever it is run: the files that it names have their whole paths."""
    words = words_of(command)
    return shlex.join(str(Path(one).absolute()) if Path(one).is_file() else one for one in words)


@cache
def program_named(command: str, of: Game, name: str = "") -> str:
    """The name or command of a strategy that has answered once; raises `ConfigError` if not."""
    if of.program is None:
        raise ConfigError(f"No program can play {of.title} yet: the game names no `program`.")
    translation: Translation = of.program.load()

    def made(given: object) -> Program:
        return Program(command, of.name, translation, given)

    strategies_of(of.strategies).admit(name or command, made)
    player, opening = made(Random(0)), _opening(of)
    with told_where_slow(f"'{command}' has not answered yet ..."):
        found = tried(lambda: player.decide(opening), player)
    if found.fault is not None:
        who = "It" if name else f"'{command}'"
        raise ConfigError(f"{who} cannot play: {found.fault}.\n{found.trace}".rstrip())
    return name or command


@contextmanager
def told_where_slow(words: str, seconds: float = PATIENCE) -> Iterator[None]:
    """Say the words after so many seconds, where the block still lasts."""
    alarm = Timer(seconds, companion.say, (words,))
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


def _opening(of: Game) -> object:
    """A position with which a match begins."""
    if of.simulation is None:
        raise ConfigError(f"{of.title} cannot be played on this machine.")
    simulation = of.simulation.load()()
    return simulation.position(simulation.deal(Random(0)))


Plain = Annotated[str, AfterValidator(plain)]  # may be shown on a terminal


class _RatedOption(BaseModel):
    """An option of an answer."""

    action: JsonValue
    value: float | None = None
    note: Plain = ""


class _Answer(BaseModel, hide_input_in_errors=True):
    """What a program writes; what else it says is ignored."""

    action: JsonValue
    reason: Plain = ""
    options: tuple[_RatedOption, ...] = ()


class Outside:
    """A strategy in a process of its own, left to the next when it goes; its stderr is printed."""

    kind = Process

    def __init__(self, command: str) -> None:
        self._command, self._lock = command, Lock()
        self.process = self._running()

    def asked(self, question: bytes, read: Callable[[bytes], T]) -> T:
        """What `read` makes of the answer; after an `Unfit` the process is a new one."""
        with self.renewed():
            line = self.process.ask(question)
            print(self.process.heard(), end="")  # noqa: T201 - kept, as from a strategy in Python
            return read(line)

    @contextmanager
    def renewed(self) -> Iterator[None]:
        """Have the process for the block alone; after an `Unfit` there it is a new one."""
        with self._lock:  # one that is late is still asked when the next decision is due
            try:
                yield
            except Unfit:
                self.renew()
                raise

    def renew(self) -> None:
        """Go on with a new process: what this one may yet write would be the next answer."""
        self.process.end()
        self.process = self._running()

    def interrupt(self, limit: timedelta) -> bool:
        """End a decision that was due within `limit`; a process that only starts may go on."""
        ended: bool = self.process.interrupt(limit)
        return ended

    @staticmethod
    def leave(command: str, process: Any) -> None:  # noqa: ANN401 - of the `kind`
        """Leave a process to whoever is to be it next."""
        _left[os.getpid(), command].append(process)

    def _running(self) -> Any:  # noqa: ANN401
        """A process of our own: one that is left, or a new one."""
        left = _left[os.getpid(), self._command]
        process = left.pop() if left else self.kind(self._command)
        if not process.lives:
            process = self.kind(self._command)
        weakref.finalize(self, left.append, process).atexit = False
        return process


class Program(Outside):
    """A program as a strategy."""

    def __init__(self, command: str, game: str, translation: Translation, given: object) -> None:
        self._game, self._translation, self._given = game, translation, given
        super().__init__(command)

    def decide(self, position: object) -> Decision[Any]:
        """What the program answers; raises `Unfit`, with why, if it is late or cannot be used."""
        known = self._translation
        allowed = [(known.action(one), one) for one in known.actions(position)]
        actions = {_written(body): one for body, one in allowed}
        shown = known.position(position)
        chance = self._given.getrandbits(32) if isinstance(self._given, Random) else None
        question = {
            "game": self._game,
            "position": shown,
            "actions": [body for body, _ in allowed],
            "seed": crc32(_written(shown).encode()) if chance is None else chance,
        }

        def read(line: bytes) -> Decision[Any]:
            answer = _read(line)
            options = tuple(
                known.option(_meant(one.action, actions), one.value, one.note)
                for one in answer.options
            )
            return known.decision(_meant(answer.action, actions), answer.reason, options)

        return self.asked(json.dumps(question).encode() + b"\n", read)


_left: defaultdict[tuple[int, str], list[Process]] = defaultdict(list)
"""Processes that nobody asks now, by who started them (a fork must not ask them) and command."""


def dismiss(command: str) -> None:
    """End the processes of a command that nobody asks now."""
    for process in _left.pop((os.getpid(), command), []):
        process.end()


def _read(line: bytes) -> _Answer:
    try:
        return _Answer.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = "".join(f"{part}: " for part in first["loc"])
        text = line.decode(errors="replace").strip()
        raise Unfit(
            f"the program answered {text!r:.100}, which is no answer: {place}{first['msg']}"
        ) from None


def _meant(answered: JsonValue, actions: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any game's
    """The action that was sent back; raises `Unfit` for one that was not offered."""
    text = _written(answered)
    if text not in actions:
        raise Unfit(f"the program chose {text:.100}, which is none of the actions it was given")
    return actions[text]


def _written(value: object) -> str:
    """JSON that is the same text for the same value."""
    return json.dumps(value, sort_keys=True)
