"""A seat in a game of Nim as the bot attends it; all that every game shares is in cloud/attend."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from cardsharp.cloud.attended import After, Facts, Meet, Sight
from cardsharp.cloud.ports import Body, Clock
from cardsharp.deciding import Decided
from cardsharp.errors import Rejected
from cardsharp.seats import Places, Seat, find_seat
from cardsharp.strategy import Decision, Strategy
from nim.client import NimClient
from nim.fallback import decide
from nim.game import GAME
from nim.logbook import facts_of, intent_of, outcome_of
from nim.position import Position
from nim.rules import Action
from nim.strategies import build
from nim.wire import FULL, NO_GAME, GameBody

PACE = timedelta(milliseconds=50)
"""How long a service is left alone between two looks, for it has no long poll."""


def meeting(places: Places) -> Meet:
    """How our seats are met, within the limits of the settings."""

    @contextmanager
    def meet(match_id: str) -> Iterator[SeatMatch]:
        seat = find_seat(places.vault, match_id)
        strategy = build(seat.strategy, Random())
        with NimClient(seat.url, places.limits) as client:
            yield SeatMatch(seat, strategy, client, places.offering.clock)

    return meet


@dataclass(frozen=True, slots=True)
class SeatMatch:
    """A game from one seat."""

    seat: Seat
    strategy: Strategy[Position, Decision[Action]]
    client: NimClient
    clock: Clock

    @property
    def header(self) -> Body:
        """All that is known of the seat but its secret."""
        return self.seat.header(GAME.name)

    def look(self, known: Facts) -> Sight[Action]:
        """The game as it is now; joined first, which changes nothing where we are in it."""
        del known
        self.client.join(self.seat.game, self.seat.nickname, self.seat.secret)
        return self._sight(self.client.look(self.seat.game))

    def wait(self, known: Facts) -> Sight[Action] | None:
        """The game a moment later."""
        del known
        self.clock.sleep(PACE)
        return self._sight(self.client.look(self.seat.game))

    def gone(self, denied: Rejected) -> Body | None:
        """The outcome where the service says that there is no seat for us in the game."""
        if denied.message not in {NO_GAME, FULL}:
            return None
        return {"result": "unknown", "winner": None, "reason": denied.message}

    def _sight(self, seen: GameBody) -> Sight[Action]:
        ours = seen.turn is not None and seen.names[seen.turn] == self.seat.nickname
        return Sight(
            sequence=len(seen.moves),
            facts=facts_of(seen),
            outcome=outcome_of(seen, self.seat.nickname),
            turn=SeatTurn(self, seen) if ours else None,
        )


@dataclass(frozen=True, slots=True)
class SeatTurn:
    """Our turn."""

    match: SeatMatch
    seen: GameBody

    @property
    def position(self) -> Position:
        """The heaps as we see them."""
        return Position(tuple(self.seen.heaps), self.seen.turn or 0, len(self.seen.moves) + 1)

    def decide(
        self, limit: timedelta, monotonic: Callable[[], float], refused: frozenset[Action]
    ) -> Decided[Decision[Action]]:
        """The decision of the strategy that plays this seat."""
        return decide(self.match.strategy, self.position, limit, monotonic, refused)

    def intent(self, decided: Decided[Decision[Action]], at: datetime, worker: str) -> Body:
        """The decision, and the heaps that it was made on."""
        return intent_of(self.position, decided, at, worker, self.match.seat.strategy)

    def act(self, action: Action) -> After:
        """Send the action; then it is the other's turn."""
        seat = self.match.seat
        self.match.client.act(seat.game, seat.secret, len(self.seen.moves), action)
        return After.LOOK
