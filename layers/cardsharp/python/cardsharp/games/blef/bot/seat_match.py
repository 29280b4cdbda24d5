"""Bot match of a seat in a game of Blef; the parts common to all games are in `cardsharp.bot`.

The seat is played from what the service says and nothing else.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from random import Random
from uuid import UUID

from pydantic import Field, field_validator

from cardsharp.analysis.replay import UNKNOWN
from cardsharp.bot import service_seats
from cardsharp.bot.bot_match import MoveFacts, NextRead, Observation
from cardsharp.bot.service_seats import SeatDependencies, SeatTakingBot, ServiceSeat, find_seat
from cardsharp.core.clock import Clock
from cardsharp.errors import MalformedResponse, RequestRejected, StoreError
from cardsharp.games.blef.bot.client import BlefClient, GameSnapshot, normalize_service_address
from cardsharp.games.blef.fallback import DECISION_RUNNER
from cardsharp.games.blef.game import GAME
from cardsharp.games.blef.history.log_records import (
    SEQUENCES_PER_ROUND,
    closed_rounds_by_number,
    intent_body,
    marks_round_loser,
    move_facts_from_state,
    outcome_body,
    summarize_facts,
)
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.service.records import GameStatus
from cardsharp.games.blef.service.request_params import MAX_NICKNAME, NO_PLAYER, is_nickname
from cardsharp.games.blef.service.wire import position_from_state
from cardsharp.games.blef.strategies import Strategy, build
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import Body
from cardsharp.store.secret_vault import SecretVault

_log = logging.getLogger("cardsharp.bot")

OpenClient = Callable[[str], AbstractContextManager[BlefClient]]
"""A session at the service of that address."""

_CLIENT_ERROR_STATUSES = range(400, 500)

START_DELAY = timedelta(seconds=3)  # until a game that has not started is looked at again
SERVICE_POLL_INTERVAL = timedelta(seconds=1)  # until a service that lets nobody wait is asked again


class BlefJoinGameOrder(service_seats.JoinGameOrder):
    """Order to join a game at a service: the game's uuid, and the nickname of the seat."""

    nickname: str = Field(max_length=MAX_NICKNAME)
    strategy: str = GAME.default_strategy

    @field_validator("game")
    @classmethod
    def _check_game(cls, value: str) -> str:
        try:
            return str(UUID(value))
        except ValueError:
            raise ValueError("a game has a uuid; check it") from None

    @field_validator("nickname")
    @classmethod
    def _check_nickname(cls, value: str) -> str:
        if not is_nickname(value):
            raise ValueError("a nickname is a letter, then letters, digits and underscores")
        return value

    @staticmethod
    def normalize_address(url: str) -> str:
        """Return the service's address without its base path; raise `ConfigError` if it is none."""
        return normalize_service_address(url)


@contextmanager
def open_match(
    connect: OpenClient, vault: SecretVault, clock: Clock, match_id: str
) -> Iterator["BlefBotMatch"]:
    """Open the match of a seat that is stored in a vault, at the service of its address.

    Raises `StoreError` if the seat does not exist or the vault failed, and `ConfigError` if its
    strategy does not exist.
    """
    seat = find_seat(vault, match_id)
    strategy = build(seat.strategy, Random())
    with connect(seat.url) as client:
        yield BlefBotMatch(match_id, seat, strategy, client, vault, clock)


