"""Today's generation of the API: other words, the same games (docs/spec/blef-next.md)."""

import json
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from pathlib import Path

from pydantic import BaseModel

from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.service import routes, wire, wire_v2022
from cardsharp.games.blef.service.request_params import BlefError
from cardsharp.games.blef.service.service import DEFAULT_BOTS, BlefService, StateQuery
from cardsharp.pages.assets import read_asset, standalone_headers
from cardsharp.server import routing
from cardsharp.server.api import Api
from cardsharp.server.request_parsing import ParameterParser
from cardsharp.server.routing import ApiRequest, ApiResponse, ErrorBody, ResponseModels, Route

API_VERSION_2022 = (
    "2022.4"  # the API has no version of its own: the year and month of its makers' latest
)
_INTRODUCTION = """\
The API of Blef's Android, iOS and web clients. Every request can be sent by GET, and changes also
by POST, with the same parameters in the query string, as a JSON object or as a form. Prefer POST: a
uuid in a body appears in no browser history and no log. An empty parameter counts as missing. The
error of an invalid parameter is `Bad input value in 'NAME': VALUE`, with the reason on the next
line. If the service has a feed, a WebSocket sends every change of a game."""

_MAX_DIGITS = 20
_OK, _ACCEPTED, _BAD = HTTPStatus.OK, HTTPStatus.ACCEPTED, HTTPStatus.BAD_REQUEST
_ERROR_STATUSES = (_BAD, HTTPStatus.FORBIDDEN)
_DONE: ResponseModels = {_OK: (wire.MessageBody,)}


def error_response(error: Exception, model: type[BaseModel]) -> ApiResponse:
    """Return the response to a request that failed, in the format of API v2022."""
    return routing.error_response(
        error.v2022_error if isinstance(error, BlefError) else error, model
    )


def _state(blef: BlefService, call: ApiRequest[wire_v2022.StateParamsV2022]) -> ApiResponse:
    params = call.params
    look = StateQuery(params.player_uuid, partial(_read_round, params.round))
    return ApiResponse(
        wire_v2022.state_body(blef.get_state(params.game_uuid, look, call.remaining_wait))
    )


def _join(blef: BlefService, call: ApiRequest[wire_v2022.JoinParamsV2022]) -> ApiResponse:
    uuid = blef.join(call.params.game_uuid, call.params.nickname)
    return ApiResponse(wire.JoinedBody(player_uuid=uuid))


def _invite(blef: BlefService, call: ApiRequest[wire_v2022.InviteParamsV2022]) -> ApiResponse:
    params = call.params
    nickname = blef.invite(params.game_uuid, params.admin_uuid, params.agent_name, call.caller)
    return ApiResponse(wire.MessageBody(message=f"{nickname} joined the game"))


def _start(blef: BlefService, call: ApiRequest[wire.AdminParams]) -> ApiResponse:
    blef.start(call.params.game_uuid, call.params.admin_uuid, make_private=True)
    return ApiResponse(wire.MessageBody(message="Game started"), _ACCEPTED)


def _play(blef: BlefService, call: ApiRequest[wire.PlayParams]) -> ApiResponse:
    params = call.params
    read = partial(_read_action, params.action_id)
    return ApiResponse(wire_v2022.state_body(blef.play(params.game_uuid, params.player_uuid, read)))


def _show(blef: BlefService, call: ApiRequest[wire.AdminParams], *, public: bool) -> ApiResponse:
    visibility = "public" if public else "private"
    changed = blef.set_visibility(call.params.game_uuid, call.params.admin_uuid, public=public)
    message = (
        f"Game made {visibility}" if changed else f"Request redundant - game already {visibility}"
    )
    return ApiResponse(wire.MessageBody(message=message))


def _read_round(text: str | None, present: int) -> int | None:
    round_number = _read_digits("round", text) if text else 0
    if round_number > present:
        raise BlefError("The game has not reached this round", "round", str(round_number))
    return round_number or None


