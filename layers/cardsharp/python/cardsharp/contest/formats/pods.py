"""Pods of two to eight teams: each round is drawn anew, and places score points."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from typing import ClassVar

from cardsharp.contest.formats.base import (
    RoundByRoundFormat,
    count_byes_since_joining,
    decided_pairings_with_outcomes,
    group_by_rank,
    register_format,
)
from cardsharp.contest.formats.pairing import (
    Pairing,
    PairingOutcome,
    PairingOutcomes,
    Pairings,
    SeededTeams,
    TeamId,
)
from cardsharp.contest.match_host import pairwise_share

BYE_POINTS = 0.5  # points for a bye: the mean of all places of a match


@register_format("tables")
@dataclass(frozen=True, slots=True)
class MultiTeamMatchFormat(RoundByRoundFormat):
    """Format with several teams in a match; a round is drawn when the previous one has ended.

    In the first round the best seeds are kept apart. Later the best team so far gets the
    opponents that it has met least, those nearest in rank first. There are as many rounds as a
    team needs at least to meet all others. The first of a match scores a point, the last
    nothing; equal scores are separated by the points made in the game.
    """

    by_points: ClassVar[bool] = True
    is_simulated: ClassVar[bool] = False

    max_teams_per_match: int = 4

    def draw(
        self,
        round_number: int,
        teams: SeededTeams,
        past_pairings: Pairings,
        outcomes: PairingOutcomes,
    ) -> Pairings:
        """Return the matches of the next round, all of about the same size."""
        by = self._compute_score_totals(teams, past_pairings, outcomes)
        free = [team for level in group_by_rank(teams, by) for team in level]
        if self.max_teams_per_match == 2 and len(free) % 2:  # noqa: PLR2004 - else nobody is alone
            bye_counts = count_byes_since_joining(teams, past_pairings)
            free.remove(min(reversed(free), key=bye_counts.__getitem__))
        # Dealing the teams out one by one puts the best seeds into different matches. It also
        # makes the sizes of the matches differ by one team at most.
        tables = ceil(len(free) / self.max_teams_per_match)
        pods = [free[table_index::tables] for table_index in range(tables)]
        if past_pairings:
            met = Counter(
                pair for pairing in past_pairings for pair in combinations(sorted(pairing.teams), 2)
            )
            pods = [_pop_pod(free, len(table), met) for table in pods]
        return tuple(
            Pairing(
                f"{round_number}-{table_number}",
                round_number,
                "table",
                tuple(sorted(table, key=teams.index)),
            )
            for table_number, table in enumerate(pods, 1)
        )

    def round_count(self, team_count: int) -> int:
        """Return the number of rounds."""
        return ceil((team_count - 1) / (self.max_teams_per_match - 1))

    def scores(self, teams: SeededTeams, outcomes: PairingOutcomes) -> dict[TeamId, float]:
        """Return the scores: one point for a first place, less for other places."""
        totals = self._compute_score_totals(
            teams, self.determined_pairings(teams, outcomes), outcomes
        )
        return {team: score for team, (score, _) in totals.items()}

    def standings(self, teams: SeededTeams, outcomes: PairingOutcomes) -> list[list[TeamId]]:
        """Return the places so far; equal scores are ordered by the points made in the game."""
        return group_by_rank(
            teams,
            self._compute_score_totals(teams, self.determined_pairings(teams, outcomes), outcomes),
        )

    def _compute_score_totals(
        self, teams: SeededTeams, pairings: Sequence[Pairing], decided: PairingOutcomes
    ) -> dict[TeamId, tuple[float, float]]:
        """Return each team's points for its places, and its points scored in the game."""
        idle = count_byes_since_joining(teams, pairings, self.late_joiners)
        score = {team: BYE_POINTS * times for team, times in idle.items()}
        game_points = dict.fromkeys(teams, 0.0)
        for pairing, decision in decided_pairings_with_outcomes(pairings, decided):
            shares = _compute_shares(pairing, decision)
            for team, share, points in zip(pairing.teams, shares, decision.points, strict=True):
                score[team] += share
                game_points[team] += points
        return {team: (round(score[team], 9), game_points[team]) for team in teams}


def _compute_shares(pairing: Pairing, decision: PairingOutcome) -> list[float]:
    """Return each team's fraction of opponents beaten at the table; the winner beat all."""
    won = (team == decision.winner for team in pairing.teams)
    rank_keys = list(zip(won, decision.points, strict=True))
    opponent_count = len(rank_keys) - 1
    return [
        (sum(pairwise_share(rank_key, opponent) for opponent in rank_keys) - 0.5) / opponent_count
        for rank_key in rank_keys
    ]


def _pop_pod(
    free_teams: list[TeamId], table_size: int, meeting_counts: Counter[tuple[TeamId, TeamId]]
) -> list[TeamId]:
    """Remove the first free team and its opponents from `free_teams`, and return them."""
    table = [free_teams.pop(0)]
    while len(table) < table_size:
        team = min(
            free_teams,
            key=lambda candidate: sum(
                meeting_counts[min(candidate, at), max(candidate, at)] for at in table
            ),
        )
        free_teams.remove(team)
        table.append(team)
    return table
