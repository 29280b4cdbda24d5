"""Service of a hosted game: create a game, join it, read it, wait for it, act.

`build_api` returns its routes, from which the OpenAPI document is generated.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from cardsharp.core.clock import Clock, SystemClock
from cardsharp.errors import ConfigError, MalformedResponse, RulesError
from cardsharp.server.api import Api
from cardsharp.server.api_application import build_application
from cardsharp.server.hosted import wire
from cardsharp.server.hosted.game_store import (
    HostedGameRecord,
    HostedGameStore,
    HostedMove,
    Json,
)
from cardsharp.server.hosted.hosted_game import HostedGame, load_hosted_game
from cardsharp.server.hosted.wire import HostedGameBody, HostedPastMoveBody
from cardsharp.server.http_service import HttpService, ServiceApplication
from cardsharp.server.polling import poll_until
from cardsharp.server.request_parsing import QueryOrJsonParser
from cardsharp.server.retention import read_retention
from cardsharp.server.routing import (
    ApiRequest,
    ApiResponse,
    HttpError,
    Route,
    bad_request,
    forbidden,
)
from cardsharp.server.seat_secrets import secret_digest
from cardsharp.server.write_retries import retry_on_conflict
from cardsharp.store.factories import StoreFactory

MAX_GAMES_PER_DAY = 200  # games that one caller may create on a day
MAX_HOSTED_WRITE_ATTEMPTS = 5  # of a request while others change the same game
_SYSTEM_RNG = secrets.SystemRandom()  # random numbers that nobody can predict


@dataclass(frozen=True, slots=True)
class HostedService:
    """The service of one game; every method may raise `HttpError`."""

    hosted_game: HostedGame
    store: HostedGameStore
    clock: Clock

    def create(self, request: ApiRequest[wire.CreateGameParams]) -> ApiResponse:
        """Begin a game; this machine may create as many as it likes."""
        try:
            rules = self.hosted_game.build_rules(request.params.seats)
        except ConfigError as error:
            raise bad_request(str(error)) from None
        if request.caller is not None and not self.store.count_creation_if_allowed(
            request.caller, MAX_GAMES_PER_DAY
        ):
            raise HttpError(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"A client may create {MAX_GAMES_PER_DAY} games a day. Retry tomorrow.",
            )
        state = self.hosted_game.json_codecs.states.dump(rules.initial_state(_SYSTEM_RNG))
        table = HostedGameRecord(uuid4().hex, rules.seats, state, state)
        self.store.write(table)
        return ApiResponse(wire.HostedGameCreatedBody(game=table.game))

    @retry_on_conflict(MAX_HOSTED_WRITE_ATTEMPTS)
    def join(self, request: ApiRequest[wire.JoinGameParams]) -> ApiResponse:
        """Take a seat; the same request again changes nothing."""
        params = request.params
        table, player = self._require_game(params.game), (params.name, secret_digest(params.secret))
        if player in table.players:
            return ApiResponse(wire.HostedDoneBody())
        if len(table.players) == table.seats:
            raise forbidden(wire.GAME_FULL)
        if params.name in table.names or table.seat_of(params.secret) is not None:
            raise forbidden("The name or the secret is already taken. Choose another one.")
        return self._store_game(replace(table, players=(*table.players, player)))

    @retry_on_conflict(MAX_HOSTED_WRITE_ATTEMPTS)
    def act(self, request: ApiRequest[wire.ActParams]) -> ApiResponse:
        """Apply the action if it is the game's next move and the player's turn."""
        table = self._require_game(request.params.game)
        rules, codec = self.hosted_game.build_rules(table.seats), self.hosted_game.json_codecs
        seat, state = table.seat_of(request.params.secret), codec.states.load(table.state)
        if seat is None:
            raise forbidden(wire.NO_PLAYER)
        full = len(table.players) == table.seats
        if (
            not full
            or request.params.number != table.move_count
            or rules.current_seat(state) != seat
        ):
            raise HttpError(HTTPStatus.CONFLICT, wire.NOT_YOUR_TURN)
        try:
            action = codec.actions.load(request.params.action)
            next_state = codec.states.dump(rules.apply_action(state, action, _SYSTEM_RNG))
        except (MalformedResponse, RulesError) as error:
            raise bad_request(str(error)) from None
        updated = replace(table, state=next_state, move_count=table.move_count + 1)
        return self._store_game(updated, HostedMove(seat, codec.actions.dump(action), next_state))

    def get_game(self, request: ApiRequest[wire.GetGameParams]) -> ApiResponse:
        """Return a game as the client may see it.

        With `wait` the response is delayed until there are more moves or it is the client's
        turn.
        """
        params = request.params
        table = self._require_game(params.game)
        viewer = table.seat_of(params.secret)
        if params.wait:
            table = poll_until(
                table,
                lambda current: not self._is_unchanged(current, params.known, viewer),
                lambda: self._require_game(params.game),
                self.clock,
                request.remaining_wait,
            )
        return ApiResponse(self._build_game_body(table, viewer, params.known))

    def _is_unchanged(self, record: HostedGameRecord, since_move: int, viewer: int | None) -> bool:
        """Return True if a game has nothing new for a client that has `since_move` moves."""
        turn = self._find_turn_seat(record)
        waits = turn is not None or len(record.players) < record.seats
        return waits and record.move_count <= since_move and (turn is None or turn != viewer)

    def _find_turn_seat(self, record: HostedGameRecord) -> int | None:
        """Return the seat to act, None until all players have joined and after the end."""
        if len(record.players) < record.seats:
            return None
        state = self.hosted_game.json_codecs.states.load(record.state)
        return self.hosted_game.build_rules(record.seats).current_seat(state)

    def _build_game_body(
        self, record: HostedGameRecord, viewer: int | None, since_move: int
    ) -> HostedGameBody:
        rules, codec = self.hosted_game.build_rules(record.seats), self.hosted_game.json_codecs
        state, turn = codec.states.load(record.state), self._find_turn_seat(record)
        is_over = rules.current_seat(state) is None

        def position_body(body: Json, seat: int | None) -> Any:  # noqa: ANN401 - the game's own
            """Return a seat's position; None for a spectator if the game hides information."""
            if seat is None and rules.has_hidden_information:
                return None
            return codec.positions.dump(rules.position_for(codec.states.load(body), seat or 0))

        return HostedGameBody(
            seats=record.seats,
            names=record.names,
            count=record.move_count,
            moves=[
                HostedPastMoveBody(
                    seat=move.seat,
                    player=record.names[move.seat],
                    action=move.action,
                    words=str(codec.actions.load(move.action)),
                    seen=position_body(previous_state, move.seat)
                    if viewer == move.seat or not rules.has_hidden_information
                    else None,
                    left=position_body(move.state, viewer),
                )
                for previous_state, move in self._list_moves(record, since_move)
            ],
            turn=turn,
            position=position_body(record.state, viewer),
            options=[
                codec.actions.dump(action)
                for action in (
                    rules.legal_actions(state) if turn is not None and turn == viewer else ()
                )
            ],
            gains=list(rules.returns(state)) if is_over else None,
            shown=[
                position_body(previous_state, move.seat)
                for previous_state, move in self._list_moves(record, 0)
            ]
            if is_over
            else None,
        )

    def _list_moves(
        self, record: HostedGameRecord, since_move: int
    ) -> list[tuple[Json, HostedMove]]:
        """Return the moves from `since_move` on, each with the state in which it was made."""
        moves = self.store.moves(record.game, max(since_move - 1, 0))[: record.move_count]
        states = [move.state for move in moves]
        if since_move:
            return list(zip(states, moves[1:], strict=False))
        return list(zip([record.initial_state, *states], moves, strict=False))

    def _require_game(self, game: str) -> HostedGameRecord:
        table = self.store.find(game)
        if table is None:
            raise HttpError(HTTPStatus.NOT_FOUND, wire.NO_GAME)
        return table

    def _store_game(self, record: HostedGameRecord, move: HostedMove | None = None) -> ApiResponse:
        self.store.write(record, move)
        return ApiResponse(wire.HostedDoneBody())


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
        HostedService.create,
        wire.CreateGameParams,
        wire.HostedGameCreatedBody,
    ),
    (
        "GET",
        "game",
        "Read a game as its player or spectator sees it",
        HostedService.get_game,
        wire.GetGameParams,
        wire.HostedGameBody,
    ),
    ("POST", "join", "Take a seat", HostedService.join, wire.JoinGameParams, wire.HostedDoneBody),
    ("POST", "act", "Play an action", HostedService.act, wire.ActParams, wire.HostedDoneBody),
)
