"""A pairing of two teams, the matches that decide it, and what a format of a contest answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

Team = str
"""A team's id."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two teams that are to meet; `key` tells it from every other pairing of the contest."""

    key: str
    round: int
    part: str
    teams: tuple[Team, Team]

    def seats(self, number: int) -> tuple[Team, Team]:
        """Who sits where in its match of that number, counted from 0: they change every time."""
        first, second = self.teams
        return (second, first) if number % 2 else (first, second)


@dataclass(frozen=True, slots=True)
class Score:
    """How a match ended: points in the order of the pairing's teams; the winner's place, if any."""

    points: tuple[int, int]
    winner: int | None

    @property
    def turned(self) -> "Score":
        """The same for the teams in the other order."""
        return Score(self.points[::-1], None if self.winner is None else 1 - self.winner)


@dataclass(frozen=True, slots=True)
class Decision:
    """How a pairing ended: matches won by each, and who goes on; None where both came out level."""

    wins: tuple[int, int]
    winner: Team | None


@dataclass(frozen=True, slots=True)
class Rules:
    """How many matches decide a pairing.

    All of `matches`, an odd number, are played; a drawn one counts for nobody. While both have won
    as many, one more is played, up to `most` in all: then more points decide, then the better seed,
    as two teams that are both absent would draw for ever. Without `level`, in formats that award
    half a point, a pairing that is level after `matches` stays so.
    """

    matches: int = 5
    most: int = 15
    level: bool = False

    def __post_init__(self) -> None:
        if self.matches % 2 == 0 or not 0 < self.matches <= self.most:
            raise ValueError("A pairing has an odd number of matches, not more than its most.")

    def decision(self, pairing: Pairing, scores: Sequence[Score]) -> Decision | None:
        """How the pairing ended; None while another match is to be played.

        The first of the pairing's teams is the better seed.
        """
        wins = _wins(scores)
        if len(scores) < self.matches:
            return None
        if wins[0] != wins[1]:
            return Decision(wins, pairing.teams[wins[1] > wins[0]])
        if self.level:
            return Decision(wins, None)
        if len(scores) < self.most:
            return None
        points = [sum(score.points[place] for score in scores) for place in (0, 1)]
        return Decision(wins, pairing.teams[points[1] > points[0]])


def _wins(scores: Sequence[Score]) -> tuple[int, int]:
    won = [score.winner for score in scores]
    return won.count(0), won.count(1)


class Format(Protocol):
    """A way to hold a contest: pure, from what was decided to what is to be played.

    Where it awards half a point, a pairing may end `level`. After so many lost pairings as `lives`
    a team is out, None where nobody ever is. It is `deployed` unless its pairings need a library
    that is not.
    """

    level: ClassVar[bool]
    lives: ClassVar[int | None]
    deployed: ClassVar[bool]

    def pairings(
        self, teams: Sequence[Team], decided: Mapping[str, Decision]
    ) -> tuple[Pairing, ...]:
        """Every pairing that is known by now, decided or not, the earlier ones first.

        `teams` is in the order of their seeds, the best first. More decisions never take away or
        change a pairing that was known before.
        """

    def table(self, teams: Sequence[Team], decided: Mapping[str, Decision]) -> list[list[Team]]:
        """The places so far, the best first; teams that share a place stand together."""


F = TypeVar("F", bound=Format)

FORMATS: dict[str, Format] = {}
"""The formats by their names; each enters itself."""


def contest_format(name: str) -> Callable[[type[F]], type[F]]:
    """A decorator that enters a format under that name, as it is without arguments."""

    def entered(made: type[F]) -> type[F]:
        FORMATS[name] = made()
        return made

    return entered
