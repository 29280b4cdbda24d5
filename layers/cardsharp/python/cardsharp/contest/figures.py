"""Figures of a contest: what its teams and its rounds came to, summed up from its results."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from cardsharp.contest.entries import Result
from cardsharp.contest.facts import Facts
from cardsharp.contest.ladder import ratings
from cardsharp.contest.pairing import Team
from cardsharp.ratings import NORMAL_95

_DRAWN = 2000


@dataclass(frozen=True, slots=True)
class TeamFigures:
    """What a team has done so far; `points`, `busts` and `seconds` are means of its matches."""

    pairings: tuple[int, int]
    matches: tuple[int, int, int]
    points: float
    busts: float
    late: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RoundFigures:
    """What the matches of a tag came to; means are of a match, points of one team in it."""

    pairings: int
    decided: int
    matches: int
    points: float
    busts: float
    late: int
    seconds: float


def of_team(team: Team, results: Iterable[Result]) -> TeamFigures:
    """The figures of a team: pairings won and lost, matches won, drawn and lost."""
    own = [result for result in results if team in result.teams]
    decided = [result.winner for result in own if result.decided]
    played = [(facts, result.teams.index(team)) for result in own for _match, facts in result.ended]
    won = sum(facts.winner == place for facts, place in played)
    drawn = sum(facts.winner is None for facts, _ in played)
    return TeamFigures(
        pairings=(decided.count(team), sum(winner not in (team, None) for winner in decided)),
        matches=(won, drawn, len(played) - won - drawn),
        points=_mean([facts.points[place] for facts, place in played]),
        busts=_mean([facts.busts[place] for facts, place in played]),
        late=sum(facts.late[place] for facts, place in played),
        seconds=_mean([facts.seconds for facts, _ in played]),
    )


def of_round(results: Sequence[Result]) -> RoundFigures:
    """The figures of some pairings together."""
    played = [facts for result in results for _match, facts in result.ended]

    def mean(figure: Callable[[Facts], float]) -> float:
        return _mean([figure(facts) for facts in played])

    return RoundFigures(
        pairings=len(results),
        decided=sum(result.decided for result in results),
        matches=len(played),
        points=mean(lambda facts: sum(facts.points) / len(facts.points)),
        busts=mean(lambda facts: sum(facts.busts)),
        late=sum(sum(facts.late) for facts in played),
        seconds=mean(lambda facts: facts.seconds),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


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
