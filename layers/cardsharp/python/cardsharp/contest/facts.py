"""What a match of a contest came to: what its results and statistics are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

Numbers = tuple[float, ...]
"""One for each team at a table, in their order."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A match that has ended, for its teams in their order.

    `points` are what the game counts. `winner` is a team's place, None for a draw. `busts` are
    turns that lost their cards, in games that have such; `late` those that the host ended for
    running out of time.
    """

    points: Numbers
    winner: int | None
    seconds: float
    turns: int
    busts: tuple[int, ...] = (0, 0)
    late: tuple[int, ...] = (0, 0)

    def ordered(self, order: Sequence[int]) -> "Facts":
        """The same where the teams stand in this order of their places now."""
        return Facts(
            tuple(self.points[place] for place in order),
            None if self.winner is None else order.index(self.winner),
            self.seconds,
            self.turns,
            tuple(self.busts[place] for place in order),
            tuple(self.late[place] for place in order),
        )

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
