"""A seat in a game of Blef as the bot attends it; all that every game shares is in cloud/attend.

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

from cardsharp import seats
from cardsharp.blef.client import BlefClient, Sighting, service_address
from cardsharp.blef.fallback import DECIDER
from cardsharp.blef.game import GAME
from cardsharp.blef.logbook import (
    SPAN,
    closes_round,
    facts_of,
    intent_body,
    outcome_body,
    rounds_of,
)
from cardsharp.blef.params import MAX_NICKNAME, NO_PLAYER, is_nickname
from cardsharp.blef.position import Position
from cardsharp.blef.records import Status
from cardsharp.blef.strategies import Strategy, build
from cardsharp.blef.wire import position_in
from cardsharp.cloud.attended import After, Facts, Sight
from cardsharp.cloud.ports import Body, Clock
from cardsharp.cloud.vault import Vault
from cardsharp.deciding import Decided
from cardsharp.errors import Garbled, Rejected, StoreError
from cardsharp.replay import UNKNOWN
from cardsharp.seats import Places, Seat, Seated, find_seat
from cardsharp.strategy import Decision

_log = logging.getLogger("cardsharp.bot")

Connect = Callable[[str], AbstractContextManager[BlefClient]]
"""A session at the service of that address."""

_OUR_FAULT = range(400, 500)

BEFORE_START = timedelta(seconds=3)  # until a game that has not started is looked at again
BREATH = timedelta(seconds=1)  # until a service that lets nobody wait is asked again


class SeatOrder(seats.SeatOrder):
    """To join this game, there, by this name: a seat, by the game's uuid and under a nickname."""

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
            raise ValueError("a nickname is a letter, then letters and digits")
        return value

    @staticmethod
    def address(url: str) -> str:
        """The service's address without its base path; raises `ConfigError` if it is none."""
        return service_address(url)


@contextmanager
def meet(connect: Connect, vault: Vault, clock: Clock, match_id: str) -> Iterator["SeatMatch"]:
    """A seat that is kept in a vault, at a service that is reached so.

    Raises `StoreError` where there is no such seat, or the vault failed, and `ConfigError` where
    its strategy does not exist.
    """
    seat = find_seat(vault, match_id)
    strategy = build(seat.strategy, Random())
    with connect(seat.url) as client:
        yield SeatMatch(match_id, seat, strategy, client, vault, clock)


@dataclass(slots=True)
class SeatMatch:
    """A game of Blef from one seat, which we take at the first look if it is not ours yet."""

    match_id: str
    seat: Seat
    strategy: Strategy
    client: BlefClient
    vault: Vault
    clock: Clock
    entered: bool = False
    version: int | None = None

    @property
    def header(self) -> Body:
        """All that is known of the seat but its secret."""
        return self.seat.header(GAME.name)

    def look(self, known: Facts) -> Sight[int]:
        """The game as it is now; joined first, where we are not in it yet."""
        return self._sight(self.now() if self.entered else self.enter(), known)

    def wait(self, known: Facts) -> Sight[int]:
        """The game when it has changed, or after a while."""
        return self._sight(self.after(self.version), known)

    def gone(self, denied: Rejected) -> Body | None:
        """The outcome where the service itself says that there is nothing for us to play.

        A 4xx stays what it is, whatever its words: the game is left, not looked at for ever.
        """
        if denied.status not in _OUR_FAULT:
            return None
        return {"result": UNKNOWN, "winner": None, "reason": denied.message}

    def now(self) -> Sighting:
        """The game as we see it where we are in it."""
        return self.client.look(self.seat.game, self.seat.secret)

    def after(self, version: int | None) -> Sighting:
        """The same when it has another version, or after a while."""
        if version is None:
            self.clock.sleep(BREATH)
        return self.client.wait(self.seat.game, self.seat.secret, version)

    def enter(self) -> Sighting:
        """The game with us in it."""
        try:
            seen = self.now()
        except Rejected as denied:
            if denied.message != NO_PLAYER:
                raise
            seen = self._join()
        self.entered = True
        return seen

    def _join(self) -> Sighting:
        kept = find_seat(self.vault, self.match_id)
        if kept.secret != self.seat.secret:  # another worker joined after we had read it
            self.seat = kept
            return self.now()
        given = self.client.join(self.seat.game, self.seat.nickname, self.seat.secret)
        if given != self.seat.secret:  # a service that lets nobody choose
            self.seat = self.seat.known_as(given)
            self.vault.replace(self.match_id, self.seat.body)
        _log.info("joined", extra={"match_id": self.match_id})
        return self.now()

    def _sight(self, seen: Sighting, known: Facts) -> Sight[int]:
        """What was seen, with the hands of the rounds that are over since the log was written."""
        self.version = seen.version
        state, nickname = seen.state, self.seat.nickname
        over = state.status is Status.FINISHED
        closed = max((at // SPAN for at, body in known.items() if closes_round(body)), default=0)
        facts: dict[int, Body] = {} if over else facts_of(state)
        for number in range(closed + 1, state.round_number + over):
            facts |= facts_of(self.client.past(self.seat.game, number))
        ours = not over and state.cp_nickname == nickname
        told = {**known, **facts}
        return Sight(
            sequence=SPAN * state.round_number + len(state.history),
            facts=facts,
            outcome=outcome_body(state, nickname) if over else None,
            turn=SeatTurn(self, _position(seen, nickname, told)) if ours else None,
            rest=BEFORE_START if state.status is Status.NOT_STARTED else None,
        )


@dataclass(frozen=True, slots=True)
class SeatTurn:
    """Our turn to bet or to check."""

    match: SeatMatch
    position: Position

    def decide(
        self, limit: timedelta, monotonic: Callable[[], float], refused: frozenset[int]
    ) -> Decided[Decision[int]]:
        """The decision of the strategy that plays this seat."""
        return DECIDER.decide(self.match.strategy, self.position, limit, monotonic, refused)

    def intent(self, decided: Decided[Decision[int]], at: datetime, worker: str) -> Body:
        """The decision, and the hand and the bets that it was made on."""
        return intent_body(self.position, decided, at, worker, self.match.seat.strategy)

    def act(self, action: int) -> After:
        """Send the action; what it led to only a look can tell."""
        self.match.client.act(self.match.seat.game, self.match.seat.secret, action)
        return After.LOOK


def _position(seen: Sighting, nickname: str, told: Facts) -> Position:
    """What the state shows to us, and the rounds before; raises `Garbled` at a contradiction."""
    position = position_in(seen.state, nickname)
    if position is None or len(position.hand) != position.n_cards[position.me or 0]:
        raise Garbled("The state does not show our own hand.")
    seats = {player.nickname: seat for seat, player in enumerate(seen.state.players)}
    try:
        return replace(position, earlier=tuple(rounds_of(told, seats).values()))
    except StoreError:  # a log that cannot be read costs no move
        return position


def _met(places: Places, match_id: str) -> AbstractContextManager[SeatMatch]:
    """A seat of ours, met within the limits of the settings."""
    settings = places.settings
    connect = partial(BlefClient, limits=settings.limits, proxy=settings.proxy)
    return meet(connect, places.vault, places.offering.clock, match_id)


BLEF = Seated(GAME.name, SeatOrder, _met)
attend, order = BLEF.attend, BLEF.order
