"""The four questions of the protocol: how each is read against a stored deal, and is answered."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import Card, Suit
from cardsharp.euchre.fallback import lowest
from cardsharp.euchre.records import (
    BidEvent,
    DefenseEvent,
    Event,
    PlayEvent,
    Record,
    SwapEvent,
)
from cardsharp.euchre.state import TURN
from cardsharp.euchre.story import bids_of, bids_with, table_before
from cardsharp.euchre.table import DEALER, MAX_BIDS, SEATS, Table

NO_CARD: Card = -1

E = TypeVar("E", bound=Event)
E_co = TypeVar("E_co", bound=Event, covariant=True)


class Ask(Protocol[E_co]):
    """A question; its answer is stored as an event of that type."""

    @property
    def question(self) -> Question:
        """Which of the four it is."""
        ...

    @property
    def seat(self) -> int:
        """Who is asked."""
        ...

    @property
    def turn_card(self) -> Card:
        """The turn card that the question names, -1 where it names none."""
        ...

    @property
    def offered(self) -> tuple[Card, ...] | None:
        """The cards to choose from, None where it is no question of cards."""
        ...

    def event(self, action: Action) -> E_co:
        """An answer as an event; raises TypeError if it answers another question."""
        ...

    def table(self, record: Record) -> Table | None:
        """The table at this question, None where the record cannot have led to it."""
        ...

    def safe(self) -> Action:
        """An answer that is legal whatever has happened."""
        ...


def recalled(ask: Ask[E], record: Record) -> E | None:
    """The answer that was given to the question before, if it may be given again."""
    like = ask.event(ask.safe())
    found = record.find(like.key)
    if not isinstance(found, type(like)):
        return None
    cards = ask.offered
    offered = not isinstance(found, SwapEvent | PlayEvent) or cards is None or found.card in cards
    return found if offered else None


@dataclass(frozen=True, slots=True)
class BidAsk:
    """What does the position bid? `round` and `pos` are what the client calls them."""

    round: int
    pos: int
    turn_card: Card

    question = Question.BID
    offered = None

    @property
    def seat(self) -> int:
        """Whose bid it is."""
        return self.pos % 4

    def event(self, action: Action) -> BidEvent:
        """Our answer as an event."""
        if not isinstance(action, Bid):
            raise TypeError(f"{action} is no bid.")
        suit = -1 if action.suit is None else action.suit
        return BidEvent(True, self.round, self.pos, suit, action.alone)  # noqa: FBT003 - `ours`

    def table(self, record: Record) -> Table | None:
        """The table at this question; nobody is asked after a call, so there was none."""
        bids = tuple(PASS for _ in bids_of(record))
        late = self.round > 1 and len(bids) < len(SEATS)
        early = self.round < 1 and len(bids) >= len(SEATS)
        if late or early or len(bids) >= MAX_BIDS:
            return None
        return Table(record.cards[TURN], bids)

    def safe(self) -> Action:
        """A pass."""
        return PASS


@dataclass(frozen=True, slots=True)
class SwapAsk:
    """Which of the offered cards does the dealer lay aside?"""

    declarer: int
    turn_card: Card
    offered: tuple[Card, ...]

    question = Question.DISCARD
    seat = DEALER

    def event(self, action: Action) -> SwapEvent:
        """Our answer as an event."""
        if not isinstance(action, Discard):
            raise TypeError(f"{action} is no discard.")
        return SwapEvent(self.declarer, action.card)

    def table(self, record: Record) -> Table | None:
        """The table at this question; an opponent's call may not have been reported yet."""
        turn_card = record.cards[TURN]
        return Table(turn_card, bids_with(record, self.declarer, Bid(turn_card & 3)))

    def safe(self) -> Action:
        """The lowest card that is no trump."""
        return Discard(lowest(self.offered, None if self.turn_card < 0 else self.turn_card & 3))


@dataclass(frozen=True, slots=True)
class DefenseAsk:
    """Does the position defend alone? Asked by the documents only, never by the client."""

    declarer: int
    trump: Suit
    pos: int

    question = Question.DEFEND
    offered = None
    turn_card = NO_CARD

    @property
    def seat(self) -> int:
        """Who defends."""
        return self.pos

    def event(self, action: Action) -> DefenseEvent:
        """Our answer as an event."""
        if not isinstance(action, Defend):
            raise TypeError(f"{action} is no defence.")
        return DefenseEvent(self.pos, action.alone)

    def table(self, record: Record) -> Table | None:
        """The table at this question; whoever is asked second, the first has declined."""
        turn_card = record.cards[TURN]
        bids = bids_with(record, self.declarer, Bid(self.trump, alone=True))
        asked_first = self.pos == (self.declarer + 1) % 4
        picks_up = self.trump == turn_card & 3
        return Table(turn_card, bids, picks_up, () if asked_first else (False,))

    def safe(self) -> Action:
        """Together."""
        return Defend(alone=False)


@dataclass(frozen=True, slots=True)
class PlayAsk:
    """Which of the offered cards does the position play?"""

    trick: int
    seq: int
    pos: int
    offered: tuple[Card, ...]

    question = Question.PLAY
    turn_card = NO_CARD

    @property
    def seat(self) -> int:
        """Whose card it is."""
        return self.pos

    def event(self, action: Action) -> PlayEvent:
        """Our answer as an event."""
        if not isinstance(action, Play):
            raise TypeError(f"{action} is no play.")
        return PlayEvent(self.trick, self.seq, self.pos, action.card)

    def table(self, record: Record) -> Table | None:
        """The table at this question."""
        return table_before(record, self.trick, self.seq, self.pos)

    def safe(self) -> Action:
        """The lowest card."""
        return Play(lowest(self.offered))
