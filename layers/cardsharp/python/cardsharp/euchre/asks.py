"""The four questions of the protocol: how each is read against a stored deal, and is answered."""

from dataclasses import replace

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import Card
from cardsharp.euchre.fallback import lowest
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.records import BidEvent, DefenseEvent, Event, PlayEvent, Record, SwapEvent
from cardsharp.euchre.rules import FACE_DOWN, TURN, Deal
from cardsharp.euchre.story import bids_of, bids_with, table_before
from cardsharp.euchre.table import DEALER, MAX_BIDS, SEATS, Table, ToAct, turn
from cardsharp.euchre.wire import (
    BidAsked,
    BidMade,
    DefenseAsked,
    DefenseMade,
    PlayAsked,
    PlayMade,
    SwapAsked,
)

NO_CARD: Card = -1

Ask = BidAsked | SwapAsked | DefenseAsked | PlayAsked
"""A question. Of a lone defence only the documents ask, never the client."""

Told = BidMade | DefenseMade | PlayMade
"""What another player did."""


def to_act(ask: Ask) -> ToAct:
    """Who is asked what."""
    match ask:
        case BidAsked():
            return ToAct(ask.pos % 4, Question.BID)
        case SwapAsked():
            return ToAct(DEALER, Question.DISCARD)
        case DefenseAsked():
            return ToAct(ask.pos, Question.DEFEND)
        case PlayAsked():
            return ToAct(ask.pos, Question.PLAY)


def safe(ask: Ask) -> Action:
    """An answer that is legal whatever has happened: a pass, the lowest card and no trump."""
    match ask:
        case BidAsked():
            return PASS
        case SwapAsked():
            trump = None if ask.turn_card < 0 else ask.turn_card & 3
            return Discard(lowest(ask.swappable_cards, trump))
        case DefenseAsked():
            return Defend(alone=False)
        case PlayAsked():
            return Play(lowest(ask.playable_cards))


def event_of(ask: Ask, action: Action) -> Event:
    """An answer as an event; raises TypeError if it answers another question."""
    match ask, action:
        case BidAsked(), Bid(suit, alone):
            named = -1 if suit is None else suit
            return BidEvent(True, ask.round, ask.pos, named, alone)  # noqa: FBT003 - `ours`
        case SwapAsked(), Discard(card):
            return SwapEvent(ask.declarer_pos, card)
        case DefenseAsked(), Defend(alone):
            return DefenseEvent(ask.pos, alone)
        case PlayAsked(), Play(card):
            return PlayEvent(ask.trick_num, ask.trick_seq, ask.pos, card)
    raise TypeError(f"{action} answers another question.")


def event_told(told: Told) -> Event:
    """What another player did as an event."""
    match told:
        case BidMade():
            return BidEvent(False, told.round, told.pos, told.suit, told.alone)  # noqa: FBT003 - `ours`
        case DefenseMade():
            return DefenseEvent(told.pos, told.alone)
        case PlayMade():
            return PlayEvent(told.trick_num, told.trick_seq, told.pos, told.card)


def recalled(ask: Ask, record: Record) -> Event | None:
    """The answer that was given to the question before, if it may be given again."""
    found, offered = record.find(event_of(ask, safe(ask)).key), _offered(ask)
    if isinstance(found, SwapEvent | PlayEvent) and offered is not None:
        return found if found.card in offered else None
    return found


def position_of(record: Record, ask: Ask) -> Position | None:
    """What the seat that is asked knows, None where the record cannot have led to the question.

    The choices are what the client offers, as far as the rules allow it: it is the authority on
    what is legal, but an offer may hold a card that is not.
    """
    table, asked = _table(ask, record), to_act(ask)
    if table is None or turn(table) != asked:
        return None
    discard = _discard(record, table, asked.seat)
    if table.swapped and discard is None:
        return None
    position = project(Deal(record.cards, table, discard), asked.seat)
    if _contradicts(position):
        return None
    offered = _offered(ask)
    if offered is None:
        return position
    choices = tuple(action for action in position.choices if _card(action) in offered)
    return replace(position, choices=choices) if choices else None


def is_about(ask: Ask, record: Record) -> bool:
    """Whether the turn card of the question, where it names one, is that of the record."""
    named = ask.turn_card if isinstance(ask, BidAsked | SwapAsked) else NO_CARD
    return named in {NO_CARD, record.cards[TURN]}


def _offered(ask: Ask) -> tuple[Card, ...] | None:
    """The cards to choose from, None where it is not about cards."""
    match ask:
        case SwapAsked():
            return ask.swappable_cards
        case PlayAsked():
            return ask.playable_cards
    return None


def _table(ask: Ask, record: Record) -> Table | None:
    """The table at a question, None where a record cannot have led there."""
    turn_card = record.cards[TURN]
    match ask:
        case BidAsked():
            # Nobody is asked after a call, so there was none.
            bids = tuple(PASS for _ in bids_of(record))
            late = ask.round > 1 and len(bids) < len(SEATS)
            early = ask.round < 1 and len(bids) >= len(SEATS)
            return None if late or early or len(bids) >= MAX_BIDS else Table(turn_card, bids)
        case SwapAsked():
            # An opponent's call may not have been reported yet.
            return Table(turn_card, bids_with(record, ask.declarer_pos, Bid(turn_card & 3)))
        case DefenseAsked():
            # Whoever is asked second, the first has declined.
            bids = bids_with(record, ask.declarer_pos, Bid(ask.trump_suit, alone=True))
            asked_first = ask.pos == (ask.declarer_pos + 1) % 4
            picks_up = ask.trump_suit == turn_card & 3
            return Table(turn_card, bids, picks_up, () if asked_first else (False,))
        case PlayAsked():
            return table_before(record, ask.trick_num, ask.trick_seq, ask.pos)


def _discard(record: Record, table: Table, seat: int) -> int | None:
    """The dealer's own discard for the dealer, a card face down for everybody else."""
    if not table.swapped:
        return None
    if seat != DEALER:
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
