"""What a player with certain cards would say: simple habits, and how well they explain a bet.

The habits are the generic ones of players who look at their own cards. Nobody is known to have
one of them, so each only has a weight before the first bet, and none excludes a bet for good.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.strategies.odds import Odds, odds

OPENING = -1
"""The last bet where there is none: as an index it is the end of `Mind.replies`."""

Replies = Sequence[int] | dict[int, int]
"""What is said to each last bet; of a habit at the end what opens a round."""


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

Weights = tuple[float, ...]
"""How likely each of the habits is."""

WEIGHTS: Weights = tuple(habit.weight for habit in HABITS)
"""Of somebody of whom nothing is known."""

_SLIP = 0.1
"""How often somebody bets against the habit."""

_TEMPERATURE = 0.12
"""Of the softmax over the chances by which a bet against the habit is picked."""


@dataclass(frozen=True, slots=True)
class Mind:
    """Certain cards as a player: what each habit would say, and how plausible each bet looks."""

    replies: tuple[Replies, ...]
    plausible: Odds
    chances: Odds

    def foretells(self, last: int, action: int) -> list[float]:
        """By habit, how likely it makes this decision after `last`."""
        if action != CHECK:
            return self.explains(last, action)
        said = (replies[last] for replies in self.replies)
        return [1 - _SLIP if reply == CHECK else _SLIP / 2 for reply in said]

    def explains(self, last: int, bet: int) -> list[float]:
        """By habit, how likely it makes this bet above `last`."""
        slip = _SLIP * self.plausible[bet] / sum(self.plausible[last + 1 :])
        return [slip + (1 - _SLIP) * (replies[last] == bet) for replies in self.replies]


@lru_cache(maxsize=8192)
def mind_of(pool: int, hidden: int) -> Mind:
    """The mind of somebody with these cards who does not see `hidden` others."""
    chances = odds(pool, hidden)
    careful = _careful(chances)
    return Mind(
        tuple(_replies(habit, chances, careful) for habit in HABITS),
        [exp((chance - 1) / _TEMPERATURE) for chance in chances],
        chances,
    )


def _careful(chances: Odds) -> list[int]:
    """To each last bet: check if it fails as likely as the best bet above holds, else bet that."""
    replies = [CHECK] * len(BETS)
    best, top = CHECK, -1.0
    for last in range(len(BETS) - 1, -1, -1):
        if 1 - chances[last] < top:
            replies[last] = best
        if chances[last] > top:
            best, top = last, chances[last]
    return [*replies, best]


def _replies(habit: Habit, chances: Odds, careful: list[int]) -> Replies:
    if habit.check is None or habit.bet is None:
        return careful
    dares = [bet for bet, chance in enumerate(chances) if chance >= habit.bet]
    highest = dares[-1] if dares else OPENING
    replies = [
        CHECK if chance < habit.check else highest if last < highest else careful[last]
        for last, chance in enumerate(chances)
    ]
    return [*replies, highest if dares else careful[OPENING]]
