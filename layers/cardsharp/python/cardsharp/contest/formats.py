"""What a format of a contest answers, and which there are: each enters itself by its name.

Where places are by points, a pairing won is one, a level one a half; then more matches won count.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeVar

from cardsharp.contest.bracket import Game
from cardsharp.contest.pairing import (
    Decision,
    Decisions,
    Drawn,
    Late,
    Pairing,
    Pairings,
    Rules,
    Seeds,
    Team,
)


class Format(ABC):
    """A way to hold a contest: pure, from what was decided to what is to be played.

    Where it awards half a point, a pairing may end `level`; or it is decided `by_points`, not by
    matches won. After so many lost pairings as `lives` a team is out, None where nobody ever is. It
    is `planned` unless it takes too long to simulate.
    """

    __slots__ = ()

    level: ClassVar[bool] = True
    by_points: ClassVar[bool] = False
    lives: ClassVar[int | None] = None
    planned: ClassVar[bool] = True

    @property
    def seats(self) -> int:
        """How many teams sit at a table, at the most."""
        return 2

    def given(self, **facts: object) -> Self:
        """The same that knows those facts of a contest that are anything to its format."""
        made: Any = self
        known = {one.name for one in fields(made)} & facts.keys()
        same: Self = replace(made, **{name: facts[name] for name in known})
        return same

    def open_until(self, _teams: Seeds) -> int | None:
        """The last round from which on a team may take part; 0 without one, None without a last."""
        return 0

    def rules(self, matches: int, most: int) -> Rules:
        """How so many matches decide a pairing."""
        return Rules(matches, most, level=self.level, by_points=self.by_points)

    def games(self, _teams: int) -> tuple[Game, ...]:
        """The bracket for so many teams; none where there is no bracket."""
        return ()

    @abstractmethod
    def pairings(self, teams: Seeds, decided: Decisions) -> Pairings:
        """Every pairing known by now, the earlier ones first; more decisions change none of it."""

    def scores(self, _teams: Seeds, _decided: Decisions) -> dict[Team, float]:
        """The points by which the places are; none where they are by something else."""
        return {}

    @abstractmethod
    def table(self, teams: Seeds, decided: Decisions) -> list[list[Team]]:
        """The places so far, the best first; teams that share a place stand together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFormat(Format):
    """A format that teams may join `late`, with nothing from before; it is no longer for them."""

    late: Late = ()

    def open_until(self, teams: Seeds) -> int | None:
        """The last round from which on a team may take part; None without a last."""
        return self.number_of_rounds(len(self.there(teams, 1)))

    def there(self, teams: Seeds, number: int) -> list[Team]:
        """The teams that take part in the round of that number."""
        since = dict(self.late)
        return [team for team in teams if since.get(team, 1) <= number]

    @abstractmethod
    def number_of_rounds(self, teams: int) -> int | None:
        """How many rounds there are for so many teams; None where late ones bring further ones."""

    def table(self, teams: Seeds, decided: Decisions) -> list[list[Team]]:
        """The places by points, then by matches won less matches lost."""
        score, margin = self.scores(teams, decided), dict.fromkeys(teams, 0)
        for pairing, decision in decided_of(self.pairings(teams, decided), decided):
            first, second = pairing.teams
            difference = decision.wins[0] - decision.wins[1]
            margin[first] += difference
            margin[second] -= difference
        return ranked(teams, {team: (score[team], margin[team]) for team in teams})


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFormat(OpenFormat):
    """A format that draws each round when the one before has ended.

    A round that was `drawn` before stays as it is while all before it ended as then: so nothing is
    drawn twice, and whoever only looks at a contest, which never `draws`, needs no matching.
    """

    drawn: tuple[Drawn, ...] = ()
    draws: bool = True

    def pairings(self, teams: Seeds, decided: Decisions) -> Pairings:
        """Every pairing that is known by now."""
        known: Pairings = ()
        last: Pairings = ()
        before = [_by_round(one) for one in self.drawn]
        for number in range(1, (self.number_of_rounds(len(self.there(teams, 1))) or 0) + 1):
            if any(pairing.key not in decided for pairing in last):
                break
            ended = [(one, decided[one.key]) for one in last]
            before = [one for one in before if one[number - 1] == ended]
            there = self.there(teams, number)
            last = _again(before, number, there) or (
                self.draw(number, there, known, decided) if self.draws else ()
            )
            known += last
        return known

    @abstractmethod
    def draw(self, number: int, teams: Seeds, known: Pairings, decided: Decisions) -> Pairings:
        """The pairings of the round of that number, of the teams that are there."""


_Ended = list[tuple[Pairing, Decision | None]]


def _by_round(drawn: Drawn) -> defaultdict[int, _Ended]:
    """What was drawn, by the numbers of its rounds."""
    found: defaultdict[int, _Ended] = defaultdict(list)
    for one, end in drawn:
        found[one.round].append((one, end))
    return found


def _again(before: Sequence[Mapping[int, _Ended]], number: int, teams: Seeds) -> Pairings:
    """A round of these teams as it was drawn after the same; nothing where it never was."""
    for drawn in before:
        found = tuple(one for one, _ in drawn.get(number, ()))
        if all(set(one.teams) <= set(teams) for one in found):
            return found
    return ()


F = TypeVar("F", bound=Format)

FORMATS: dict[str, Format] = {}  # the formats by their names


def contest_format(name: str) -> Callable[[type[F]], type[F]]:
    """A decorator that enters a format under that name, as it is without arguments."""

    def entered(made: type[F]) -> type[F]:
        FORMATS[name] = made()
        return made

    return entered


def points(teams: Seeds, played: Iterable[tuple[Pairing, Decision]]) -> dict[Team, float]:
    """The points of each team."""
    found = dict.fromkeys(teams, 0.0)
    for pairing, decision in played:
        for team in pairing.teams:
            if decision.winner in (team, None):
                found[team] += 1.0 if decision.winner else 0.5
    return found


def decided_of(pairings: Iterable[Pairing], decided: Decisions) -> list[tuple[Pairing, Decision]]:
    """The pairings that ended, each with how."""
    return [(pairing, decided[pairing.key]) for pairing in pairings if pairing.key in decided]


def sat_out(teams: Seeds, known: Sequence[Pairing], late: Late = ()) -> Counter[Team]:
    """How often each team had no opponent since it was there."""
    rounds, since = {pairing.round for pairing in known}, dict(late)
    played = Counter(team for pairing in known for team in pairing.teams)
    there = {team: sum(number >= since.get(team, 1) for number in rounds) for team in teams}
    return Counter({team: there[team] - played[team] for team in teams})


def ranked(teams: Seeds, by: Mapping[Team, tuple[float, ...]]) -> list[list[Team]]:
    """The teams, those with the most of it first; who has as much shares a place."""
    ranks = sorted(set(by.values()), reverse=True)
    return [[team for team in teams if by[team] == rank] for rank in ranks]
