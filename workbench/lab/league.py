"""Everybody against everybody: a cross table of duels."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from workbench.lab.duel import Duel
from workbench.lab.interval import Interval
from workbench.lab.plan import Plan
from workbench.lab.players import check_players
from workbench.lab.runs import run


@dataclass(frozen=True, slots=True)
class League:
    """The duels of a league; `duels` maps the places of two players, the lower first."""

    players: tuple[str, ...]
    duels: dict[tuple[int, int], Duel]

    def points(self, row: int, column: int) -> float:
        """What the player of `row` made of the one of `column`, in per cent."""
        if row < column:
            return self.duels[row, column].best[0]
        return 100 - self.duels[column, row].best[0]

    def interval(self, row: int, column: int) -> Interval:
        """The 95 % interval of it."""
        found = self.duels[min(row, column), max(row, column)].best[1]
        return found if row < column else Interval(100 - found.high, 100 - found.low)

    def mean(self, row: int) -> float:
        """The average of a player against all others."""
        others = (column for column in range(len(self.players)) if column != row)
        return fmean(self.points(row, column) for column in others)

    @property
    def ranking(self) -> list[int]:
        """The players' places in the order of their averages."""
        return sorted(range(len(self.players)), key=self.mean, reverse=True)


def play_league(
    players: Sequence[str], plan: Plan, pool: Executor | None, tell: Callable[[Plan], None]
) -> League:
    """The league in which each two play a duel by `plan`; `tell` hears of each that begins.

    Raises `ConfigError` where a player cannot be made; nothing was played then.
    """
    plans = {
        (one, two): replace(plan, first=first, second=second)
        for (one, first), (two, second) in combinations(enumerate(players), 2)
    }
    for duel in plans.values():
        check_players(duel)
    played = {}
    for places, duel in plans.items():
        tell(duel)
        played[places] = run(duel, pool)
    return League(tuple(players), played)