def _read_action(text: str | None) -> int:
    action = _read_digits("action_id", text)
    if action > CHECK:
        raise BlefError(f"Action ID must be an integer between 0 and {CHECK}", "action_id", text)
    return action


def _read_digits(parameter: str, text: str | None) -> int:
    """The number that a text of digits is, of any script."""
    if text is None or not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise BlefError("", parameter, text)
    return int(text)


_OLDER = {route.name: route for route in routes.ROUTES}  # today's differ in what is named here
_GAMES, _CREATE, _STATE, _JOIN = (_OLDER[name] for name in ("list", "create", "state", "join"))
_START, _PLAY = _OLDER["start"], _OLDER["play"]
_STATE_RESPONSE: ResponseModels = {_OK: (wire_v2022.StateBodyV2022,)}

ROUTES: tuple[Route[BlefService], ...] = (
    replace(
        _GAMES,
        summary="The public games that have not started",
        endpoint=lambda blef, _: ApiResponse(wire_v2022.game_list_body(blef.store.public_games())),
        response_models={_OK: (wire_v2022.GameListBodyV2022,)},
    ),
    replace(_CREATE, error_models={}),
    replace(
        _STATE,
        endpoint=_state,
        params_model=wire_v2022.StateParamsV2022,
        response_models=_STATE_RESPONSE,
        default_error_model=ErrorBody,
        response_headers={},
    ),
    replace(
        _JOIN,
        endpoint=_join,
        params_model=wire_v2022.JoinParamsV2022,
        error_statuses=_ERROR_STATUSES,
    ),
    replace(
        _JOIN,
        path=f"{_STATE.path}/invite-aiagent",
        name="invite-aiagent",
        summary="Have a bot join a game, as its admin and before its start",
        endpoint=_invite,
        params_model=wire_v2022.InviteParamsV2022,
        response_models=_DONE,
        error_statuses=(*_ERROR_STATUSES, HTTPStatus.TOO_MANY_REQUESTS),
    ),
    replace(
        _START, summary="Start a game, as its admin; it is private from then on", endpoint=_start
    ),
    replace(
        _PLAY,
        summary="Bet or check, as the player to move; the state that follows",
        endpoint=_play,
        response_models=_STATE_RESPONSE,
        default_error_model=ErrorBody,
    ),
    *(
        replace(
            _OLDER[f"make-{visibility}"],
            endpoint=partial(_show, public=visibility == "public"),
            response_models=_DONE,
            default_error_model=ErrorBody,
        )
        for visibility in ("public", "private")
    ),
)

BOT_NAMES = tuple(bot_text.partition("=")[0].strip() for bot_text in DEFAULT_BOTS.split(";"))
"""The bots that the page offers to invite; a service may have others, or none."""

_FOLDER = Path(__file__).with_name("page")


def lobby_page() -> ApiResponse:
    """The page, with its style and script in it and allowed by their hashes."""
    style = read_asset("look.css") + _text("lobby.css")
    script = _text("lobby.js")
    for name, value in (("bets", [bet.name for bet in BETS]), ("agents", BOT_NAMES)):
        script = script.replace(f"{{{{ {name} }}}}", json.dumps(value))
    page = _text("lobby.html").replace("{{ style }}", style).replace("{{ script }}", script)
    return ApiResponse(page, headers=standalone_headers(style, script))


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


API = Api(
    schema_names={
        "BotPlayerBody": "AgentBody",
        "GameListBodyV2022": "NextListBody",
        "GameStatus": "Status",
        "ListedGameBodyV2022": "NextListedBody",
        "StateBodyV2022": "NextStateBody",
    },
    name="next",
    title="Blef, API of 2022",
    version=API_VERSION_2022,
    description=_INTRODUCTION,
    routes=ROUTES,
    request_parser=ParameterParser(keep_blank_values=True),
    error_response=error_response,
    home_page=lobby_page,
)
