"""The decisions of a stored deal of Euchre, as positions that can be decided again.

Each with the hand of who made it and no other: ours as it was kept, others' as it was played.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.euchre.actions import Action, Discard, Play, Question
from cardsharp.euchre.cards import DECK, Card, parse
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.replay import asked_of, event_of
from cardsharp.euchre.replay import replay as replayed
from cardsharp.euchre.state import FACE_DOWN, HAND, TURN, Deal
from cardsharp.euchre.table import DEALER, TRICKS, Table, ToAct, turn
from cardsharp.replay import Asked, Step, Thought


class Asking(NamedTuple):
    """A step with what was done in it; `table` and the dealer's `discard` are those before it."""

    step: Step
    table: Table
    discard: Card | None
    seat: int
    action: Action


def decisions(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
    """Our decisions and, of a deal that is over, those of whom the plays have shown to the end.

    In order, as far as the events before each were told. Of a dealer who took the turn card nobody
    else knows what he laid aside, nor of who sat out what he held: so those are left out.

    Raises:
        StoreError: an event or a decision cannot be read.
    """
    told = list(asking(record, moves))
    for place, one in enumerate(told):
        step, seat = one.step, one.seat
        hand = _shown(told, place) if step.ours is None else _kept(step.ours)
        if hand is not None:
            position = _position(hand, one)
            spoken = one.table.spoken
            thought = step.ours or Thought(seat=seat, turn=step.turn, action=spoken(one.action))
            named = {choice: spoken(choice) for choice in position.choices}
            yield Asked(replace(step, ours=thought), position, named)


def _kept(thought: Thought) -> list[Card] | None:
    """The hand as the log has it, None where it was not kept."""
    hand = (thought.position or {}).get("hand")
    return [parse(str(card)) for card in hand] if isinstance(hand, list) else None


def _shown(told: Sequence[Asking], place: int) -> list[Card] | None:
    """What a seat held at that step, where the plays of the deal have shown all of it."""
    seat, call = told[place].seat, told[-1].table.call
    if call is None or (seat == DEALER and call.picks_up):
        return None
    plays = [
        (number, one.action.card)
        for number, one in enumerate(told)
        if one.seat == seat and isinstance(one.action, Play)
    ]
    return [card for number, card in plays if number >= place] if len(plays) == TRICKS else None


def asking(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asking]:
    """Every step with the table before it, up to the first that does not follow.

    Raises:
        StoreError: an event or a decision cannot be read.
    """
    table = Table(parse(str(record.header.get("turnCard"))))
    discard: Card | None = None
    for step, move in zip(replayed(record, moves), moves, strict=True):
        question, seat, action = asked_of(event_of(move))
        if question is not Question.DISCARD and turn(table) == ToAct(DEALER, Question.DISCARD):
            table = replace(table, swapped=True)  # another's service laid the card aside
            discard = FACE_DOWN
        if turn(table) != ToAct(seat, question):
            return
        yield Asking(step, table, discard, seat, action)
        if isinstance(action, Discard):
            discard = action.card
        table = table.after(seat, action)


def _position(hand: Sequence[Card], asking: Asking) -> Position:
    """What the seat knew that held these cards."""
    table, seat = asking.table, asking.seat
    dealt = {*hand, *table.played_by(seat)}
    call = table.call
    if seat == DEALER and call is not None and call.picks_up:
        known = set() if asking.discard is None else {asking.discard}
        dealt = (dealt | known) - {table.turn_card}
    cards = [FACE_DOWN] * len(DECK)
    cards[TURN] = table.turn_card
    cards[HAND * seat : HAND * seat + len(dealt)] = sorted(dealt)
    return project(Deal(tuple(cards), table, asking.discard), seat)
