"""A strategy in any language: a program that reads positions and answers on stdout, a line each.

Each line of JSON holds a position and the actions that the rules allow in it; the answer is a line
that sends one of these back. docs/programs.md is the page for whoever writes such a program. It
plays on this machine only: what is deployed starts no programs.
"""

import fcntl
import json
import os
import shlex
import signal
import subprocess
import tempfile
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random
from threading import Lock, Timer
from typing import IO, Annotated, Any, NamedTuple, TypeVar
from zlib import crc32

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue, ValidationError

from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.registry import strategies_of
from cardsharp.strategy import Decision, Option
from cardsharp.trying import LATE, MOST_PRINTED, Unfit, ends, tried
from workbench import companion
from workbench.warden import plain

T = TypeVar("T")

LIMIT = timedelta(seconds=2)
"""What an answer may take on the clock; whoever takes longer is killed and started anew."""

START_LIMIT = timedelta(seconds=20)
"""What a new process's first answer may take; where a match waits for it, it is played without."""

LONGEST = 1_000_000
"""Bytes of an answer."""

PATIENCE = 2.0
"""Seconds in which a process starts without a word."""

_HEARD = 8 * MOST_PRINTED
"""Bytes that are read of what a process wrote: as much as is kept, and the stack of its end."""

_GRACE = 0.5
"""Seconds in which a program that has closed its output is expected to end."""

_OURS = ("CARDSHARP_", "AWS_")
"""Variables of the environment that no program is given: passwords are among them."""


class Translation(NamedTuple):
    """How a program is told a game; `Game.program` names it.

    `position` is what it is shown, `actions` what is allowed there, and `action` one of these as
    JSON. `decision` and `option` are the game's own classes.
    """

    position: Callable[[Any], BaseModel]
    actions: Callable[[Any], Sequence[Any]]
    action: Callable[[Any], object]
    decision: type[Decision[Any]]
    option: type[Option[Any]]


# --- which names are programs --------------------------------------------------------------------


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


def words_of(command: str) -> list[str]:
    """The words of a command; none where a quote is left open."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


@cache
def program_named(command: str, of: Game, name: str = "") -> str:
    """The name, or the command in its place, of a strategy that can be built now.

    It has answered once.

    Raises:
        ConfigError: it cannot be started, or fails in the opening position.
    """
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


# --- the strategy --------------------------------------------------------------------------------


Plain = Annotated[str, AfterValidator(plain)]
"""A text of a program's that may be shown on a terminal."""


class _RatedOption(BaseModel):
    """An option of an answer."""

    action: JsonValue
    value: float | None = None
    note: Plain = ""


class _Answer(BaseModel):
    """What a program writes; what else it says is ignored."""

    model_config = ConfigDict(hide_input_in_errors=True)

    action: JsonValue
    reason: Plain = ""
    options: tuple[_RatedOption, ...] = ()


class Outside:
    """A strategy in a process of its own; what that writes on stderr is printed.

    It has the process for as long as it is there, which is then left to the next one.
    """

    kind: "type[Process]"

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
        """What the program answers.

        Raises:
            Unfit: it is late, ends, or its answer cannot be used; the text says which.
        """
        known = self._translation
        allowed = [(known.action(one), one) for one in known.actions(position)]
        question = self._question(position, [body for body, _ in allowed])
        actions = {_written(body): one for body, one in allowed}
        return self.asked(question, lambda line: self._decision(line, actions))

    def _decision(self, line: bytes, actions: Mapping[str, Any]) -> Decision[Any]:
        """What an answer says."""
        answer, known = _read(line), self._translation
        options = tuple(
            known.option(_meant(one.action, actions), one.value, one.note) for one in answer.options
        )
        return known.decision(_meant(answer.action, actions), answer.reason, options)

    def _question(self, position: object, actions: Sequence[object]) -> bytes:
        shown = self._translation.position(position).model_dump(mode="json", by_alias=True)
        chance = self._given.getrandbits(32) if isinstance(self._given, Random) else None
        question = {
            "game": self._game,
            "position": shown,
            "actions": actions,
            "seed": crc32(_written(shown).encode()) if chance is None else chance,
        }
        return json.dumps(question).encode() + b"\n"


