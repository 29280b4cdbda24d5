"""Today's generation of the API: other words, the same games (docs/spec/blef-next.md)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from pathlib import Path

from cardsharp.games.blef.actions import BETS, CHECK, Bet
from cardsharp.games.blef.service import routes, wire, wire_v2022
from cardsharp.games.blef.service.error_tables import ERRORS_V2022
from cardsharp.games.blef.service.service import DEFAULT_BOTS, BlefService, StateQuery
from cardsharp.server.api import Api
from cardsharp.server.request_parsing import ParameterParser
from cardsharp.server.routing import ApiRequest, ApiResponse, ErrorBody, ResponseModels, Route
from cardsharp.server.service_errors import InvalidParameter

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
_OK, _ACCEPTED, _BAD_REQUEST = HTTPStatus.OK, HTTPStatus.ACCEPTED, HTTPStatus.BAD_REQUEST
_ERROR_STATUSES = (_BAD_REQUEST, HTTPStatus.FORBIDDEN)
_MESSAGE_RESPONSE: ResponseModels = {_OK: (wire.MessageBody,)}


def _get_state(blef: BlefService, call: ApiRequest[wire_v2022.StateParamsV2022]) -> ApiResponse:
    params = call.params
    look = StateQuery(params.player_uuid, partial(_parse_round, params.round))
    return ApiResponse(
        wire_v2022.state_body(blef.get_state(params.game_uuid, look, call.remaining_wait))
    )


def _join_game(blef: BlefService, call: ApiRequest[wire_v2022.JoinParamsV2022]) -> ApiResponse:
    uuid = blef.join(call.params.game_uuid, call.params.nickname)
    return ApiResponse(wire.JoinedBody(player_uuid=uuid))


def _invite_bot(blef: BlefService, call: ApiRequest[wire_v2022.InviteParamsV2022]) -> ApiResponse:
    params = call.params
    nickname = blef.invite(params.game_uuid, params.admin_uuid, params.agent_name, call.caller)
    return ApiResponse(wire.MessageBody(message=f"{nickname} joined the game"))


def _start_game(blef: BlefService, call: ApiRequest[wire.AdminParams]) -> ApiResponse:
    blef.start(call.params.game_uuid, call.params.admin_uuid, make_private=True)
    return ApiResponse(wire.MessageBody(message="Game started"), _ACCEPTED)


def _play_action(blef: BlefService, call: ApiRequest[wire.PlayParams]) -> ApiResponse:
    params = call.params
    read = partial(_parse_action, params.action_id)
    return ApiResponse(wire_v2022.state_body(blef.play(params.game_uuid, params.player_uuid, read)))


def _set_visibility(
    blef: BlefService, call: ApiRequest[wire.AdminParams], *, public: bool
) -> ApiResponse:
    visibility = "public" if public else "private"
    changed = blef.set_visibility(call.params.game_uuid, call.params.admin_uuid, public=public)
    message = (
        f"Game made {visibility}" if changed else f"Request redundant - game already {visibility}"
    )
    return ApiResponse(wire.MessageBody(message=message))


def _parse_round(text: str | None, current_round: int) -> int | None:
    round_number = _parse_digits("round", text) if text else 0
    if round_number > current_round:
        raise InvalidParameter("round", str(round_number), "The game has not reached this round")
    return round_number or None


def _parse_action(text: str | None) -> int:
    action = _parse_digits("action_id", text)
    if action > CHECK:
        raise InvalidParameter(
            "action_id", text, f"Action ID must be an integer between 0 and {CHECK}"
        )
    return action


def _parse_digits(parameter: str, text: str | None) -> int:
    """Return the number in a text of decimal digits of any script.

    Raises `InvalidParameter` for any other text.
    """
    if text is None or not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise InvalidParameter(parameter, text, "")
    return int(text)


_CURRENT_ROUTES = {
    route.name: route for route in routes.ROUTES
}  # today's differ in what is named here
_LIST_ROUTE, _CREATE_ROUTE, _STATE_ROUTE, _JOIN_ROUTE = (
    _CURRENT_ROUTES[name] for name in ("list", "create", "state", "join")
)
_START_ROUTE, _PLAY_ROUTE = _CURRENT_ROUTES["start"], _CURRENT_ROUTES["play"]
_STATE_RESPONSE: ResponseModels = {_OK: (wire_v2022.StateBodyV2022,)}

ROUTES: tuple[Route[BlefService], ...] = (
    replace(
        _LIST_ROUTE,
        summary="The public games that have not started",
        endpoint=lambda blef, _: ApiResponse(
            wire_v2022.joinable_game_list_body(blef.store.recent_public_games())
        ),
        response_models={_OK: (wire_v2022.GameListBodyV2022,)},
    ),
    replace(_CREATE_ROUTE, error_models={}),
    replace(
        _STATE_ROUTE,
        endpoint=_get_state,
        params_model=wire_v2022.StateParamsV2022,
        response_models=_STATE_RESPONSE,
        default_error_model=ErrorBody,
        response_headers={},
    ),
    replace(
        _JOIN_ROUTE,
        endpoint=_join_game,
        params_model=wire_v2022.JoinParamsV2022,
        error_statuses=_ERROR_STATUSES,
    ),
    replace(
        _JOIN_ROUTE,
        path=f"{_STATE_ROUTE.path}/invite-aiagent",
        name="invite-aiagent",
        summary="Have a bot join a game, as its admin and before its start",
        endpoint=_invite_bot,
        params_model=wire_v2022.InviteParamsV2022,
        response_models=_MESSAGE_RESPONSE,
        error_statuses=(*_ERROR_STATUSES, HTTPStatus.TOO_MANY_REQUESTS),
    ),
    replace(
        _START_ROUTE,
        summary="Start a game, as its admin; it is private from then on",
        endpoint=_start_game,
    ),
    replace(
        _PLAY_ROUTE,
        summary="Bet or check, as the player to move; the state that follows",
        endpoint=_play_action,
        response_models=_STATE_RESPONSE,
        default_error_model=ErrorBody,
    ),
    *(
        replace(
            _CURRENT_ROUTES[f"make-{visibility}"],
            endpoint=partial(_set_visibility, public=visibility == "public"),
            response_models=_MESSAGE_RESPONSE,
            default_error_model=ErrorBody,
        )
        for visibility in ("public", "private")
    ),
)

BOT_NAMES = tuple(bot_text.partition("=")[0].strip() for bot_text in DEFAULT_BOTS.split(";"))
"""The bots that the page offers to invite; a service may have others, or none."""

_PAGE_FOLDER = Path(__file__).with_name("page")


def lobby_page() -> ApiResponse:
    """Return the page on which people play, with its style and script in it."""
    # Jinja is imported for the first page: no other response needs it.
    from jinja2 import FileSystemLoader  # noqa: PLC0415

    from cardsharp.pages.templates import (  # noqa: PLC0415
        SiteInfo,
        standalone_headers,
        standalone_page,
        template_environment,
    )

    script = _read_page_file("analysis.js") + _read_page_file("lobby.js")
    values = {
        "agents": BOT_NAMES,
        "bets": [bet.name for bet in BETS],
        "claims": [_claim_json(bet) for bet in BETS],
    }
    for name, value in values.items():
        script = script.replace(f"{{{{ {name} }}}}", json.dumps(value))
    page = standalone_page(_read_page_file("lobby.css"), script, may_connect=True)
    site = SiteInfo("Blef", matches_path=".", links=(("Play", "."), ("API", "docs")))
    template = template_environment(FileSystemLoader(_PAGE_FOLDER)).get_template("lobby.html")
    return ApiResponse(template.render(site=site, alone=page), headers=standalone_headers(page))


def _claim_json(bet: Bet) -> Mapping[str, object]:
    """Return what a bet says, for the page's analysis of a finished game."""
    return {
        "values": bet.rank_counts,
        "colours": bet.suit_counts,
        "exact": sorted((card.value, card.suit) for card in bet.cards),
    }


def _read_page_file(name: str) -> str:
    return (_PAGE_FOLDER / name).read_text(encoding="utf-8")


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
    error_table=ERRORS_V2022,
    home_page=lobby_page,
)
