"""The service behind the API: keeps what it is told, answers what it is asked, never gives up.

Any status above 399 ends the client's whole tournament. So a store that fails is tried again and
then done without: a legal answer does not depend on it.
"""

from collections.abc import Callable
from typing import TypeVar

from cardsharp.cloud.ports import Clock
from cardsharp.deciding import Decided
from cardsharp.errors import StoreError
from cardsharp.euchre import wire
from cardsharp.euchre.actions import Action
from cardsharp.euchre.asks import (
    Ask,
    BidAsk,
    DefenseAsk,
    PlayAsk,
    SwapAsk,
    event_of,
    is_about,
    position_of,
    recalled,
)
from cardsharp.euchre.fallback import decide
from cardsharp.euchre.journal import Journal
from cardsharp.euchre.position import Position
from cardsharp.euchre.records import (
    BidEvent,
    DealKey,
    DefenseEvent,
    Event,
    PlayEvent,
)
from cardsharp.euchre.store import Deals
from cardsharp.euchre.strategies import Decision, Strategy

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

    # --- told --------------------------------------------------------------------------------

    def begin_deal(self, told: wire.NewDeal) -> None:
        """Keep a deal's cards; whatever happened under its number is forgotten."""
        key = key_of(told)
        self._trying(key, "the deal is not stored", lambda: self._store.begin(key, told.cards))

    def note_bid(self, told: wire.BidMade) -> None:
        """Keep another player's bid."""
        event = BidEvent(
            ours=False, round=told.round, pos=told.pos, suit=told.suit, alone=told.alone
        )
        self._note(key_of(told), event)

    def note_defense(self, told: wire.DefenseMade) -> None:
        """Keep whether another player defends alone."""
        self._note(key_of(told), DefenseEvent(told.pos, told.alone))

    def note_play(self, told: wire.PlayMade) -> None:
        """Keep another player's card."""
        event = PlayEvent(told.trick_num, told.trick_seq, told.pos, told.card)
        self._note(key_of(told), event)

    # --- asked -------------------------------------------------------------------------------

    def bid(self, asked: wire.BidAsked) -> Event:
        """The bid of a seat."""
        return self._answer(key_of(asked), BidAsk(asked.round, asked.pos, asked.turn_card))

    def swap(self, asked: wire.SwapAsked) -> Event:
        """The card that the dealer lays aside."""
        ask = SwapAsk(asked.declarer_pos, asked.turn_card, asked.swappable_cards)
        return self._answer(key_of(asked), ask)

    def defend(self, asked: wire.DefenseAsked) -> Event:
        """Whether a seat defends alone."""
        ask = DefenseAsk(asked.declarer_pos, asked.trump_suit, asked.pos)
        return self._answer(key_of(asked), ask)

    def play(self, asked: wire.PlayAsked) -> Event:
        """The card that a seat plays."""
        ask = PlayAsk(asked.trick_num, asked.trick_seq, asked.pos, asked.playable_cards)
        return self._answer(key_of(asked), ask)

    # --- how ---------------------------------------------------------------------------------

    def _note(self, key: DealKey, event: Event) -> None:
        """Add what we are told; the same again changes nothing, other content replaces it."""

        def note() -> None:
            record = self._store.read(key)
            if record is not None and record.find(event.key) != event:
                self._store.append(record, event)

        self._trying(key, "an event is not stored", note)

    def _answer(self, key: DealKey, ask: Ask) -> Event:
        """The stored answer to the question, or a new one that is stored first."""
        made = _Made(ask, self._strategy, self._clock)

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
        return Decided(Decision(self._ask.safe(), f"Safe answer: {fault}."), fault=fault)


def key_of(message: wire.InDeal) -> DealKey:
    """Which deal a message is about."""
    return DealKey(message.token, message.game_num, message.deal_num)
