"""What has happened in a stored deal, told in order (docs/spec/euchre.md section 5).

The client is the authority on what happened. Where a later message does not go together with an
earlier one, the earlier one did not count.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cardsharp.euchre.actions import PASS, Bid, Play, Question
from cardsharp.euchre.cards import SUITS
from cardsharp.euchre.records import BidEvent, DefenseEvent, PlayEvent, Record, SwapEvent
from cardsharp.euchre.rules import TURN
from cardsharp.euchre.table import SEATS, Call, Table, ToAct, turn


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
    told = _defences(record, call)
    for defences in ((False, False), (True,), (False, True)):
        # Only the documents' clients tell; whoever is not told of may have said either.
        if all(said in {None, alone} for said, alone in zip(told, defences, strict=False)):
            yield replace(table, defences=defences)


def _defences(record: Record, call: Call) -> tuple[bool | None, bool | None]:
    """What the caller's left and right neighbours said to defending alone, as far as we know."""
    seats = (call.seat + 1) % 4, (call.seat + 3) % 4
    found = [record.find(("defense", seat)) for seat in seats]
    left, right = (one.alone if isinstance(one, DefenseEvent) else None for one in found)
    return left, right


def _with_plays(table: Table, plays: Iterable[PlayEvent]) -> Table | None:
    """The table after the plays, None where one is out of turn."""
    for event in plays:
        if turn(table) != ToAct(event.pos, Question.PLAY):
            return None
        table = table.after(event.pos, Play(event.card))
    return table
