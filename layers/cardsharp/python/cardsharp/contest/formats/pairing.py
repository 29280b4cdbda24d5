"""Pairings of teams, and the series of matches that decides a pairing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, Self, TypeVar

TeamId = str  # a team's id
SeededTeams = Sequence[TeamId]  # teams in the order of their seeds, the best first
LateJoiners = tuple[tuple[TeamId, int], ...]  # those who came late, each with its first round


@dataclass(frozen=True, slots=True)
class Pairing:
    """Teams that play each other, usually two; `key` is unique within the contest."""

    key: str
    round: int
    section: str
    teams: tuple[TeamId, ...]

    def seating_of_match(self, match_number: int) -> tuple[TeamId, ...]:
        """Return the seating in the match of this number, from 0: seats rotate each match."""
        offset = match_number % len(self.teams)
        return self.teams[offset:] + self.teams[:offset]


@dataclass(frozen=True, slots=True)
class MatchScore:
    """Score of a match: each team's points in the game, and the index of the winner, if any.

    A tuple has one figure for each team, in the order of the teams. An empty tuple means that
    the figures are not recorded.
    """

    points: tuple[float, ...]
    winner: int | None

    def reordered(self, order: Sequence[int]) -> Self:
        """Return the score with its teams in another order, given as indices of the current one."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        changed: dict[str, Any] = {
            name: tuple(value[index] for index in order)
            for name, value in values.items()
            if isinstance(value, tuple) and value
        }
        winner = None if self.winner is None else order.index(self.winner)
        return replace(self, winner=winner, **changed)


@dataclass(frozen=True, slots=True)
class PairingOutcome:
    """Outcome of a pairing: matches won, the team that advances (None if level), total points."""

    wins: tuple[int, ...]
    winner: TeamId | None
    points: tuple[float, ...] = ()

    @classmethod
    def from_scores(
        cls, teams: Sequence[TeamId], scores: Sequence[MatchScore], winner: TeamId | None
    ) -> "PairingOutcome":
        """Build the outcome of a pairing from its match scores and its winner."""
        won = [score.winner for score in scores]
        team_indexes = range(len(teams))
        points = tuple(
            sum(score.points[team_index] for score in scores) for team_index in team_indexes
        )
        return cls(tuple(won.count(team_index) for team_index in team_indexes), winner, points)


Pairings = tuple[Pairing, ...]
PairingOutcomes = Mapping[str, PairingOutcome]  # how pairings ended, by their keys
# Pairings as they were drawn, each with its outcome, or None if it is not decided.
PairingHistory = tuple[tuple[Pairing, PairingOutcome | None], ...]


@dataclass(frozen=True, slots=True)
class SeriesRules:
    """Rules by which a series of matches decides a pairing.

    All of `min_matches`, an odd number, are played; a drawn match counts for neither team.
    While both teams have won the same number, one more match is played, up to `max_matches` in
    all. Then the points decide, and if they are equal, the better seed. Without this limit, two
    absent teams would draw for ever. With `allows_ties`, in formats that award half a point, a
    pairing that is level after `min_matches` stays level. With `by_points` the points of any
    number of matches decide.
    """

    min_matches: int = 5
    max_matches: int = 15
    allows_ties: bool = False
    by_points: bool = False

    def __post_init__(self) -> None:
        even = self.min_matches % 2 == 0 and not self.by_points
        if even or not 0 < self.min_matches <= self.max_matches:
            raise ValueError("min_matches must be odd and at most max_matches.")

    def outcome(self, pairing: Pairing, scores: Sequence[MatchScore]) -> PairingOutcome | None:
        """Return the outcome, the better seed first; None while another match has to be played."""
        if len(scores) < self.min_matches:
            return None
        outcome = PairingOutcome.from_scores(pairing.teams, scores, None)
        counted = outcome.points if self.by_points else outcome.wins
        if counted.count(max(counted)) == 1:
            return replace(outcome, winner=pairing.teams[counted.index(max(counted))])
        if self.allows_ties or self.by_points:
            return outcome
        if len(scores) < self.max_matches:
            return None
        # `index` returns the first of equal entries, which is the better seed.
        return replace(outcome, winner=pairing.teams[outcome.points.index(max(outcome.points))])


T = TypeVar("T")

_MAX_WEIGHT = 10**15  # more than the sum of all costs of any matching


def min_cost_pairs(items: Sequence[T], cost: Callable[[T, T], int | None]) -> list[tuple[T, T]]:
    """Return as many pairs as possible with the lowest total `cost`.

    This is a maximum weight matching (Edmonds' blossom algorithm, by networkx). Items whose
    cost is None are never paired. The items' order is kept within the pairs and among them.
    """
    import networkx as nx  # noqa: PLC0415 - slow to import, and not deployed

    # networkx wraps each access to edges into view objects, which take a third of the time of a
    # matching. This subclass returns the plain dictionary instead.
    looked_up = {"__getitem__": lambda graph, item: graph._adj[item]}  # noqa: SLF001
    graph: nx.Graph[int] = type("Graph", (nx.Graph,), looked_up)()
    for first_index, second_index in combinations(range(len(items)), 2):
        # The algorithm maximises the weight, so a low cost becomes a high weight.
        weight = cost(items[first_index], items[second_index])
        if weight is not None:
            graph.add_edge(first_index, second_index, weight=_MAX_WEIGHT - weight)
    matching = nx.max_weight_matching(graph, maxcardinality=True)
    return [
        (items[first_index], items[second_index])
        for first_index, second_index in sorted(map(sorted, matching))
    ]
