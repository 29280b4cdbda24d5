"""The decisions of a stored deal of Euchre, as positions that can be decided again, and its states.

Each decision has the hand of who made it and no other: ours as it was kept, others' as it was
played. A branch goes on to ten points where the score before the deal is told. A deal by itself is
played as the last one of a match: at nine points each, whoever scores wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Annotated, NamedTuple

from pydantic import Field

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.errors import Illegal, StoreError
from cardsharp.euchre.actions import Action, Discard, Play, Question
from cardsharp.euchre.cards import DECK, Card
from cardsharp.euchre.cards import parse as parse_card
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.replay import asked_of, event_of
from cardsharp.euchre.replay import replay as replayed
from cardsharp.euchre.rules import FACE_DOWN, HAND, TURN, Deal, apply, start
from cardsharp.euchre.simulation import WINNING, Dealt, Match
from cardsharp.euchre.table import DEALER, SEATS, TRICKS, Table, ToAct, turn
from cardsharp.replay import Asked, Restored, Step, Stored, Thought, parse


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
    else knows what he laid aside, nor of who sat out what he held: so those are left out. Raises
    `StoreError` if an event or a decision cannot be read.
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
    hand = (thought.position or {}).get("hand")
    return [parse_card(str(card)) for card in hand] if isinstance(hand, list) else None


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
    """Every step with the table before it, until one does not follow; raises `StoreError`."""
    table = Table(parse_card(str(record.header.get("turnCard"))))
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
    table, seat = asking.table, asking.seat
    dealt = {*hand, *table.played_by(seat)}
    call = table.call
    if seat == DEALER and call is not None and call.picks_up:
        known = set() if asking.discard is None else {asking.discard}
        dealt = (dealt | known) - {table.turn_card}
    cards = [FACE_DOWN] * len(DECK)
    cards[TURN] = table.turn_card
    cards[HAND * seat : HAND * seat + len(dealt)] = sorted(dealt)
    return project(Deal(tuple(cards), table, asking.discard))


_TRIES = 5000

Points = Annotated[int, Field(ge=0, lt=WINNING)]


class DealHeader(Stored):
    """What a deal's header says of its match: the points of seats 0 and 2 and of 1 and 3 before."""

    score: tuple[Points, Points] | None = None


def score_before(header: Mapping[str, object]) -> tuple[int, int] | None:
    """The score before a deal, None where that is not told; raises `StoreError`."""
    return parse(DealHeader, header, "The match log").score


def restore(record: MatchRecord, moves: Sequence[MoveRecord], dice: Random) -> Iterator[Restored]:
    """The deal before each step, with unknown cards dealt; raises `StoreError` if there is none."""
    told = list(asking(record, moves))
    if not told:
        return iter(())
    known = _known(record, moves, told)
    for _ in range(_TRIES):
        try:
            cards = _dealt(known, told[0].table.turn_card, dice)
            points = score_before(record.header) or (WINNING - 1, WINNING - 1)
            return iter(list(_played(told, start(cards), points, dice)))
        except Illegal:  # somebody did what these cards do not allow
            continue
    raise StoreError(f"The deal {record.match_id} cannot have been played by the rules.")


def _known(
    record: MatchRecord, moves: Sequence[MoveRecord], told: Sequence[Asking]
) -> list[set[Card]]:
    end = told[-1].table.after(told[-1].seat, told[-1].action)
    known = [set(end.played_by(seat)) for seat in SEATS]
    for asked in decisions(record, moves):
        known[asked.position.seat] |= {*asked.position.dealt}
    if end.call is not None and end.call.picks_up:
        known[DEALER].discard(end.turn_card)
    return known


def _dealt(known: Sequence[set[Card]], turned: Card, dice: Random) -> tuple[Card, ...]:
    """The 24 cards in the order of a deal, what is not known by the dice."""
    unknown = [card for card in DECK if card != turned and not any(card in one for one in known)]
    rest = iter(dice.sample(unknown, len(unknown)))
    hands = [[*sorted(one), *(next(rest) for _ in range(HAND - len(one)))] for one in known]
    return (*(card for hand in hands for card in hand), turned, *rest)


def _played(
    told: Sequence[Asking], deal: Deal, points: tuple[int, int], dice: Random
) -> Iterator[Restored]:
    """The deal step by step; raises `Illegal` where it cannot have been played with its cards."""
    plays = {one.action.card for one in told if isinstance(one.action, Play)}
    for one in told:
        laying = turn(deal.table) == ToAct(DEALER, Question.DISCARD)
        if laying and not isinstance(one.action, Discard):  # which card it was is not told
            held = [card for card in deal.hand(DEALER) if card not in plays]
            deal = apply(deal, Discard(dice.choice(held)))
        yield Restored(one.step.sequence, Match(Dealt(deal, 0), points=points), one.action)
        deal = apply(deal, one.action)
