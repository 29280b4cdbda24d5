"""`pimc` as the judge of Euchre: the points that a side expects to make of the deal, less theirs.

A match of the log is one deal, so what it does to the game to ten is not told.

What the cards of a deal brought is what comes of them where all four play as `rules` does, less the
mean of other deals, dealt as fairly: so it is 0 in the mean whatever the players make of their
cards. `rules`, who misjudges them, takes less of the luck out, and shifts no result.
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from statistics import fmean

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.euchre.actions import Action
from cardsharp.euchre.cards import DECK, Card
from cardsharp.euchre.decisions import asking
from cardsharp.euchre.position import Position
from cardsharp.euchre.replay import dealt_of
from cardsharp.euchre.rules import HAND, TURN, score
from cardsharp.euchre.simulation import WINNING
from cardsharp.euchre.strategies import Decision
from cardsharp.euchre.strategies.bidding import card_set
from cardsharp.euchre.strategies.pimc import Pimc
from cardsharp.euchre.strategies.worlds import World, worth_of_pass
from cardsharp.euchre.table import SEATS, turn
from cardsharp.judge import Judge

OTHERS = 10  # other deals: their mean adds a tenth to the spread of what is told
_OFTEN = {1: 0.335, 2: 0.145, 4: 0.02}  # how often a side makes so many points of a deal, about


def luck_of(cards: tuple[Card, ...], worth: Callable[[int], float] = float) -> float:
    """What the 24 cards brought the seats 0 and 2; the same deal is always told the same.

    In points more than the others make, or in what `worth` says that so many more are worth.
    """
    dice = Random(repr(cards))
    others = (tuple(dice.sample(DECK, len(DECK))) for _ in range(OTHERS))
    return worth(points_of(cards)) - fmean(worth(points_of(other)) for other in others)


def points_of(cards: tuple[Card, ...]) -> int:
    """The points of the seats 0 and 2, less those of 1 and 3, where all play as `rules` does."""
    hands = tuple(card_set(cards[HAND * seat : HAND * (seat + 1)]) for seat in SEATS)
    return worth_of_pass(World(hands, hands), cards[TURN], -1)  # none has bid before


@cache
def winning(ours: int, theirs: int) -> float:
    """The chance of a side to win the match with those points, where both are equally strong."""
    if max(ours, theirs) >= WINNING:
        return float(ours >= WINNING)
    return sum(
        often * (winning(ours + points, theirs) + winning(ours, theirs + points))
        for points, often in _OFTEN.items()
    )


class EnginesJudgement(Judge):
    """What the engine thinks over the worlds that a position allows, the same ones each time."""

    name = "pimc"
    unit = "points of the deal"
    form = "+.2f"
    total = 0.0
    stake = 4.0  # the most that a deal brings: all tricks, alone
    chance_deals = True

    def weigh(self, position: Position, also: Sequence[Action] = ()) -> Decision:
        """Its decision; one without a choice has no worth, which is no loss."""
        return Pimc().decide(position, also)

    def result(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """The points of the seats 0 and 2, less those of 1 and 3."""
        told = list(asking(record, moves))
        if not told or len(told) < len(moves):
            return None
        table = told[-1].table.after(told[-1].seat, told[-1].action)
        if turn(table) is not None:
            return None
        points = score(table).points
        return float(points[0] - points[1])

    def chance(self, record: MatchRecord, _moves: Sequence[MoveRecord]) -> float | None:
        """What the deal brought, where the record tells all of it."""
        cards = dealt_of(record)
        return None if cards is None else luck_of(cards)


JUDGE = EnginesJudgement()
