"""Today's generation of the API: other words, the same games (docs/spec/blef-next.md)."""

import json
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from pathlib import Path

from pydantic import BaseModel

from cardsharp.blef import routes, wire, wire_next
from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.params import Denied
from cardsharp.blef.service import DEFAULT_NAMES, Blef, StateLook
from cardsharp.viewer.assets import asset, own_headers
from cardsharp.web import route
from cardsharp.web.api import Api
from cardsharp.web.reading import Parameters
from cardsharp.web.route import Answer, Answers, Call, ErrorBody, Route

VERSION = "2022.4"  # the API has no version of its own: the year and month of its makers' latest
_INTRODUCTION = """\
The games of Blef as its Android, iOS and web clients play them. Everything is there for GET, and
what changes something for POST too, with the same parameters in the query string, as a JSON object
or as a form; prefer POST, for uuids in a body are in nobody's history or log. An empty parameter
counts as missing. What is wrong with a parameter is told as `Bad input value in 'NAME': VALUE`,
and on the next line why. A feed tells what happens over a WebSocket, where there is one."""

_MOST_DIGITS = 20
_OK, _ACCEPTED, _BAD = HTTPStatus.OK, HTTPStatus.ACCEPTED, HTTPStatus.BAD_REQUEST
_REFUSED = (_BAD, HTTPStatus.FORBIDDEN)
_DONE: Answers = {_OK: (wire.MessageBody,)}


def explain(error: Exception, model: type[BaseModel]) -> Answer:
    """The answer to a request that ended with this error, in today's words."""
    return route.explain(error.newer if isinstance(error, Denied) else error, model)


def _state(blef: Blef, call: Call[wire_next.StateAsked]) -> Answer:
    asked = call.asked
    look = StateLook(asked.player_uuid, partial(_read_round, asked.round))
    return Answer(wire_next.state_body(blef.state(asked.game_uuid, look, call.left)))


def _join(blef: Blef, call: Call[wire_next.JoinAsked]) -> Answer:
    uuid = blef.join(call.asked.game_uuid, call.asked.nickname)
    return Answer(wire.JoinedBody(player_uuid=uuid))


def _invite(blef: Blef, call: Call[wire_next.InviteAsked]) -> Answer:
    asked = call.asked
    nickname = blef.invite(asked.game_uuid, asked.admin_uuid, asked.agent_name, call.caller)
    return Answer(wire.MessageBody(message=f"{nickname} joined the game"))


def _start(blef: Blef, call: Call[wire.AdminAsked]) -> Answer:
    blef.start(call.asked.game_uuid, call.asked.admin_uuid, hide=True)
    return Answer(wire.MessageBody(message="Game started"), _ACCEPTED)


def _play(blef: Blef, call: Call[wire.PlayAsked]) -> Answer:
    asked = call.asked
    read = partial(_read_action, asked.action_id)
    return Answer(wire_next.state_body(blef.play(asked.game_uuid, asked.player_uuid, read)))


def _show(blef: Blef, call: Call[wire.AdminAsked], *, public: bool) -> Answer:
    how = "public" if public else "private"
    made = blef.show(call.asked.game_uuid, call.asked.admin_uuid, public=public)
    text = f"Game made {how}" if made else f"Request redundant - game already {how}"
    return Answer(wire.MessageBody(message=text))


def _read_round(text: str | None, present: int) -> int | None:
    number = _read_digits("round", text) if text else 0
    if number > present:
        raise Denied("The game has not reached this round", "round", str(number))
    return number or None


def _read_action(text: str | None) -> int:
    action = _read_digits("action_id", text)
    if action > CHECK:
        raise Denied(f"Action ID must be an integer between 0 and {CHECK}", "action_id", text)
    return action


def _read_digits(parameter: str, text: str | None) -> int:
    """The number that a text of digits is, of any script."""
    if text is None or not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise Denied("", parameter, text)
    return int(text)


_OLDER = {route.name: route for route in routes.ROUTES}  # today's differ in what is named here
_GAMES, _CREATE, _STATE, _JOIN = (_OLDER[name] for name in ("list", "create", "state", "join"))
_START, _PLAY = _OLDER["start"], _OLDER["play"]
_TOLD: Answers = {_OK: (wire_next.NextStateBody,)}

ROUTES: tuple[Route[Blef], ...] = (
    replace(
        _GAMES,
        summary="The public games that have not started",
        act=lambda blef, _: Answer(wire_next.list_body(blef.store.listed())),
        answers={_OK: (wire_next.NextListBody,)},
    ),
    replace(_CREATE, errors={}),
    replace(
        _STATE, act=_state, request=wire_next.StateAsked, answers=_TOLD, error=ErrorBody, headers={}
    ),
    replace(_JOIN, act=_join, request=wire_next.JoinAsked, refusals=_REFUSED),
    replace(
        _JOIN,
        path=f"{_STATE.path}/invite-aiagent",
        name="invite-aiagent",
        summary="Have a bot join a game, as its admin and before its start",
        act=_invite,
        request=wire_next.InviteAsked,
        answers=_DONE,
        refusals=(*_REFUSED, HTTPStatus.TOO_MANY_REQUESTS),
    ),
    replace(_START, summary="Start a game, as its admin; it is private from then on", act=_start),
    replace(
        _PLAY,
        summary="Bet or check, as the player to move; the state that follows",
        act=_play,
        answers=_TOLD,
        error=ErrorBody,
    ),
    *(
        replace(
            _OLDER[f"make-{how}"],
            act=partial(_show, public=how == "public"),
            answers=_DONE,
            error=ErrorBody,
        )
        for how in ("public", "private")
    ),
)

AGENTS = tuple(one.partition("=")[0].strip() for one in DEFAULT_NAMES.split(";"))
"""The bots that the page offers to invite; a service may have others, or none."""

_FOLDER = Path(__file__).with_name("page")


def lobby() -> Answer:
    """The page, with its style and script in it and allowed by their hashes."""
    style = asset("look.css") + _text("lobby.css")
    script = _text("lobby.js")
    for name, told in (("bets", [bet.name for bet in BETS]), ("agents", AGENTS)):
        script = script.replace(f"{{{{ {name} }}}}", json.dumps(told))
    page = _text("lobby.html").replace("{{ style }}", style).replace("{{ script }}", script)
    return Answer(page, headers=own_headers(style, script))


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


API = Api(
    name="next",
    title="Blef, today's generation",
    version=VERSION,
    introduction=_INTRODUCTION,
    routes=ROUTES,
    reading=Parameters(keeps_empty=True),
    explain=explain,
    home=lobby,
)
