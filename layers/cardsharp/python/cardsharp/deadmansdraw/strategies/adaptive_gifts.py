"""What it may cost to play for one opponent: no more than its mistakes have given before.

Whoever plays otherwise than the captain because of what an opponent is thought to be can be taken
in by one that only pretends. So every choice of a match is held against the captain's best by a
short search: what the opponent's lose is a gift, and what the own lose is paid from it (Ganzfried
and Sandholm, Safe opponent exploitation, 2012). Twin: `research/deadmansdraw/native/belief.c`.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS, Weighing, is_ordinary
from cardsharp.deadmansdraw.strategies.search.leaves import SHORT
from cardsharp.deadmansdraw.strategies.search.tree import Search
from cardsharp.deadmansdraw.strategies.search.weights import model

MOST = 0.05  # the most that one choice may cost, as a chance to win
CREDIT = 0.005  # what may be spent before the opponent has given anything: half a point in 100


def loss_of(position: Position, action: Action) -> float:
    """How much less than the best `action` promises, as a chance to win.

    Nothing where nobody can say: for a table that cannot happen in a match, and for an Oracle's
    card refused.
    """
    return _loss_of(replace(position, turn=0, history=(), refused=None), action)


@lru_cache(maxsize=1024)  # strategies are made anew each turn
def _loss_of(position: Position, action: Action) -> float:
    if not is_ordinary(position):
        return 0.0
    options = Weighing(position, Search(model(WEIGHTS), SHORT)).options()
    chosen = [option.value for option in options if option.action == action]
    return max(option.value for option in options) - chosen[0] if chosen else 0.0


class Gifts:
    """The gifts of an opponent in one match, less what was paid."""

    def __init__(self) -> None:
        self._balance = CREDIT
        self._waiting: list[tuple[Seen, bool]] = []

    def note(self, choices: Iterable[Seen], *, own: bool) -> None:
        """Choices of the match, in their order; they are judged once somebody asks."""
        self._waiting += ((seen, own) for seen in choices)

    def affords(self, choice: Seen) -> bool:
        """Whether it costs no more than one choice may, and than there is."""
        cost = loss_of(choice.position, choice.action)
        return cost <= 0 or cost <= min(MOST, self._judged())

    def _judged(self) -> float:
        for seen, own in self._waiting:
            loss = loss_of(seen.position, seen.action)
            self._balance += -loss if own else loss
        self._waiting.clear()
        return self._balance