@dataclass(slots=True)
class BlefBotMatch:
    """A game of Blef from one seat; the first observation joins it if we have not joined."""

    match_id: str
    seat: ServiceSeat
    strategy: Strategy
    client: BlefClient
    vault: SecretVault
    clock: Clock
    has_joined: bool = False
    version: int | None = None

    @property
    def header(self) -> Body:
        """Header of the match in the log: everything about the seat but its secret."""
        return self.seat.match_header(GAME.name)

    def observe(self, recorded_facts: MoveFacts) -> Observation[int]:
        """Return an observation of the current game; join it first if we have not joined."""
        return self._build_observation(
            self.current_state() if self.has_joined else self.join(), recorded_facts
        )

    def wait_for_change(self, recorded_facts: MoveFacts) -> Observation[int]:
        """Observe the game once it has changed, or after a time limit."""
        return self._build_observation(self.wait_for_state(self.version), recorded_facts)

    def outcome_if_missing(self, error: RequestRejected) -> Body | None:
        """Return the outcome if the service itself says that there is nothing for us to play.

        A 4xx response stays the same, whatever its text: the game is given up, not polled for
        ever.
        """
        if error.status not in _CLIENT_ERROR_STATUSES:
            return None
        return {"result": UNKNOWN, "winner": None, "reason": error.message}

    def current_state(self) -> GameSnapshot:
        """Return the current game as our player sees it."""
        return self.client.get_state(self.seat.game, self.seat.secret)

    def wait_for_state(self, version: int | None) -> GameSnapshot:
        """Return the game once its version is not `version`, or after a time limit."""
        if version is None:
            self.clock.sleep(SERVICE_POLL_INTERVAL)
        return self.client.wait_for_state(self.seat.game, self.seat.secret, version)

    def join(self) -> GameSnapshot:
        """Join the game unless we have joined already; return it as our player sees it."""
        try:
            snapshot = self.current_state()
        except RequestRejected as denied:
            if denied.message != NO_PLAYER:
                raise
            snapshot = self._join_game()
        self.has_joined = True
        return snapshot

    def _join_game(self) -> GameSnapshot:
        stored_seat = find_seat(self.vault, self.match_id)
        if stored_seat.secret != self.seat.secret:  # another worker joined after we had read it
            self.seat = stored_seat
            return self.current_state()
        assigned_uuid = self.client.join(self.seat.game, self.seat.nickname, self.seat.secret)
        if assigned_uuid != self.seat.secret:  # a service that lets nobody choose
            self.seat = self.seat.with_secret(assigned_uuid)
            self.vault.replace(self.match_id, self.seat.vault_record)
        _log.info("joined", extra={"match_id": self.match_id})
        return self.current_state()

    def _build_observation(
        self, snapshot: GameSnapshot, recorded_facts: MoveFacts
    ) -> Observation[int]:
        """Build an observation, with the hands of rounds that ended since the last log entry."""
        self.version = snapshot.version
        state, nickname = snapshot.state, self.seat.nickname
        over = state.status is GameStatus.FINISHED
        closed = max(
            (
                at // SEQUENCES_PER_ROUND
                for at, body in recorded_facts.items()
                if marks_round_loser(body)
            ),
            default=0,
        )
        facts: dict[int, Body] = {} if over else move_facts_from_state(state)
        for round_number in range(closed + 1, state.round_number + over):
            facts |= move_facts_from_state(self.client.get_round(self.seat.game, round_number))
        is_our_turn = not over and state.cp_nickname == nickname
        all_facts = {**recorded_facts, **facts}
        return Observation(
            next_sequence=SEQUENCES_PER_ROUND * state.round_number + len(state.history),
            facts=facts,
            summaries=summarize_facts(facts),
            outcome=outcome_body(state, nickname) if over else None,
            turn=BlefBotTurn(self, _build_position(snapshot, nickname, all_facts))
            if is_our_turn
            else None,
            park_for=START_DELAY if state.status is GameStatus.NOT_STARTED else None,
        )


@dataclass(frozen=True, slots=True)
class BlefBotTurn:
    """Our turn to bet or to check."""

    match: BlefBotMatch
    position: BlefPosition

    def decide(
        self, timeout: timedelta, monotonic: Callable[[], float], rejected_actions: frozenset[int]
    ) -> DecisionResult[Decision[int]]:
        """The decision of the strategy that plays this seat."""
        return DECISION_RUNNER.decide(
            self.match.strategy, self.position, timeout, monotonic, rejected_actions
        )

    def intent_body(
        self, decision_result: DecisionResult[Decision[int]], decided_at: datetime, worker_id: str
    ) -> Body:
        """The decision, and the hand and the bets that it was made on."""
        return intent_body(
            self.position, decision_result, decided_at, worker_id, self.match.seat.strategy
        )

    def send(self, action: int) -> NextRead:
        """Send the action; only the next read shows its result."""
        self.match.client.play_action(self.match.seat.game, self.match.seat.secret, action)
        return NextRead.READ_IMMEDIATELY


def _build_position(snapshot: GameSnapshot, nickname: str, facts: MoveFacts) -> BlefPosition:
    """Build our position, with earlier rounds.

    Raises `MalformedResponse` if the state contradicts itself.
    """
    position = position_from_state(snapshot.state, nickname)
    if position is None or len(position.hand) != position.card_counts[position.seat or 0]:
        raise MalformedResponse("The state does not show our own hand.")
    seats = {player.nickname: seat for seat, player in enumerate(snapshot.state.players)}
    try:
        return replace(
            position, earlier_rounds=tuple(closed_rounds_by_number(facts, seats).values())
        )
    except StoreError:  # a log that cannot be read costs no move
        return position


def _open_seat_match(
    dependencies: SeatDependencies, match_id: str
) -> AbstractContextManager[BlefBotMatch]:
    """Open the match of one of our seats, within the limits of the settings."""
    settings = dependencies.settings
    connect = partial(BlefClient, limits=settings.request_limits, proxy=settings.proxy)
    return open_match(connect, dependencies.vault, dependencies.dispatcher.clock, match_id)


SEAT_BOT = SeatTakingBot(GAME.name, BlefJoinGameOrder, _open_seat_match)
attend, order = SEAT_BOT.run_session, SEAT_BOT.place_order
