"""The paths of the service in one table, from which answers and document are made."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.errors import ConfigError
from cardsharp.web.api import Api
from cardsharp.web.reading import Messages
from cardsharp.web.route import Answer, Call, NoFields, Route
from cardsharp.web.service import Service
from nim import wire
from nim.rules import SEATS
from nim.service import Nim
from nim.store import VARIABLE, Games, Kept

_REFUSED = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)


class DoneBody(NoFields):
    """Done."""


def _create(nim: Nim, call: Call[wire.CreateAsked]) -> Answer:
    return Answer(wire.CreatedBody(game=nim.create(call.asked.heaps)))


def _look(nim: Nim, call: Call[wire.LookAsked]) -> Answer:
    return Answer(game_body(nim.look(call.asked.game)))


def _join(nim: Nim, call: Call[wire.JoinAsked]) -> Answer:
    nim.join(call.asked.game, call.asked.name, call.asked.secret)
    return Answer(DoneBody())


def _act(nim: Nim, call: Call[wire.ActAsked]) -> Answer:
    asked = call.asked
    nim.act(asked.game, asked.secret, asked.number, asked.action)
    return Answer(DoneBody())


def game_body(kept: Kept) -> wire.GameBody:
    """A game as everybody may see it."""
    states, names = kept.states(), [name for name, _ in kept.players]
    moves = [
        wire.MoveBody(
            seat=before.turn,
            player=names[before.turn],
            heap=action.heap,
            stones=action.stones,
            left=list(after.heaps),
        )
        for before, action, after in zip(states, kept.moves, states[1:], strict=False)
    ]
    now = states[-1]
    running = len(names) == SEATS and now.winner is None
    return wire.GameBody(
        names=names,
        heaps=list(now.heaps),
        moves=moves,
        turn=now.turn if running else None,
        winner=now.winner,
    )


def _route(method: str, name: str, summary: str, act: Any, request: Any, body: Any) -> Route[Nim]:  # noqa: ANN401, PLR0913, PLR0917 - a line of the table
    return Route(
        methods=(method,),
        path=f"/{name}",
        name=name,
        summary=summary,
        act=act,
        request=request,
        answers={HTTPStatus.OK: (body,)},
        refusals=_REFUSED,
    )


API: Api[Nim] = Api(
    title="Nim",
    version="1.0.0",
    introduction="Create, join and play games of Nim: whoever takes the last stone wins.",
    reading=Messages(),
    routes=(
        _route("POST", "create", "A new game", _create, wire.CreateAsked, wire.CreatedBody),
        _route("GET", "game", "A game as it is", _look, wire.LookAsked, wire.GameBody),
        _route("POST", "join", "Take a seat", _join, wire.JoinAsked, DoneBody),
        _route("POST", "act", "Take stones", _act, wire.ActAsked, DoneBody),
    ),
)


def assemble(environment: Mapping[str, str]) -> Nim:
    """The service over the store that NIM_STORE names."""
    kind, _, path = environment.get(VARIABLE, "").partition(":")
    if kind != "sqlite" or not path:
        raise ConfigError(f"{VARIABLE} must be sqlite:FILE or sqlite:{MEMORY}.")
    return Nim(Games(path))


SERVICE = Service(api=API, store=VARIABLE, assemble=assemble)
