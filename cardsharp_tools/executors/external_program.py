"""A strategy in any language: a program that reads positions and answers on stdout, a line each.

Each line of JSON holds a position and the actions that the rules allow in it; the answer is a line
that sends one of these back. docs/programs.md is the page for whoever writes such a program. It
plays on this machine only: what is deployed starts no programs.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple
from zlib import crc32

from pydantic import BaseModel, JsonValue, ValidationError

from cardsharp.errors import ConfigError
from cardsharp.play.game import Game
from cardsharp.play.guarded_call import InvalidDecision, call_guarded
from cardsharp.play.strategy import Decision, Option
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors.private_random import private_rng
from cardsharp_tools.executors.subprocess_strategy import (
    PrintableText,
    SubprocessStrategy,
    message_if_slow,
)


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


def _create_opening_position(game: Game) -> object:
    """Return a position at the start of a match."""
    if game.simulation is None:
        raise ConfigError(f"{game.title} cannot be played on this machine: it has no simulation.")
    simulation = game.simulation.load()()
    return simulation.current_position(simulation.initial_state(Random(0)))


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

        with self.lock_and_restart_on_failure():
            response = _parse_answer(self.request(json.dumps(request).encode() + b"\n"))
            options = tuple(
                codec.option(_decode_action(option.action, actions), option.value, option.note)
                for option in response.options
            )
            action = _decode_action(response.action, actions)
            return codec.decision(action, response.reason, options)


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
