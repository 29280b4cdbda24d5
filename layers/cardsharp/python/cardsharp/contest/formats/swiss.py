"""Swiss system: each round pairs teams of similar points that have not met yet."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from cardsharp.contest.formats.base import (
    RoundByRoundFormat,
    count_byes_since_joining,
    count_points,
    decided_pairings_with_outcomes,
    register_format,
)
from cardsharp.contest.formats.pairing import (
    Pairing,
    PairingOutcomes,
    Pairings,
    SeededTeams,
    TeamId,
    min_cost_pairs,
)

BYE = -1  # stands for the opponent of a team that has a bye
# Costs of a pair: for each time that the teams have met, and for the square of the half points
# that separate them. Each is larger than all lower-ranking costs of a round together. So avoiding
# a rematch comes first, then equal points, then the order within equal points.
_REMATCH_COST, _SCORE_GAP_COST = 10**8, 10**4


@register_format("swiss")
@dataclass(frozen=True, slots=True)
class Swiss(RoundByRoundFormat):
    """Swiss system; a round is drawn when the previous one has ended.

    There is one round more than single elimination would need, but at most half as many rounds
    as teams. This number is always possible without a rematch (Dirac's theorem). With an odd
    number of teams one gets a bye each round, which scores a point: the lowest of the teams
    with the fewest byes.
    """

    def draw(
        self,
        round_number: int,
        teams: SeededTeams,
        past_pairings: Pairings,
        outcomes: PairingOutcomes,
    ) -> Pairings:
        """Return the pairings of the next round."""
        score = self._count_points_with_byes(teams, past_pairings, outcomes)
        pairs = _pair_teams(tuple(teams), past_pairings, tuple(score[team] for team in teams))
        return tuple(
            Pairing(f"{round_number}-{pair_number}", round_number, "round", pair)
            for pair_number, pair in enumerate(pairs, 1)
        )

    def scores(self, teams: SeededTeams, outcomes: PairingOutcomes) -> dict[TeamId, float]:
        """Return the points: one for a won pairing or a bye, a half for a level pairing."""
        return self._count_points_with_byes(
            teams, self.determined_pairings(teams, outcomes), outcomes
        )

    def round_count(self, team_count: int) -> int:
        """Return the number of rounds."""
        return min((team_count - 1).bit_length() + 1, (team_count + 1) // 2)

    def _count_points_with_byes(
        self, teams: SeededTeams, pairings: Sequence[Pairing], decided: PairingOutcomes
    ) -> dict[TeamId, float]:
        score = count_points(teams, decided_pairings_with_outcomes(pairings, decided))
        for team, times in count_byes_since_joining(teams, pairings, self.late_joiners).items():
            score[team] += times
        return score


@lru_cache(maxsize=256)
def _pair_teams(
    teams: tuple[TeamId, ...], pairings: Pairings, score: tuple[float, ...]
) -> list[tuple[TeamId, TeamId]]:
    """Return the next round's pairs, the best pair first, each with its better seed first.

    `score` is in the order of `teams`.
    """
    met = Counter(frozenset(pairing.teams) for pairing in pairings)
    idle = count_byes_since_joining(teams, pairings)
    ranked_seeds = sorted(range(len(teams)), key=lambda seed: (-score[seed], seed))
    level = Counter(score)
    rank_by_seed = {seed: at for at, seed in enumerate(ranked_seeds)}

    def against(first_seed: int, second_seed: int) -> int:
        """Return the cost of a pair: rematches weigh most, then the gap between the scores."""
        if BYE in (first_seed, second_seed):
            seed = max(first_seed, second_seed)
            return _REMATCH_COST * idle[teams[seed]] + _SCORE_GAP_COST * (
                len(teams) - rank_by_seed[seed]
            )
        rematch_count = met[frozenset((teams[first_seed], teams[second_seed]))]
        apart = round(2 * abs(score[first_seed] - score[second_seed])) ** 2
        # Among teams with equal points, the upper half meets the lower half, as in a first round.
        # The first of the upper half meets the first of the lower half, and so on.
        fold = (
            0
            if apart
            else abs(
                abs(rank_by_seed[first_seed] - rank_by_seed[second_seed])
                - level[score[first_seed]] // 2
            )
        )
        return _REMATCH_COST * rematch_count + _SCORE_GAP_COST * apart + fold

    bye_slot = [BYE] if len(teams) % 2 else []
    pairs = min_cost_pairs([*ranked_seeds, *bye_slot], against)
    return [(teams[min(pair)], teams[max(pair)]) for pair in pairs if BYE not in pair]
