"""The API's paths in one table, from which both the answers and the document are made."""

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from cardsharp.games.blef.actions import CHECK
from cardsharp.games.blef.service import request_params, wire
from cardsharp.games.blef.service.error_tables import ERRORS
from cardsharp.games.blef.service.service import BlefService, StateQuery
from cardsharp.server.api import Api
from cardsharp.server.routing import ApiRequest, ApiResponse, ResponseModels, Route
from cardsharp.server.service_errors import InvalidParameter

API_VERSION = (
    "2.3.0"  # the version of the API that is spoken; clients check that it has three parts
)
_GAME_PATH = "/games/{game_uuid}"
_OK, _ACCEPTED = HTTPStatus.OK, HTTPStatus.ACCEPTED
_ERROR_STATUSES = (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN)

_INTRODUCTION = """\
Create, join and play games of Blef. Every change can be requested by GET, as old clients do, and by
POST. POST takes the same parameters in the query string, as a JSON object or as a form. Prefer
POST: a uuid in a body appears in no browser history and no log. An empty parameter counts as
missing, and a repeated one is rejected. Responses must not be cached. Uuids may be in upper or
lower case."""


def _get_version(_blef: BlefService, _call: ApiRequest[BaseModel]) -> ApiResponse:
    return ApiResponse(wire.VersionBody(version=API_VERSION))


def _list_games(blef: BlefService, _call: ApiRequest[BaseModel]) -> ApiResponse:
    games = [
        wire.ListedGameBody(uuid=game.uuid, players=list(game.nicknames), started=game.is_started)
        for game in blef.store.recent_public_games()
    ]
    return ApiResponse(wire.GameListBody(games))


def _count_active_games(blef: BlefService, _call: ApiRequest[BaseModel]) -> ApiResponse:
    return ApiResponse(
        wire.ActiveGameCountBody(active_games=blef.store.count_recently_changed_games())
    )


def _get_state(blef: BlefService, call: ApiRequest[wire.StateParams]) -> ApiResponse:
    params = call.params
    look = StateQuery(
        params.player_uuid,
        partial(parse_optional_round_number, params.round),
        params.wait,
        params.since,
    )
    sight = blef.get_state(params.game_uuid, look, call.remaining_wait)
    body = wire.state_body(sight.game, sight.position)
    return ApiResponse(body, headers={wire.VERSION_HEADER: str(sight.version)})


def _join_game(blef: BlefService, call: ApiRequest[wire.BlefJoinParams]) -> ApiResponse:
    params = call.params
    uuid = blef.join(params.game_uuid, params.nickname, params.player_uuid)
    return ApiResponse(wire.JoinedBody(player_uuid=uuid))


def _start_game(blef: BlefService, call: ApiRequest[wire.AdminParams]) -> ApiResponse:
    blef.start(call.params.game_uuid, call.params.admin_uuid)
    return ApiResponse(wire.MessageBody(message="Game started"), _ACCEPTED)


def _play_action(blef: BlefService, call: ApiRequest[wire.PlayParams]) -> ApiResponse:
    params = call.params
    blef.play(params.game_uuid, params.player_uuid, partial(_parse_action, params.action_id))
    return ApiResponse(wire.DoneBody())


def parse_optional_round_number(text: str | None, current_round: int) -> int | None:
    """Parse the number of the requested round; return None if there is none, or for -1.

    None and -1 stand for the current round. Raises `InvalidParameter` for an invalid
    number and for one above `current_round`.
    """
    if text is None:
        return None
    round_number = request_params.parse_lenient_number(text)
    if round_number is not None and round_number > current_round:
        raise InvalidParameter("round", text, "The game has not reached this round")
    if (
        round_number is None
        or round_number < -1
        or round_number == 0
        or not round_number.is_integer()
    ):
        raise InvalidParameter(
            "round",
            text,
            "The round parameter is invalid - must be an integer between 1 and the current "
            "round, or -1, or blank",
        )
    return None if round_number < 0 else int(round_number)


def _parse_action(text: str | None) -> int:
    if text is None:
        raise InvalidParameter("action_id", text, "Action ID missing - please supply it")
    action = request_params.parse_integer_or_none(text)
    if action is None or not 0 <= action <= CHECK:
        raise InvalidParameter(
            "action_id", text, f"Action ID must be an integer between 0 and {CHECK}"
        )
    return action


def _set_visibility(
    blef: BlefService, call: ApiRequest[wire.AdminParams], *, public: bool
) -> ApiResponse:
    visibility = "public" if public else "private"
    if blef.set_visibility(call.params.game_uuid, call.params.admin_uuid, public=public):
        return ApiResponse(wire.MessageBody(message=f"Game made {visibility}"))
    message = f"Request redundant - game already {visibility}"
    return ApiResponse(wire.AlreadyDoneBody(error=message, message=message))


