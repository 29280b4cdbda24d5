"""The four questions of the protocol: how each is read against a stored deal, and is answered."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import SUITS, Card
from cardsharp.euchre.fallback import lowest
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.rules import FACE_DOWN, TURN, Deal
from cardsharp.euchre.store import BidEvent, DefenseEvent, Event, PlayEvent, Record, SwapEvent
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

Told = BidMade | DefenseMade | PlayMade  # what another player did


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
    position = project(Deal(record.cards, table, discard))
    if _contradicts(position):
        return None
    offered = _offered(ask)
    if offered is None:
        return position
    choices = tuple(
        action
        for action in position.choices
        if isinstance(action, Discard | Play) and action.card in offered
    )
    return replace(position, choices=choices) if choices else None


def is_about(ask: Ask, record: Record) -> bool:
    """Whether the turn card of the question, where it names one, is that of the record."""
    named = ask.turn_card if isinstance(ask, BidAsked | SwapAsked) else NO_CARD
    return named in {NO_CARD, record.cards[TURN]}


def _offered(ask: Ask) -> tuple[Card, ...] | None:
    match ask:
        case SwapAsked():
            return ask.swappable_cards
        case PlayAsked():
            return ask.playable_cards
    return None


def _table(ask: Ask, record: Record) -> Table | None:
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


# --- what has happened in a stored deal, told in order (docs/spec/euchre.md section 5) ----------
#
# The client is the authority on what happened. Where a later message does not go together with an
# earlier one, the earlier one did not count.


def bids_of(record: Record) -> tuple[Bid, ...]:
    """The bids of a deal by number.

    They are numbered by ourselves, in the order in which they came; a seat that is skipped has
    passed. Nobody bids after a call, so what is not the last bid was none: the client took it as
    a pass. A last one that is a call has the number that its suit tells, however many were told.
    """
    bids: list[Bid] = []
    for event in record.events:
        if not isinstance(event, BidEvent):
            continue
        last = len(bids) - 1
        if bids and not event.ours and event.pos in {last, last % 4}:
            bids.pop()  # told once more, or our own told back to us: nobody bids twice in a row
        # The client reports the bids of others under their number, from 0 to 7.
        least = 0 if event.ours else event.pos
        while len(bids) < least or len(bids) % 4 != event.pos % 4:
            bids.append(PASS)
        bids.append(Bid(event.suit, event.alone) if event.suit in SUITS else PASS)
    call = Table(record.cards[TURN], tuple(bids)).call
    return tuple(PASS for _ in bids) if call is None else _ending(record, call.seat, bids[-1])


def bids_with(record: Record, seat: int, call: Bid) -> tuple[Bid, ...]:
    """The bids that end with a call that we were told of; alone or not as its bid says, if any."""
    told, known = _ending(record, seat, call), bids_of(record)
    same = len(told) == len(known) and known[-1].suit == call.suit
    return known if same else told


def _ending(record: Record, seat: int, call: Bid) -> tuple[Bid, ...]:
    """The bids that end with a call: in the first round that of the turned suit, or of another."""
    number = seat if call.suit == record.cards[TURN] & 3 else seat + len(SEATS)
    return (*(PASS for _ in range(number)), call)


def table_before(record: Record, trick: int, seq: int, seat: int) -> Table | None:
    """The table when `seat` is to play the card of that place, None if no story leads there.

    The real client never tells of a lone defender; only the partner's gap does. So the plays are
    told once with nobody defending alone, and if the seats do not come out, with either.
    """
    plays = [event for event in record.events if isinstance(event, PlayEvent)]
    earlier = sorted(
        (e for e in plays if (e.trick, e.seq) < (trick, seq)), key=lambda e: (e.trick, e.seq)
    )
    for opening in _openings(record):
        table = _with_plays(opening, earlier)
        if table is not None and turn(table) == ToAct(seat, Question.PLAY):
            return table if len(table.complete_tricks) == trick else None
    return None


def _openings(record: Record) -> Iterator[Table]:
    """The table before the first card: with no lone defender, then with each of the two."""
    turn_card, bids = record.cards[TURN], bids_of(record)
    swap = record.find(("swap",))
    if isinstance(swap, SwapEvent):
        bids = bids_with(record, swap.declarer, Bid(turn_card & 3))
    table = Table(turn_card, bids)
    call = table.call
    if call is None:
        return
    table = replace(table, swapped=call.picks_up)
    if not call.alone:
        yield table
        return
    told = [record.find(("defense", (call.seat + place) % 4)) for place in (1, 3)]
    for defences in ((False, False), (True,), (False, True)):
        # Only the documents' clients tell; whoever is not told of may have said either.
        said = zip(told, defences, strict=False)
        if all(not isinstance(one, DefenseEvent) or one.alone is alone for one, alone in said):
            yield replace(table, defences=defences)


def _with_plays(table: Table, plays: Iterable[PlayEvent]) -> Table | None:
    for event in plays:
        if turn(table) != ToAct(event.pos, Question.PLAY):
            return None
        table = table.after(event.pos, Play(event.card))
    return table
