"""The decisions of a stored deal of Euchre, as positions that can be decided again.

Only those of which a hand is kept: our own. No other hand is looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.euchre.actions import Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import DECK, Card, parse
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.replay import asked_of, event_of
from cardsharp.euchre.replay import replay as replayed
from cardsharp.euchre.state import FACE_DOWN, HAND, TURN, Deal
from cardsharp.euchre.table import DEALER, Table, ToAct, turn
from cardsharp.replay import Asked, Step, Thought


class Asking(NamedTuple):
    """A step with what was done in it; `table` and the dealer's `discard` are those before it."""

    step: Step
    table: Table
    discard: Card | None
    seat: int
    action: Action


def decisions(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
    """Our decisions, in order, as far as the events before each were told.

    Raises:
        StoreError: an event or a decision cannot be read.
    """
    for step, table, discard, seat, _ in asking(record, moves):
        position = None if step.ours is None else _position(step.ours, table, seat, discard)
        if position is not None:
            yield Asked(step, position, {one: str(one) for one in position.choices})


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
        table = after(table, seat, action)


def _position(thought: Thought, table: Table, seat: int, discard: Card | None) -> Position | None:
    """What the seat knew, None where its hand was not kept."""
    hand = (thought.position or {}).get("hand")
    if not isinstance(hand, list):
        return None
    dealt = {*map(parse, hand), *table.played_by(seat)}
    call = table.call
    if seat == DEALER and call is not None and call.picks_up:
        dealt = (dealt | ({discard} if discard is not None else set())) - {table.turn_card}
    cards = [FACE_DOWN] * len(DECK)
    cards[TURN] = table.turn_card
    cards[HAND * seat : HAND * seat + len(dealt)] = sorted(dealt)
    return project(Deal(tuple(cards), table, discard), seat)


def after(table: Table, seat: int, action: Action) -> Table:
    """The table after what a seat did."""
    match action:
        case Bid():
            return table.with_bid(action)
        case Discard():
            return replace(table, swapped=True)
        case Defend(alone):
            return replace(table, defences=(*table.defences, alone))
        case Play(card):
            return table.with_play(seat, card)
