"""What the cards of a deal brought: what comes of them where all four play as `rules` does.

That less the mean of other deals, dealt as fairly, is 0 in the mean whatever the players make of
their cards. So `rules`, who misjudges them, takes less of the luck out, and shifts no result.
"""

from collections.abc import Callable
from functools import cache
from random import Random
from statistics import fmean

from cardsharp.euchre.cards import DECK, Card
from cardsharp.euchre.simulation import WINNING
from cardsharp.euchre.state import HAND, TURN
from cardsharp.euchre.strategies.bidding import card_set
from cardsharp.euchre.strategies.contracts import Ledger
from cardsharp.euchre.strategies.worlds import World
from cardsharp.euchre.table import SEATS

OTHERS = 10
"""Other deals: their mean adds a tenth to the spread of what is told."""

_OFTEN = {1: 0.335, 2: 0.145, 4: 0.02}
"""How often either side makes so many points of a deal, about."""


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
    return Ledger(cards[TURN]).worth_of_pass(World(hands, hands), -1, 0)  # none has bid before


@cache
def winning(ours: int, theirs: int) -> float:
    """The chance of a side to win the match with those points, where both are equally strong."""
    if max(ours, theirs) >= WINNING:
        return float(ours >= WINNING)
    return sum(
        often * (winning(ours + points, theirs) + winning(ours, theirs + points))
        for points, often in _OFTEN.items()
    )
