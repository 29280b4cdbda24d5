"""The paths of a hosted game's service, from which requests are answered and its document made."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.stores import Stores
from cardsharp.game import Part
from cardsharp.host import wire
from cardsharp.host.house import House, house
from cardsharp.host.records import Tables
from cardsharp.host.service import Host
from cardsharp.keep.port import Keep
from cardsharp.web.api import Api
from cardsharp.web.reading import Messages
from cardsharp.web.route import Answer, Call, Route
from cardsharp.web.service import Service

KEEP_DAYS = "CARDSHARP_KEEP_DAYS"
_DAYS = "30"

_REFUSED = (403, 404, 409, 429)


def service(folder: str) -> Service[Host]:
    """The service of the game in a folder."""
    game = house(folder)
    stores: Stores[Keep] = Stores(
        f"{game.game.name.upper()}_STORE",
        Part("cardsharp.keep.sqlite:SqliteKeep"),
        Part("cardsharp.keep.dynamodb:DynamoKeep"),
    )
    assemble = partial(_assemble, game, stores)
    return Service(api=api_of(game), store=stores.variable, assemble=assemble)


def api_of(game: House) -> Api[Host]:
    """The paths of a game."""
    return Api(
        title=game.game.title,
        version="1.0.0",
        introduction=f"Create, join and play games of {game.game.title}.",
        reading=Messages(),
        routes=tuple(
            Route(
                methods=(method,),
                path=f"/{name}",
                name=name,
                summary=summary,
                act=act,
                request=request,
                answers={HTTPStatus.OK: (body,)},
                refusals=_REFUSED,
            )
            for method, name, summary, act, request, body in _ROUTES
        ),
    )


def _create(host: Host, call: Call[wire.CreateAsked]) -> Answer:
    return Answer(wire.CreatedBody(game=host.create(call.asked, call.caller)))


def _look(host: Host, call: Call[wire.LookAsked]) -> Answer:
    return Answer(host.look(call.asked, call.left))


def _join(host: Host, call: Call[wire.JoinAsked]) -> Answer:
    host.join(call.asked)
    return Answer(wire.DoneBody())


def _act(host: Host, call: Call[wire.ActAsked]) -> Answer:
    asked = call.asked
    host.act(asked.game, asked.secret, asked.number, asked.action)
    return Answer(wire.DoneBody())


_Act = Callable[[Host, Call[Any]], Answer]
_ROUTES: tuple[tuple[str, str, str, _Act, type[wire.Message], type[wire.Message]], ...] = (
    ("POST", "create", "A new game", _create, wire.CreateAsked, wire.CreatedBody),
    ("GET", "game", "A game as you may see it", _look, wire.LookAsked, wire.GameBody),
    ("POST", "join", "Take a seat", _join, wire.JoinAsked, wire.DoneBody),
    ("POST", "act", "Do something", _act, wire.ActAsked, wire.DoneBody),
)


def _assemble(game: House, stores: Stores[Keep], environment: Mapping[str, str]) -> Host:
    """The service over the store that an environment names; raises `ConfigError`."""
    clock = SystemClock()
    keep = stores.open(environment.get(stores.variable, ""), clock)
    life = timedelta(days=int(environment.get(KEEP_DAYS) or _DAYS))
    return Host(game, Tables(keep, clock, life), clock)