def _build_read_route(
    name: str,
    path: str,
    summary: str,
    act: Callable[[BlefService, ApiRequest[Any]], ApiResponse],
    body: type[BaseModel],
) -> Route[BlefService]:
    """Return a GET route without parameters that changes nothing."""
    response_models: ResponseModels = {_OK: (body,)}
    return Route(
        methods=("GET",),
        path=path,
        name=name,
        summary=summary,
        endpoint=act,
        response_models=response_models,
    )


_CHANGE_METHODS = ("GET", "POST")  # what a path that changes something is there for


def _build_visibility_route(summary: str, *, public: bool) -> Route[BlefService]:
    visibility = "public" if public else "private"
    return Route(
        methods=_CHANGE_METHODS,
        path=f"{_GAME_PATH}/make-{visibility}",
        name=f"make-{visibility}",
        summary=f"{summary}, as its admin and before its start",
        endpoint=partial(_set_visibility, public=public),
        params_model=wire.AdminParams,
        response_models={_OK: (wire.MessageBody, wire.AlreadyDoneBody)},
        error_statuses=_ERROR_STATUSES,
        default_error_model=wire.ErrorsBody,
    )


_VERSION_HEADER_SCHEMA: Mapping[str, object] = {
    "description": "Version of the game: the number of its changes.",
    "schema": {"type": "integer"},
}

ROUTES: tuple[Route[BlefService], ...] = (
    _build_read_route(
        "version", "/version", "The version of this API", _get_version, wire.VersionBody
    ),
    _build_read_route("list", "/games", "The public games", _list_games, wire.GameListBody),
    _build_read_route(
        "active", "/games/active", "Numbers of games", _count_active_games, wire.ActiveGameCountBody
    ),
    Route(
        methods=_CHANGE_METHODS,
        path="/games/create",
        name="create",
        summary="Create a private game without players",
        endpoint=lambda blef, call: ApiResponse(
            wire.CreatedBody(game_uuid=blef.create(call.caller))
        ),
        response_models={_OK: (wire.CreatedBody,)},
        error_statuses=(HTTPStatus.TOO_MANY_REQUESTS,),
        error_models={HTTPStatus.TOO_MANY_REQUESTS: wire.TooManyGamesBody},
    ),
    Route(
        methods=("GET",),
        path=_GAME_PATH,
        name="state",
        summary="A game or one of its past rounds, with the hands that you may see",
        endpoint=_get_state,
        params_model=wire.StateParams,
        response_models={_OK: (wire.StateBody,)},
        error_statuses=(HTTPStatus.BAD_REQUEST,),
        default_error_model=wire.ErrorsBody,
        response_headers={wire.VERSION_HEADER: _VERSION_HEADER_SCHEMA},
    ),
    Route(
        methods=_CHANGE_METHODS,
        path=f"{_GAME_PATH}/join",
        name="join",
        summary="Join a game that has not started",
        endpoint=_join_game,
        params_model=wire.BlefJoinParams,
        response_models={_OK: (wire.JoinedBody,)},
        error_statuses=(*_ERROR_STATUSES, HTTPStatus.CONFLICT),
    ),
    Route(
        methods=_CHANGE_METHODS,
        path=f"{_GAME_PATH}/start",
        name="start",
        summary="Start a game, as its admin",
        endpoint=_start_game,
        params_model=wire.AdminParams,
        response_models={_ACCEPTED: (wire.MessageBody,)},
        error_statuses=_ERROR_STATUSES,
    ),
    Route(
        methods=_CHANGE_METHODS,
        path=f"{_GAME_PATH}/play",
        name="play",
        summary="Bet or check, as the player to move",
        endpoint=_play_action,
        params_model=wire.PlayParams,
        response_models={_OK: (wire.DoneBody,)},
        error_statuses=(HTTPStatus.BAD_REQUEST,),
        default_error_model=wire.ErrorsBody,
    ),
    _build_visibility_route("Show a game in the list", public=True),
    _build_visibility_route("Hide a game from the list", public=False),
)

API = Api(
    schema_names={
        "ActiveGameCountBody": "ActiveBody",
        "TooManyGamesBody": "FullBody",
        "GameListBody": "ListBody",
        "ListedGameBody": "ListedBody",
        "AlreadyDoneBody": "RedundantBody",
        "GameStatus": "Status",
    },
    title="Blef",
    version=API_VERSION,
    description=_INTRODUCTION,
    base_path=wire.BASE_PATH,
    routes=ROUTES,
    error_table=ERRORS,
)
