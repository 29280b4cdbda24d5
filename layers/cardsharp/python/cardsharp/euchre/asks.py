"""The four questions of the protocol: how each is read against a stored deal, and is answered."""

from dataclasses import dataclass, replace

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import Card, Suit
from cardsharp.euchre.fallback import lowest
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.records import (
    BidEvent,
    DefenseEvent,
    Event,
    PlayEvent,
    Record,
    SwapEvent,
)
from cardsharp.euchre.state import FACE_DOWN, TURN, Deal
from cardsharp.euchre.story import bids_of, bids_with, table_before
from cardsharp.euchre.table import DEALER, MAX_BIDS, SEATS, Table, ToAct, turn

NO_CARD: Card = -1


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

    def table(self, record: Record) -> Table | None:
        """The table at this question."""
        return table_before(record, self.trick, self.seq, self.pos)

    def safe(self) -> Action:
        """The lowest card."""
        return Play(lowest(self.offered))


Ask = BidAsk | SwapAsk | DefenseAsk | PlayAsk
"""A question. Each knows its `question`, the `seat` that is asked, the `turn_card` that it names,
-1 if none, the `offered` cards to choose from, None if it is not about cards, the `table` at it,
None where a record cannot have led there, and a `safe` answer, legal whatever has happened.
"""


def event_of(ask: Ask, action: Action) -> Event:
    """An answer as an event; raises TypeError if it answers another question."""
    match ask, action:
        case BidAsk(), Bid(suit, alone):
            named = -1 if suit is None else suit
            return BidEvent(True, ask.round, ask.pos, named, alone)  # noqa: FBT003 - `ours`
        case SwapAsk(), Discard(card):
            return SwapEvent(ask.declarer, card)
        case DefenseAsk(), Defend(alone):
            return DefenseEvent(ask.pos, alone)
        case PlayAsk(), Play(card):
            return PlayEvent(ask.trick, ask.seq, ask.pos, card)
    raise TypeError(f"{action} answers another question.")


def recalled(ask: Ask, record: Record) -> Event | None:
    """The answer that was given to the question before, if it may be given again."""
    found = record.find(event_of(ask, ask.safe()).key)
    if isinstance(found, SwapEvent | PlayEvent) and ask.offered is not None:
        return found if found.card in ask.offered else None
    return found


def position_of(record: Record, ask: Ask) -> Position | None:
    """What the seat that is asked knows, None where the record cannot have led to the question.

    The choices are what the client offers, as far as the rules allow it: it is the authority on
    what is legal, but an offer may hold a card that is not.
    """
    table = ask.table(record)
    if table is None or turn(table) != ToAct(ask.seat, ask.question):
        return None
    discard = _discard(record, table, ask)
    if table.swapped and discard is None:
        return None
    position = project(Deal(record.cards, table, discard), ask.seat)
    if _contradicts(position):
        return None
    if ask.offered is None:
        return position
    choices = tuple(action for action in position.choices if _card(action) in ask.offered)
    return replace(position, choices=choices) if choices else None


def is_about(ask: Ask, record: Record) -> bool:
    """Whether the turn card of the question, where it names one, is that of the record."""
    return ask.turn_card in {NO_CARD, record.cards[TURN]}


def _discard(record: Record, table: Table, ask: Ask) -> int | None:
    """The dealer's own discard for the dealer, a card face down for everybody else."""
    if not table.swapped:
        return None
    if ask.seat != DEALER:
        return FACE_DOWN
    swap = record.find(("swap",))
    return swap.card if isinstance(swap, SwapEvent) else None


def _contradicts(position: Position) -> bool:
    """Whether a card that the seat sees would be in two places at once."""
    others = [
        card for trick in position.table.tricks for seat, card in trick if seat != position.seat
    ]
    return len(set(others)) < len(others) or not set(others).isdisjoint(position.dealt)


def _card(action: Action) -> int | None:
    return action.card if isinstance(action, Discard | Play) else None
