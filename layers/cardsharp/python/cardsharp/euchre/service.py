"""The service behind the API: keeps what it is told, answers what it is asked, never gives up.

Any status above 399 ends the client's whole tournament. So a store that fails is tried again and
then done without: a legal answer does not depend on it.
"""

from collections.abc import Callable
from typing import TypeVar

from cardsharp.cloud.ports import Clock
from cardsharp.deciding import Decided
from cardsharp.errors import StoreError
from cardsharp.euchre.actions import Action
from cardsharp.euchre.asks import (
    Ask,
    Told,
    event_of,
    event_told,
    is_about,
    position_of,
    recalled,
    safe,
)
from cardsharp.euchre.fallback import decide
from cardsharp.euchre.journal import Journal
from cardsharp.euchre.position import Position
from cardsharp.euchre.records import DealKey, Event
from cardsharp.euchre.store import Deals
from cardsharp.euchre.strategies import Decision, Strategy
from cardsharp.euchre.wire import InDeal, NewDeal

ATTEMPTS = 3
"""How often a request tries the store; a conflict or a failure is worth another."""

T = TypeVar("T")


class EuchreService:
    """The sixteen operations, except those that only echo."""

    def __init__(self, store: Deals, strategy: Strategy, clock: Clock, journal: Journal) -> None:
        self._store = store
        self._strategy = strategy
        self._clock = clock
        self._journal = journal

    def begin_deal(self, told: NewDeal) -> None:
        """Keep a deal's cards; whatever happened under its number is forgotten."""
        key = key_of(told)
        self._trying(key, "the deal is not stored", lambda: self._store.begin(key, told.cards))

    def note(self, told: Told) -> None:
        """Keep what another player did; the same again changes nothing."""
        key, event = key_of(told), event_told(told)

        def note() -> None:
            record = self._store.read(key)
            if record is not None and record.find(event.key) != event:
                self._store.append(record, event)

        self._trying(key, "an event is not stored", note)

    def answer(self, ask: Ask) -> Event:
        """The stored answer to a question, or a new one that is stored first."""
        key, made = key_of(ask), _Made(ask, self._strategy, self._clock)

        def answer() -> Event:
            record = self._store.read(key)
            if record is None or not is_about(ask, record):
                return event_of(ask, made.action(None))
            stored = recalled(ask, record)
            if stored is not None:
                return stored
            event = event_of(ask, made.action(position_of(record, ask)))
            self._store.append(record, event)
            return event

        event = self._trying(key, "an answer is not stored", answer)
        if event is None:
            event = event_of(ask, made.last())
        for position, decided in made.decisions:
            self._journal.decided(key, ask, position, decided)
        return event

    def _trying(self, key: DealKey, trouble: str, deed: Callable[[], T]) -> T | None:
        """What the deed returns, None where the store has failed it too often."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return deed()
            except StoreError as error:
                again = "trying again" if attempt < ATTEMPTS else trouble
                self._journal.troubled(key, again, error)
        return None


class _Made:
    """The decisions of one request: one a position, however often the store is tried."""

    def __init__(self, ask: Ask, strategy: Strategy, clock: Clock) -> None:
        self._ask, self._strategy, self._clock = ask, strategy, clock
        self.decisions: list[tuple[Position | None, Decided[Decision]]] = []

    def action(self, position: Position | None) -> Action:
        """The answer in a position; a safe one where no stored deal leads to the question."""
        for known, decided in self.decisions:
            if known == position:
                return decided.decision.action
        decided = self._decide(position)
        self.decisions.append((position, decided))
        return decided.decision.action

    def last(self) -> Action:
        """What was decided but could not be kept; if no deal could be read, a safe answer."""
        return self.action(self.decisions[-1][0] if self.decisions else None)

    def _decide(self, position: Position | None) -> Decided[Decision]:
        if position is not None:
            return decide(self._strategy, position, self._clock.monotonic)
        fault = "no stored deal leads to this question"
        return Decided(Decision(safe(self._ask), f"Safe answer: {fault}."), fault=fault)


def key_of(message: InDeal) -> DealKey:
    """Which deal a message is about."""
    return DealKey(message.token, message.game_num, message.deal_num)
