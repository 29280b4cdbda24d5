"""What a match of a contest came to: what its results and statistics are made of."""

from dataclasses import dataclass

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Facts:
    """A match that has ended, for its two teams in their order.

    `winner` is 0 or 1, None for a draw. `busts` are turns that lost their cards, in games that have
    such; `late` those that the host ended for running out of time.
    """

    points: Pair
    winner: int | None
    seconds: float
    turns: int
    busts: Pair = (0, 0)
    late: Pair = (0, 0)

    @property
    def turned(self) -> "Facts":
        """The same for the teams in the other order."""
        winner = None if self.winner is None else 1 - self.winner
        points, busts, late = (pair[::-1] for pair in (self.points, self.busts, self.late))
        return Facts(points, winner, self.seconds, self.turns, busts, late)
