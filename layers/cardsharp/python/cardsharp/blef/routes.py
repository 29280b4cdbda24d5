"""The API's paths in one table, from which both the answers and the document are made."""

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from cardsharp.blef import params, wire
from cardsharp.blef.actions import CHECK
from cardsharp.blef.service import Blef, StateLook
from cardsharp.web.api import Api
from cardsharp.web.route import Answer, Answers, Call, Route, bad_request

VERSION = "2.3.0"  # the version of the API that is spoken; clients check that it has three parts
_GAME = "/games/{game_uuid}"
_OK, _ACCEPTED = HTTPStatus.OK, HTTPStatus.ACCEPTED
_REFUSED = (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN)

_INTRODUCTION = """\
Create, join and play games of Blef. Every change is there for GET, as old clients expect it, and
for POST, which takes the same parameters in the query string, as a JSON object or as a form;
prefer POST, for uuids in a body are in nobody's history or log. A parameter that is empty counts
as missing, and one that is sent twice is refused. Nothing may be cached. Uuids are taken in upper
and lower case."""


def _version(_blef: Blef, _call: Call[BaseModel]) -> Answer:
    return Answer(wire.VersionBody(version=VERSION))


def _list(blef: Blef, _call: Call[BaseModel]) -> Answer:
    games = [
        wire.ListedBody(uuid=game.uuid, players=list(game.nicknames), started=game.started)
        for game in blef.store.listed()
    ]
    return Answer(wire.ListBody(games))


def _active(blef: Blef, _call: Call[BaseModel]) -> Answer:
    return Answer(wire.ActiveBody(active_games=blef.store.count_active()))


def _state(blef: Blef, call: Call[wire.StateAsked]) -> Answer:
    asked = call.asked
    look = StateLook(asked.player_uuid, partial(read_round, asked.round), asked.wait, asked.since)
    sight = blef.state(asked.game_uuid, look, call.left)
    body = wire.state_body(sight.game, sight.position)
    return Answer(body, headers={wire.VERSION_HEADER: str(sight.version)})


def _join(blef: Blef, call: Call[wire.JoinAsked]) -> Answer:
    asked = call.asked
    uuid = blef.join(asked.game_uuid, asked.nickname, asked.player_uuid)
    return Answer(wire.JoinedBody(player_uuid=uuid))


def _start(blef: Blef, call: Call[wire.AdminAsked]) -> Answer:
    blef.start(call.asked.game_uuid, call.asked.admin_uuid)
    return Answer(wire.MessageBody(message="Game started"), _ACCEPTED)


def _play(blef: Blef, call: Call[wire.PlayAsked]) -> Answer:
    asked = call.asked
    blef.play(asked.game_uuid, asked.player_uuid, partial(_read_action, asked.action_id))
    return Answer(wire.DoneBody())


def read_round(text: str | None, present: int) -> int | None:
    """The number of the round that a text asks for, None for the present one."""
    if text is None:
        return None
    number = params.read_number(text)
    if number is not None and number > present:
        raise bad_request("The game has not reached this round")
    if number is None or number < -1 or number == 0 or not number.is_integer():
        raise bad_request(
            "The round parameter is invalid - must be an integer between 1 and the current "
            "round, or -1, or blank"
        )
    return None if number < 0 else int(number)


def _read_action(text: str | None) -> int:
    if text is None:
        raise bad_request("Action ID missing - please supply it")
    action = params.read_whole(text)
    if action is None or not 0 <= action <= CHECK:
        raise bad_request(f"Action ID must be an integer between 0 and {CHECK}")
    return action


def _show(blef: Blef, call: Call[wire.AdminAsked], *, public: bool) -> Answer:
    how = "public" if public else "private"
    if blef.show(call.asked.game_uuid, call.asked.admin_uuid, public=public):
        return Answer(wire.MessageBody(message=f"Game made {how}"))
    text = f"Request redundant - game already {how}"
    return Answer(wire.RedundantBody(error=text, message=text))


def _look(
    name: str,
    path: str,
    summary: str,
    act: Callable[[Blef, Call[Any]], Answer],
    body: type[BaseModel],
) -> Route[Blef]:
    """A path that changes nothing and takes nothing."""
    answers: Answers = {_OK: (body,)}
    return Route(methods=("GET",), path=path, name=name, summary=summary, act=act, answers=answers)


_CHANGES = ("GET", "POST")  # what a path that changes something is there for


def _visibility(what: str, *, public: bool) -> Route[Blef]:
    how = "public" if public else "private"
    return Route(
        methods=_CHANGES,
        path=f"{_GAME}/make-{how}",
        name=f"make-{how}",
        summary=f"{what}, as its admin and before its start",
        act=partial(_show, public=public),
        request=wire.AdminAsked,
        answers={_OK: (wire.MessageBody, wire.RedundantBody)},
        refusals=_REFUSED,
        error=wire.ErrorsBody,
    )


_VERSION_TOLD: Mapping[str, object] = {
    "description": "How often the game has changed.",
    "schema": {"type": "integer"},
}

ROUTES: tuple[Route[Blef], ...] = (
    _look("version", "/version", "The version of this API", _version, wire.VersionBody),
    _look("list", "/games", "The public games", _list, wire.ListBody),
    _look("active", "/games/active", "How busy it is here", _active, wire.ActiveBody),
    Route(
        methods=_CHANGES,
        path="/games/create",
        name="create",
        summary="Create a private game without players",
        act=lambda blef, call: Answer(wire.CreatedBody(game_uuid=blef.create(call.caller))),
        answers={_OK: (wire.CreatedBody,)},
        refusals=(HTTPStatus.TOO_MANY_REQUESTS,),
        errors={HTTPStatus.TOO_MANY_REQUESTS: wire.FullBody},
    ),
    Route(
        methods=("GET",),
        path=_GAME,
        name="state",
        summary="A game or one of its past rounds, with the hands that you may see",
        act=_state,
        request=wire.StateAsked,
        answers={_OK: (wire.StateBody,)},
        refusals=(HTTPStatus.BAD_REQUEST,),
        error=wire.ErrorsBody,
        headers={wire.VERSION_HEADER: _VERSION_TOLD},
    ),
    Route(
        methods=_CHANGES,
        path=f"{_GAME}/join",
        name="join",
        summary="Join a game that has not started",
        act=_join,
        request=wire.JoinAsked,
        answers={_OK: (wire.JoinedBody,)},
        refusals=(*_REFUSED, HTTPStatus.CONFLICT),
    ),
    Route(
        methods=_CHANGES,
        path=f"{_GAME}/start",
        name="start",
        summary="Start a game, as its admin",
        act=_start,
        request=wire.AdminAsked,
        answers={_ACCEPTED: (wire.MessageBody,)},
        refusals=_REFUSED,
    ),
    Route(
        methods=_CHANGES,
        path=f"{_GAME}/play",
        name="play",
        summary="Bet or check, as the player to move",
        act=_play,
        request=wire.PlayAsked,
        answers={_OK: (wire.DoneBody,)},
        refusals=(HTTPStatus.BAD_REQUEST,),
        error=wire.ErrorsBody,
    ),
    _visibility("Show a game in the list", public=True),
    _visibility("Hide a game from the list", public=False),
)

API = Api(title="Blef", version=VERSION, introduction=_INTRODUCTION, base=wire.BASE, routes=ROUTES)
