"""Figures of a contest: what its teams and its rounds came to, summed up from its results."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from statistics import fmean

from cardsharp.contest.entries import Result
from cardsharp.contest.facts import Facts
from cardsharp.contest.ladder import ratings
from cardsharp.contest.pairing import Team
from cardsharp.ratings import NORMAL_95

_DRAWN = 2000


@dataclass(frozen=True, slots=True)
class Figures:
    """What some matches came to: means of a match, `points` of one team in it."""

    points: float
    busts: float
    late: int
    seconds: float


def figures(played: Sequence[tuple[Facts, Sequence[int]]]) -> Figures:
    """The figures of matches, each for the teams on some of its places."""
    return Figures(
        points=_mean([fmean(facts.points[at] for at in places) for facts, places in played]),
        busts=_mean([sum(facts.busts[at] for at in places) for facts, places in played]),
        late=sum(facts.late[at] for facts, places in played for at in places),
        seconds=_mean([facts.seconds for facts, _ in played]),
    )


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


@lru_cache(maxsize=4)
def chance_strongest(team: Team, results: tuple[Result, ...]) -> float | None:
    """The chance that a team is the strongest of all, by all its contest's matches; None without.

    Ratings fitted to the matches are drawn anew within their margins, so many times.
    """
    shares = [
        ((result.teams[one], result.teams[other]), share)
        for result in results
        for facts in result.facts
        for one, other, share in facts.shares()
    ]
    found = ratings({one for teams, _ in shares for one in teams}, shares)
    if team not in found:
        return None
    dice = Random(0)
    drawn = [
        max(found, key=lambda one: dice.gauss(found[one].value, found[one].margin / NORMAL_95))
        for _ in range(_DRAWN)
    ]
    return drawn.count(team) / _DRAWN
