"""A pairing of teams at a table, and the matches that decide it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, Self, TypeVar

Team = str  # a team's id
Seeds = Sequence[Team]  # teams in the order of their seeds, the best first
Late = tuple[tuple[Team, int], ...]  # those who came late, each with its first round


@dataclass(frozen=True, slots=True)
class Pairing:
    """Teams that are to meet, mostly two; `key` tells it from every other one of the contest."""

    key: str
    round: int
    part: str
    teams: tuple[Team, ...]

    def seats(self, number: int) -> tuple[Team, ...]:
        """Who sits where in its match of that number, counted from 0: they move on every time."""
        first = number % len(self.teams)
        return self.teams[first:] + self.teams[:first]


@dataclass(frozen=True, slots=True)
class Score:
    """How a match ended: what each made in the game, and the place of the winner, if any.

    A tuple has a figure for each team, in the order of the teams; an empty one is not known.
    """

    points: tuple[float, ...]
    winner: int | None

    def ordered(self, order: Sequence[int]) -> Self:
        """The same where the teams stand in this order of their places now."""
        known = {one.name: getattr(self, one.name) for one in fields(self)}
        changed: dict[str, Any] = {
            name: tuple(told[place] for place in order)
            for name, told in known.items()
            if isinstance(told, tuple) and told
        }
        winner = None if self.winner is None else order.index(self.winner)
        return replace(self, winner=winner, **changed)


@dataclass(frozen=True, slots=True)
class Decision:
    """How a pairing ended: matches won, who goes on (None if level), `points` of all matches."""

    wins: tuple[int, ...]
    winner: Team | None
    points: tuple[float, ...] = ()

    @classmethod
    def of(cls, teams: Sequence[Team], scores: Sequence[Score], winner: Team | None) -> "Decision":
        """The decision for a winner after such matches."""
        won = [score.winner for score in scores]
        places = range(len(teams))
        points = tuple(sum(score.points[place] for score in scores) for place in places)
        return cls(tuple(won.count(place) for place in places), winner, points)


Pairings = tuple[Pairing, ...]
Decisions = Mapping[str, Decision]  # how pairings ended, by their keys
Drawn = tuple[tuple[Pairing, Decision | None], ...]  # as drawn, with the end, None without one


@dataclass(frozen=True, slots=True)
class Rules:
    """How many matches decide a pairing.

    All of `matches`, an odd number, are played; a drawn one counts for nobody. While both have won
    as many, one more is played, up to `most` in all: then more points decide, then the better seed,
    as two teams that are both absent would draw for ever. Without `level`, in formats that award
    half a point, a pairing that is level after `matches` stays so. Or it is decided `by_points`,
    those of any number of matches.
    """

    matches: int = 5
    most: int = 15
    level: bool = False
    by_points: bool = False

    def __post_init__(self) -> None:
        even = self.matches % 2 == 0 and not self.by_points
        if even or not 0 < self.matches <= self.most:
            raise ValueError("A pairing has an odd number of matches, not more than its most.")

    def decision(self, pairing: Pairing, scores: Sequence[Score]) -> Decision | None:
        """How the pairing ended, its better seed first; None while one more match is to come."""
        if len(scores) < self.matches:
            return None
        found = Decision.of(pairing.teams, scores, None)
        counted = found.points if self.by_points else found.wins
        if counted.count(max(counted)) == 1:
            return replace(found, winner=pairing.teams[counted.index(max(counted))])
        if self.level or self.by_points:
            return found
        if len(scores) < self.most:
            return None
        return replace(found, winner=pairing.teams[found.points.index(max(found.points))])


T = TypeVar("T")

_MOST = 10**15  # more than all that weighs against any pairs together


def pairs(items: Sequence[T], against: Callable[[T, T], int | None]) -> list[tuple[T, T]]:
    """As many pairs as can be, for which the sum of what is `against` each is least.

    It is a matching of the greatest weight (Edmonds' blossoms, by networkx). Two against whom it is
    None are no pair. In a pair, and among the pairs, the order is that of the items.
    """
    import networkx as nx  # noqa: PLC0415 - slow to import, and not deployed

    # Its edges are looked up without networkx's views of them, which cost a third of a matching.
    looked_up = {"__getitem__": lambda graph, item: graph._adj[item]}  # noqa: SLF001
    graph: nx.Graph[int] = type("Graph", (nx.Graph,), looked_up)()
    for one, other in combinations(range(len(items)), 2):
        weight = against(items[one], items[other])
        if weight is not None:
            graph.add_edge(one, other, weight=_MOST - weight)
    found = nx.max_weight_matching(graph, maxcardinality=True)
    return [(items[one], items[other]) for one, other in sorted(map(sorted, found))]
