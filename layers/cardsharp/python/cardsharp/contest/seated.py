"""Tables of two to eight: who sits together is drawn anew each round, and places make points."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from typing import ClassVar

from cardsharp.contest.formats import DrawnFormat, contest_format, decided_of, ranked, sat_out
from cardsharp.contest.pairing import Decision, Decisions, Pairing, Pairings, Seeds, Team
from cardsharp.contest.tables import share_of

SAT_OUT = 0.5  # what a team gets for a round in which it has no table: as much as the middle of one


@contest_format("tables")
@dataclass(frozen=True, slots=True)
class SeatedTables(DrawnFormat):
    """The format; the next round is drawn when the one before has ended.

    In the first round the best seeds sit apart. After that the best so far is joined by those whom
    it has met least, the nearest in rank before others. There are as many rounds as it takes to
    meet everybody at the least. A team that is before all others of its table has a point, the last
    nothing; of equal points those go first that made more of what the game counts.
    """

    by_points: ClassVar[bool] = True
    planned: ClassVar[bool] = False

    seats: int = 4

    def draw(self, number: int, teams: Seeds, known: Pairings, decided: Decisions) -> Pairings:
        """The tables of the next round, all of about the same size."""
        by = self._made(teams, known, decided)
        free = [team for level in ranked(teams, by) for team in level]
        if self.seats == 2 and len(free) % 2:  # noqa: PLR2004 - else nobody is alone
            before = sat_out(teams, known)
            free.remove(min(reversed(free), key=before.__getitem__))
        tables = ceil(len(free) / self.seats)
        drawn = [free[place::tables] for place in range(tables)]
        if known:
            met = Counter(pair for one in known for pair in combinations(sorted(one.teams), 2))
            drawn = [_joined(free, len(table), met) for table in drawn]
        return tuple(
            Pairing(f"{number}-{place}", number, "table", tuple(sorted(table, key=teams.index)))
            for place, table in enumerate(drawn, 1)
        )

    def number_of_rounds(self, teams: int) -> int:
        """How many rounds there are."""
        return ceil((teams - 1) / (self.seats - 1))

    def scores(self, teams: Seeds, decided: Decisions) -> dict[Team, float]:
        """A point for a table of which somebody is the first, less for other places."""
        made = self._made(teams, self.pairings(teams, decided), decided)
        return {team: score for team, (score, _) in made.items()}

    def table(self, teams: Seeds, decided: Decisions) -> list[list[Team]]:
        """The places so far."""
        return ranked(teams, self._made(teams, self.pairings(teams, decided), decided))

    def _made(
        self, teams: Seeds, known: Sequence[Pairing], decided: Decisions
    ) -> dict[Team, tuple[float, float]]:
        """The points of each team for its places, and those that it made in the game."""
        idle = sat_out(teams, known, self.late)
        score = {team: SAT_OUT * times for team, times in idle.items()}
        made = dict.fromkeys(teams, 0.0)
        for pairing, decision in decided_of(known, decided):
            shares = _shares(pairing, decision)
            for team, share, points in zip(pairing.teams, shares, decision.points, strict=True):
                score[team] += share
                made[team] += points
        return {team: (round(score[team], 9), made[team]) for team in teams}


def _shares(pairing: Pairing, decision: Decision) -> list[float]:
    """What part of the others at its table each has left behind; whoever has won, all of them."""
    won = (team == decision.winner for team in pairing.teams)
    order = list(zip(won, decision.points, strict=True))
    others = len(order) - 1
    return [(sum(share_of(own, one) for one in order) - 0.5) / others for own in order]


def _joined(free: list[Team], size: int, met: Counter[tuple[Team, Team]]) -> list[Team]:
    """The first of those who are free and who joins it, all of whom are free no more."""
    table = [free.pop(0)]
    while len(table) < size:
        least = min(free, key=lambda one: sum(met[min(one, at), max(one, at)] for at in table))
        free.remove(least)
        table.append(least)
    return table
