"""HTTP API of a hosted game: create a game, join it, read it, wait for it, act.

`build_api` returns its routes, from which the OpenAPI document is generated.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from cardsharp.core.clock import SystemClock
from cardsharp.server.api import Api
from cardsharp.server.api_application import build_application
from cardsharp.server.error_table import ErrorFormat, ErrorTable
from cardsharp.server.hosted import wire
from cardsharp.server.hosted.game_store import HostedGameStore
from cardsharp.server.hosted.hosted_game import HostedGame, load_hosted_game
from cardsharp.server.hosted.service import HostedService, NameOrSecretTaken
from cardsharp.server.http_service import HttpService, ServiceApplication
from cardsharp.server.request_parsing import QueryOrJsonParser
from cardsharp.server.retention import read_retention
from cardsharp.server.routing import ApiRequest, ApiResponse, Route
from cardsharp.server.service_errors import (
    GameFull,
    GameNotFound,
    InvalidParameter,
    OutOfTurn,
    PlayerNotInGame,
    QuotaExceeded,
)
from cardsharp.store.factories import StoreFactory

ERRORS: ErrorTable = {
    InvalidParameter: ErrorFormat(HTTPStatus.BAD_REQUEST),
    GameNotFound: ErrorFormat(HTTPStatus.NOT_FOUND, wire.NO_GAME),
    PlayerNotInGame: ErrorFormat(HTTPStatus.FORBIDDEN, wire.NO_PLAYER),
    GameFull: ErrorFormat(HTTPStatus.FORBIDDEN, wire.GAME_FULL),
    NameOrSecretTaken: ErrorFormat(HTTPStatus.FORBIDDEN),
    OutOfTurn: ErrorFormat(HTTPStatus.CONFLICT, wire.NOT_YOUR_TURN),
    QuotaExceeded: ErrorFormat(HTTPStatus.TOO_MANY_REQUESTS),
}
"""Errors of the use cases as the API answers them."""


def _create_game(service: HostedService, request: ApiRequest[wire.CreateGameParams]) -> ApiResponse:
    game = service.create(request.params, request.caller)
    return ApiResponse(wire.HostedGameCreatedBody(game=game))


def _join_game(service: HostedService, request: ApiRequest[wire.JoinGameParams]) -> ApiResponse:
    service.join(request.params)
    return ApiResponse(wire.HostedDoneBody())


def _play_action(service: HostedService, request: ApiRequest[wire.ActParams]) -> ApiResponse:
    service.act(request.params)
    return ApiResponse(wire.HostedDoneBody())


def _get_game(service: HostedService, request: ApiRequest[wire.GetGameParams]) -> ApiResponse:
    return ApiResponse(service.get_game(request.params, request.remaining_wait))


_DEFAULT_RETENTION_DAYS = 30

_ERROR_STATUSES = (403, 404, 409, 429)


def hosted_http_service(package: str) -> HttpService:
    """Return the HTTP service of the game in a package."""
    game = load_hosted_game(package)
    store = StoreFactory(HostedGameStore, f"{game.game.name.upper()}_STORE")

    api = build_api(game)

    def build(environment: Mapping[str, str]) -> ServiceApplication:
        clock = SystemClock()
        tables = store.open(environment.get(store.setting_name, ""), clock)
        life = read_retention(environment, _DEFAULT_RETENTION_DAYS)
        service = HostedService(game, replace(tables, ttl=life), clock)
        return ServiceApplication(build_application((api,), service))

    return HttpService(api=api, store_setting=store.setting_name, build=build)


def build_api(game: HostedGame) -> Api[HostedService]:
    """Return the API of a game."""
    return Api(
        schema_names={
            "HostedGameCreatedBody": "CreatedBody",
            "HostedDoneBody": "DoneBody",
            "HostedPastMoveBody": "MoveBody",
            "HostedGameBody": "GameBody",
            "CreateGameParams": "CreateAsked",
            "GetGameParams": "LookAsked",
            "JoinGameParams": "JoinAsked",
            "ActParams": "ActAsked",
        },
        title=game.game.title,
        version="1.0.0",
        description=f"Create, join and play games of {game.game.title}.",
        request_parser=QueryOrJsonParser(),
        error_table=ERRORS,
        routes=tuple(
            Route(
                methods=(method,),
                path=f"/{name}",
                name=name,
                summary=summary,
                endpoint=act,
                params_model=request,
                response_models={HTTPStatus.OK: (body,)},
                error_statuses=_ERROR_STATUSES,
            )
            for method, name, summary, act, request, body in _ROUTES
        ),
    )


_Handler = Callable[[HostedService, ApiRequest[Any]], ApiResponse]
_ROUTES: tuple[
    tuple[str, str, str, _Handler, type[wire.HostedMessageBase], type[wire.HostedMessageBase]], ...
] = (
    (
        "POST",
        "create",
        "Create a game",
        _create_game,
        wire.CreateGameParams,
        wire.HostedGameCreatedBody,
    ),
    (
        "GET",
        "game",
        "Read a game as its player or spectator sees it",
        _get_game,
        wire.GetGameParams,
        wire.HostedGameBody,
    ),
    ("POST", "join", "Take a seat", _join_game, wire.JoinGameParams, wire.HostedDoneBody),
    ("POST", "act", "Play an action", _play_action, wire.ActParams, wire.HostedDoneBody),
)
