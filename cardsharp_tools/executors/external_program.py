"""A strategy in any language: a program that reads positions and answers on stdout, a line each.

Each line of JSON holds a position and the actions that the rules allow in it; the answer is a line
that sends one of these back. docs/programs.md is the page for whoever writes such a program. It
plays on this machine only: what is deployed starts no programs.
"""

import json
import os
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from random import Random
from threading import Lock, Timer
from typing import Annotated, Any, NamedTuple, TypeVar
from zlib import crc32

from pydantic import AfterValidator, BaseModel, JsonValue, ValidationError

from cardsharp.errors import ConfigError
from cardsharp.play.game import Game
from cardsharp.play.guarded_call import InvalidDecision, call_guarded
from cardsharp.play.strategy import Decision, Option
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors import hang_monitor
from cardsharp_tools.executors.line_process import LineProcess
from cardsharp_tools.executors.private_random import private_rng
from cardsharp_tools.executors.sandbox_supervisor import escape_control_chars

T = TypeVar("T")

SLOW_START_SECONDS = 2.0  # seconds in which a process starts without a word


class ProtocolCodec(NamedTuple):
    """Encoding of one game for external programs.

    A game names it in `Game.program_protocol`. `position` encodes a position as JSON, `actions`
    returns the actions allowed there, and `action` encodes one of these as JSON. `decision` and
    `option` are the game's own classes.
    """

    position: Callable[[Any], object]
    actions: Callable[[Any], Sequence[Any]]
    action: Callable[[Any], object]
    decision: type[Decision[Any]]
    option: type[Option[Any]]


def position_encoder(model: type[BaseModel]) -> Callable[[object], object]:
    """Return a function that encodes a position as JSON.

    The JSON has the fields of the model, each read from the position's attribute of that name.
    """

    def encode(position: object) -> object:
        read = model.model_validate(position, from_attributes=True)
        return read.model_dump(mode="json", by_alias=True)

    return encode


@cache
def register_program(command: str, game: Game, name: str = "") -> str:
    """Start a program, let it answer once, and return the name of its strategy.

    Raises `ConfigError` if it does not answer, or not in the protocol.
    """
    if game.program_protocol is None:
        raise ConfigError(
            f"Programs cannot play {game.title} yet: the game defines no protocol for programs."
        )
    translation: ProtocolCodec = game.program_protocol.load()

    def build_player(rng_or_stopwatch: object) -> ProgramStrategy:
        return ProgramStrategy(command, game.name, translation, rng_or_stopwatch)

    registry_for(game.strategy_package).register_unlisted(name or command, build_player)
    player, opening = build_player(Random(0)), _create_opening_position(game)
    with message_if_slow(f"'{command}' has not answered yet ..."):
        result = call_guarded(lambda: player.decide(opening), player)
    if result.error is not None:
        subject = "It" if name else f"'{command}'"
        raise ConfigError(f"{subject} cannot play: {result.error}.\n{result.traceback}".rstrip())
    return name or command


@contextmanager
def message_if_slow(message: str, delay_seconds: float = SLOW_START_SECONDS) -> Iterator[None]:
    """Print the message if the block takes longer than `delay_seconds`."""
    alarm = Timer(delay_seconds, hang_monitor.write_unbuffered, (message,))
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()


def _create_opening_position(game: Game) -> object:
    """Return a position at the start of a match."""
    if game.simulation is None:
        raise ConfigError(f"{game.title} cannot be played on this machine: it has no simulation.")
    simulation = game.simulation.load()()
    return simulation.current_position(simulation.initial_state(Random(0)))


PrintableText = Annotated[str, AfterValidator(escape_control_chars)]  # may be shown on a terminal


class _RatedOption(BaseModel):
    """Option in a program's answer, with its value and a note."""

    action: JsonValue
    value: float | None = None
    note: PrintableText = ""


class _ProgramAnswer(BaseModel, hide_input_in_errors=True):
    """Answer of a program; fields that are not listed are ignored."""

    action: JsonValue
    reason: PrintableText = ""
    options: tuple[_RatedOption, ...] = ()


class SubprocessStrategy:
    """Strategy in a process of its own; its stderr is printed.

    When the strategy is no longer used, its process is kept for the next strategy of the same
    command, because a start can take seconds.
    """

    process_class = LineProcess

    def __init__(self, command: str) -> None:
        self._command, self._lock = command, Lock()
        self.process = self._acquire_process()

    def request(self, message: bytes, parse: Callable[[bytes], T]) -> T:
        """Send a message to the program and return the answer as `parse` reads it.

        After an `InvalidDecision` a new process is used.
        """
        with self.lock_and_restart_on_failure():
            response_line = self.process.request(message)
            print(self.process.read_stderr(), end="")  # noqa: T201 - kept, as from a strategy in Python
            return parse(response_line)

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


class ProgramStrategy(SubprocessStrategy):
    """Strategy whose decisions an external program makes."""

    def __init__(
        self, command: str, game: str, translation: ProtocolCodec, rng_or_stopwatch: object
    ) -> None:
        self._game, self._translation = game, translation
        self._rng = private_rng(rng_or_stopwatch) if isinstance(rng_or_stopwatch, Random) else None
        super().__init__(command)

    def decide(self, position: object) -> Decision[Any]:
        """Return the program's decision.

        Raises `InvalidDecision`, with the reason, if the answer is late or cannot be used.
        """
        codec = self._translation
        allowed = [(codec.action(action), action) for action in codec.actions(position)]
        actions = {_to_json(encoded_action): action for encoded_action, action in allowed}
        encoded_position = codec.position(position)
        request = {
            "game": self._game,
            "position": encoded_position,
            "actions": [encoded_action for encoded_action, _ in allowed],
            "seed": crc32(_to_json(encoded_position).encode())
            if self._rng is None
            else self._rng.getrandbits(32),
        }

        def read(line: bytes) -> Decision[Any]:
            response = _parse_answer(line)
            options = tuple(
                codec.option(_decode_action(option.action, actions), option.value, option.note)
                for option in response.options
            )
            return codec.decision(
                _decode_action(response.action, actions), response.reason, options
            )

        return self.request(json.dumps(request).encode() + b"\n", read)


_idle_processes: defaultdict[tuple[int, str], list[LineProcess]] = defaultdict(list)
"""Idle processes, by the process that started them and by command.

A fork must not use the processes of its parent, because both would read the same pipe.
"""


def stop_idle_processes(command: str) -> None:
    """End the idle processes of a command."""
    for process in _idle_processes.pop((os.getpid(), command), []):
        process.kill()


def _parse_answer(line: bytes) -> _ProgramAnswer:
    try:
        return _ProgramAnswer.model_validate_json(line)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_context=False, include_input=False)[0]
        location = "".join(f"{key}: " for key in first_error["loc"])
        text = line.decode(errors="replace").strip()
        raise InvalidDecision(
            f"the program wrote {text!r:.100}, which is not a valid answer: "
            f"{location}{first_error['msg']}"
        ) from None


def _decode_action(encoded_action: JsonValue, actions: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any game's
    """Return the action that a program chose; raise `InvalidDecision` if it was not offered."""
    text = _to_json(encoded_action)
    if text not in actions:
        raise InvalidDecision(
            f"the program chose {text:.100}, which is not one of the offered actions"
        )
    return actions[text]


def _to_json(value: object) -> str:
    """Return the value as JSON; equal values have equal texts."""
    return json.dumps(value, sort_keys=True)
