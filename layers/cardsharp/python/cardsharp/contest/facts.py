"""What a match of a contest came to: what its results and statistics are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from typing import Any

Numbers = tuple[float, ...]  # one for each team at a table, in their order


_BY_TEAM = ("points", "busts", "late", "banked", "moves", "autopicks")


@dataclass(frozen=True, slots=True)
class Facts:
    """A match that has ended, for its teams in their order.

    `points` are what the game counts. `winner` is a team's place, None for a draw. `busts` are
    turns that lost their cards, in games that have such; `late` those that the host ended for
    running out of time; `banked` those that ended well. `autopicks` are moves in which the host
    was to pick. What is not known is empty, as in matches of older versions.
    """

    points: Numbers
    winner: int | None
    seconds: float
    turns: int
    busts: tuple[int, ...] = (0, 0)
    late: tuple[int, ...] = (0, 0)
    banked: tuple[int, ...] = ()
    moves: tuple[int, ...] = ()
    autopicks: tuple[int, ...] = ()
    began: datetime | None = None

    def ordered(self, order: Sequence[int]) -> "Facts":
        """The same where the teams stand in this order of their places now."""
        known: dict[str, Any] = {name: getattr(self, name) for name in _BY_TEAM}
        for name, counts in known.items():
            known[name] = tuple(counts[place] for place in order if counts)
        winner = None if self.winner is None else order.index(self.winner)
        return replace(self, winner=winner, **known)

    def shares(self) -> list[tuple[int, int, float]]:
        """What each made of each other: 1, a half or 0; of more than two those behind by points."""
        more = len(self.points) > 2  # noqa: PLR2004 - of two the winner says it all
        order = [(at == self.winner, more and one) for at, one in enumerate(self.points)]
        return [
            (one, other, share_of(order[one], order[other]))
            for one, other in combinations(range(len(order)), 2)
        ]


def share_of(one: object, other: object) -> float:
    """1 where what one has is more, a half where it is as much, else 0."""
    return 0.5 if one == other else float(one > other)  # type: ignore[operator]  # alike


def shown(points: float) -> str:
    """Points with as few digits as say them."""
    return f"{points:.10g}"
