"""Use cases of a hosted game: create a game, join it, read it, wait for it, act.

They reject a request with a `ServiceError`; `routes.py` maps each to a status and a text.
"""

import secrets
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from cardsharp.core.clock import Clock, RemainingTime
from cardsharp.errors import ConfigError, MalformedResponse, RulesError
from cardsharp.server.hosted import wire
from cardsharp.server.hosted.game_store import (
    HostedGameRecord,
    HostedGameStore,
    HostedMove,
    Json,
)
from cardsharp.server.hosted.hosted_game import HostedGame
from cardsharp.server.hosted.wire import HostedGameBody, HostedPastMoveBody
from cardsharp.server.polling import poll_until
from cardsharp.server.seat_secrets import secret_digest
from cardsharp.server.service_errors import (
    GameFull,
    GameNotFound,
    InvalidParameter,
    OutOfTurn,
    PlayerNotInGame,
    QuotaExceeded,
    ServiceError,
)
from cardsharp.server.write_retries import retry_on_conflict

MAX_GAMES_PER_DAY = 200  # games that one caller may create on a day
MAX_HOSTED_WRITE_ATTEMPTS = 5  # of a request while others change the same game
_SYSTEM_RNG = secrets.SystemRandom()  # random numbers that nobody can predict


class NameOrSecretTaken(ServiceError):
    """Another player of the game has the name or the secret."""

    text = "The name or the secret is already taken. Choose another one."


@dataclass(frozen=True, slots=True)
class HostedService:
    """The service of one game.

    Every method may raise `ServiceError`, and one that changes a game also `WriteConflict` if
    other requests change it at every attempt.
    """

    hosted_game: HostedGame
    store: HostedGameStore
    clock: Clock

    def create(self, params: wire.CreateGameParams, caller: str | None = None) -> str:
        """Begin a game and return its id; this machine may create as many as it likes."""
        try:
            rules = self.hosted_game.build_rules(params.seats)
        except ConfigError as error:
            raise InvalidParameter("seats", params.seats, str(error)) from None
        if caller is not None and not self.store.count_creation_if_allowed(
            caller, MAX_GAMES_PER_DAY
        ):
            raise QuotaExceeded(
                f"A client may create {MAX_GAMES_PER_DAY} games a day. Retry tomorrow."
            )
        state = self.hosted_game.json_codecs.states.dump(rules.initial_state(_SYSTEM_RNG))
        table = HostedGameRecord(uuid4().hex, rules.seats, state, state)
        self.store.write(table)
        return table.game

    @retry_on_conflict(MAX_HOSTED_WRITE_ATTEMPTS)
    def join(self, params: wire.JoinGameParams) -> None:
        """Take a seat; the same request again changes nothing."""
        table, player = self._require_game(params.game), (params.name, secret_digest(params.secret))
        if player in table.players:
            return
        if len(table.players) == table.seats:
            raise GameFull
        if params.name in table.names or table.seat_of(params.secret) is not None:
            raise NameOrSecretTaken
        self.store.write(replace(table, players=(*table.players, player)))

    @retry_on_conflict(MAX_HOSTED_WRITE_ATTEMPTS)
    def act(self, params: wire.ActParams) -> None:
        """Apply the action if it is the game's next move and the player's turn."""
        table = self._require_game(params.game)
        rules, codec = self.hosted_game.build_rules(table.seats), self.hosted_game.json_codecs
        seat, state = table.seat_of(params.secret), codec.states.load(table.state)
        if seat is None:
            raise PlayerNotInGame("secret", params.secret)
        full = len(table.players) == table.seats
        if not full or params.number != table.move_count or rules.current_seat(state) != seat:
            raise OutOfTurn
        try:
            action = codec.actions.load(params.action)
            next_state = codec.states.dump(rules.apply_action(state, action, _SYSTEM_RNG))
        except (MalformedResponse, RulesError) as error:
            raise InvalidParameter("action", params.action, str(error)) from None
        updated = replace(table, state=next_state, move_count=table.move_count + 1)
        self.store.write(updated, HostedMove(seat, codec.actions.dump(action), next_state))

    def get_game(self, params: wire.GetGameParams, remaining_wait: RemainingTime) -> HostedGameBody:
        """Return a game as the client may see it.

        With `wait` the response is delayed until there are more moves or it is the client's
        turn, for `remaining_wait` at most.
        """
        table = self._require_game(params.game)
        viewer = table.seat_of(params.secret)
        if params.wait:
            table = poll_until(
                table,
                lambda current: not self._is_unchanged(current, params.known, viewer),
                lambda: self._require_game(params.game),
                self.clock,
                remaining_wait,
            )
        return self._build_game_body(table, viewer, params.known)

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
            raise GameNotFound("game", game)
        return table
