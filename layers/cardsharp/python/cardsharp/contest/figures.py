"""Figures of a contest: what its teams and its rounds came to, summed up from its results."""

from collections.abc import Iterable, Sequence
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


@dataclass(frozen=True, slots=True)
class TeamFigures:
    """What a team has done so far: pairings won and lost, matches won, drawn and lost."""

    pairings: tuple[int, int]
    matches: tuple[int, int, int]
    all: Figures


@dataclass(frozen=True, slots=True)
class RoundFigures:
    """What some pairings came to."""

    pairings: int
    decided: int
    matches: int
    all: Figures


def of_team(team: Team, results: Iterable[Result]) -> TeamFigures:
    """The figures of a team."""
    own = [result for result in results if team in result.teams]
    decided = [result.winner for result in own if result.decided]
    played = [(facts, result.teams.index(team)) for result in own for _match, facts in result.ended]
    won = sum(facts.winner == place for facts, place in played)
    drawn = sum(facts.winner is None for facts, _ in played)
    return TeamFigures(
        pairings=(decided.count(team), sum(winner not in (team, None) for winner in decided)),
        matches=(won, drawn, len(played) - won - drawn),
        all=_figures([(facts, (place,)) for facts, place in played]),
    )


def of_round(results: Sequence[Result]) -> RoundFigures:
    """The figures of some pairings together."""
    played = [facts for result in results for _match, facts in result.ended]
    return RoundFigures(
        pairings=len(results),
        decided=sum(result.decided for result in results),
        matches=len(played),
        all=_figures([(facts, range(len(facts.points))) for facts in played]),
    )


def _figures(played: Sequence[tuple[Facts, Sequence[int]]]) -> Figures:
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
