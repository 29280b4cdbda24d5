"""What a player with certain cards would say: simple habits, and how well they explain a bet.

The habits are the generic ones of players who look at their own cards. Nobody is known to have
one of them, so each only has a weight before the first bet, and none excludes a bet for good.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import exp

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.strategies.odds import Odds, odds

OPENING = -1  # the last bet where there is none
_FROM_THE_TOP = range(len(BETS) - 1, OPENING, -1)

Replies = Mapping[int, int]  # what is said to each last bet


@dataclass(frozen=True, slots=True)
class Habit:
    """A way to play by one's own cards.

    Checks what is less likely than `check`, None: what fails as likely as the best bet holds.
    Bets the highest that is at least as likely as `bet`, else the likeliest.
    """

    weight: float
    check: float | None = None
    bet: float | None = None


HABITS = (Habit(0.5), Habit(0.3, 0.2, 0.5), Habit(0.2, 0.4, 0.5))
"""The careful, the bold, and the bold who does not believe much."""

Weights = tuple[float, ...]  # how likely each of the habits is
_BOLD = {habit.bet for habit in HABITS}

WEIGHTS: Weights = tuple(habit.weight for habit in HABITS)  # of somebody of whom nothing is known
_SLIP = 0.1  # how often somebody bets against the habit
_TEMPERATURE = 0.12  # of the softmax over the chances by which a bet against the habit is picked


@cache  # a few thousand: chances come from counting cards
def _plausible(chance: float) -> float:
    """How often a bet of such a chance is made against the habits, up to a factor."""
    return exp((chance - 1) / _TEMPERATURE)


@dataclass(frozen=True, slots=True)
class Mind:
    """Certain cards as a player: how likely each bet looks, and what each habit would say."""

    chances: Odds
    replies: tuple[Replies, ...]

    def foretells(self, last: int, action: int) -> list[float]:
        """By habit, how likely it makes this decision after `last`."""
        if action != CHECK:
            return self.explains(last, action)
        said = (replies[last] for replies in self.replies)
        return [1 - _SLIP if reply == CHECK else _SLIP / 2 for reply in said]

    def explains(self, last: int, bet: int) -> list[float]:
        """By habit, how likely it makes this bet above `last`."""
        plausible = [*map(_plausible, self.chances[last + 1 :])]
        slip = _SLIP * plausible[bet - last - 1] / sum(plausible)
        return [slip + (1 - _SLIP) * (replies[last] == bet) for replies in self.replies]


@lru_cache(maxsize=8192)
def mind_of(pool: int, hidden: int) -> Mind:
    """The mind of somebody with these cards who does not see `hidden` others."""
    chances = odds(pool, hidden)
    dared = {bold: _dared(bold, chances) for bold in _BOLD}
    return Mind(chances, tuple(_Replies(habit, chances, dared[habit.bet]) for habit in HABITS))


def _dared(bold: float | None, chances: Odds) -> int:
    """The highest bet that is at least as likely, `OPENING` where there is none."""
    if bold is None:
        return OPENING
    return next((bet for bet in _FROM_THE_TOP if chances[bet] >= bold), OPENING)


class _Replies(dict[int, int]):
    """What a habit says to each last bet, found when it is first asked."""

    __slots__ = ("_chances", "_dared", "_doubt")

    def __init__(self, habit: Habit, chances: Odds, dared: int) -> None:
        self._doubt, self._chances, self._dared = habit.check, chances, dared

    def __missing__(self, last: int) -> int:
        self[last] = said = self._said(last)
        return said

    def _said(self, last: int) -> int:
        chances, doubt = self._chances, self._doubt
        if doubt is not None and last != OPENING and chances[last] < doubt:
            return CHECK
        if last < self._dared:
            return self._dared
        top = max(chances[last + 1 :], default=0.0)
        if last != OPENING and 1 - chances[last] >= top:
            return CHECK
        return len(BETS) - 1 - chances[::-1].index(top)  # of equals the highest