_left: defaultdict[tuple[int, str], list["Process"]] = defaultdict(list)
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


# --- the process ---------------------------------------------------------------------------------


class Process:
    """A program that runs, in a session of its own: Ctrl-C is for us, who then end it."""

    def __init__(self, command: str) -> None:
        self.words = words_of(command)
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as the process
        fcntl.fcntl(errors, fcntl.F_SETFL, os.O_APPEND)  # so that it can be emptied
        try:
            popen = subprocess.Popen(  # noqa: S603 - the user's own command
                self.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                env={k: v for k, v in os.environ.items() if not k.startswith(_OURS)},
            )
        except OSError as error:
            errors.close()
            raise ConfigError(_unstartable(command, error)) from None
        self.popen, self._errors = popen, errors
        self._stdin, self._stdout = _pipe(popen.stdin), _pipe(popen.stdout)
        self.late: timedelta | None = None
        self._limit = START_LIMIT
        weakref.finalize(self, _end, popen, errors)

    @property
    def lives(self) -> bool:
        """Whether it can be asked."""
        return self.popen.poll() is None

    def ask(self, question: bytes) -> bytes:
        """Its answer; it is killed where there is none in time.

        Raises:
            Unfit: it was late, ended, or wrote no end of a line.
        """
        alarm = Timer(self._limit.total_seconds(), self._ring, (self._limit,))
        alarm.daemon = True
        alarm.start()
        line = b""
        try:
            with suppress(BrokenPipeError):
                self._stdin.write(question)
                self._stdin.flush()
                line = self._stdout.readline(LONGEST)
        finally:  # also where this thread is told to end
            alarm.cancel()
        if not line.endswith(b"\n") or self.late is not None:
            raise Unfit(*self.fault(line))
        self._limit = LIMIT
        return line

    def heard(self) -> str:
        """What it has written on stderr since this was asked last."""
        text = os.pread(self._errors.fileno(), _HEARD, 0).decode(errors="replace")
        os.ftruncate(self._errors.fileno(), 0)
        return text

    def end(self) -> None:
        """End it and whatever it started."""
        _kill(self.popen)

    def interrupt(self, limit: timedelta) -> bool:
        """End it, which has not answered within `limit`, unless it is only starting."""
        if self._limit == START_LIMIT:
            return False
        self._ring(limit)
        return True

    def _ring(self, limit: timedelta) -> None:
        self.late = limit
        self.end()

    def fault(self, line: bytes) -> tuple[str, str]:
        """Why there is no answer, in a phrase; and what it wrote on stderr last."""
        why = self._why(line)
        told = self.heard()
        crash = companion.CRASH.search(told)
        lines = ends(told.strip().splitlines())
        text = "\n".join(line.replace("\t", "    ") for line in lines)
        return f"the program ended ({crash[1]})" if crash else why, text

    def _why(self, line: bytes) -> str:
        if self.late is not None:
            return f"{LATE} {self.late.total_seconds():g} s"
        if line:
            return "the program wrote a line without an end"
        with suppress(subprocess.TimeoutExpired):
            return f"the program ended with exit code {self.popen.wait(_GRACE)}"
        return "the program closed its output"


def _unstartable(command: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"'{command}' cannot be started: there is no program {error.filename} here."
    return f"'{command}' cannot be started: {error.strerror}."


def _kill(popen: subprocess.Popen[bytes]) -> None:
    """End a program and whatever it started."""
    with suppress(ProcessLookupError):
        os.killpg(popen.pid, signal.SIGKILL)


def _end(popen: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    _kill(popen)
    with suppress(BrokenPipeError):
        popen.communicate()
    errors.close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise TypeError("The pipe was not asked for.")
    return pipe


Outside.kind = Process
