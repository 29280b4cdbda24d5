"""A stored deal of Euchre as the states that it went through, for branches of it.

A branch goes on to ten points where the score before the deal is told. A deal by itself is played
as the last one of a match: at nine points each, whoever scores wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Annotated

from pydantic import Field

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.errors import Illegal, StoreError
from cardsharp.euchre.actions import Discard, Play, Question
from cardsharp.euchre.cards import DECK, Card
from cardsharp.euchre.decisions import Asking, asking, decisions
from cardsharp.euchre.rules import apply, start
from cardsharp.euchre.simulation import WINNING, Dealt, Match
from cardsharp.euchre.state import HAND, Deal
from cardsharp.euchre.table import DEALER, SEATS, ToAct, turn
from cardsharp.replay import Restored, Stored, parse

_TRIES = 5000

Points = Annotated[int, Field(ge=0, lt=WINNING)]


class DealHeader(Stored):
    """What a deal's header says of its match: the points of seats 0 and 2 and of 1 and 3 before."""

    score: tuple[Points, Points] | None = None


def score_before(header: Mapping[str, object]) -> tuple[int, int] | None:
    """The score before a deal, None where that is not told; raises `StoreError`."""
    return parse(DealHeader, header, "The match log").score


def restore(record: MatchRecord, moves: Sequence[MoveRecord], dice: Random) -> Iterator[Restored]:
    """The deal before each step; cards that no play and no decision of ours tells are dealt.

    Raises:
        StoreError: an event or a decision cannot be read, or the deal cannot have been.
    """
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
    """The cards that each seat is known to have been dealt."""
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
