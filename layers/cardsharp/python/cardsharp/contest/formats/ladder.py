"""Ladder: all teams play equally often, more often against teams of similar strength."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from cardsharp.analysis.ratings import MEAN_RATING, HeadToHeadScore, Rating, ratings_of
from cardsharp.contest.formats.base import (
    RoundByRoundFormat,
    decided_pairings_with_outcomes,
    group_by_rank,
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

MAX_EXTRA_PAIRINGS = 2  # pairings that a team may have more than the team with the fewest
CLOSENESS_WEIGHT = 3  # teams of equal strength meet 1 + this many times as often as distant ones
HALF_WEIGHT_ELO = 100  # difference in Elo points at which half of this weight is left
MATCHES_PER_ROUND = 20  # practice matches of a round; one response of the arena can list them
_EXTRA_PAIRING_COST = (
    10**9
)  # cost of each pairing that a team has more than the fewest; rematches cost <= 10**6
# Opponent that every team has met once, so that no rating becomes infinite.
_DUMMY_OPPONENT = ""


def next_pairings(
    participants: Sequence[TeamId],
    past_pairings: Sequence[Pairing],
    playing: Collection[TeamId],
    ratings: Mapping[TeamId, float],
) -> list[Pairing]:
    """Return the pairings to begin, between `participants` that are not `playing`.

    The team with the fewest matches comes first. It meets the opponent that it has met least,
    where teams of similar strength (`ratings`, in Elo points) should meet more often. No pair
    plays twice in a row while other teams are at play. `past_pairings` are all pairings so far,
    including running ones.
    """
    free = [team for team in participants if team not in playing]
    level = count_matches_crediting_late_joiners(participants, past_pairings)
    fewest = min(level.values(), default=0)
    met = Counter(frozenset(pairing.teams) for pairing in past_pairings)
    last_pair_by_team = {
        team: frozenset(pairing.teams) for pairing in past_pairings for team in pairing.teams
    }

    def against(team: TeamId, opponent: TeamId) -> int | None:
        pair = frozenset((team, opponent))
        if playing and last_pair_by_team.get(team) == last_pair_by_team.get(opponent) == pair:
            return None  # their last match was against each other; another opponent is soon free
        apart = abs(ratings.get(team, MEAN_RATING) - ratings.get(opponent, MEAN_RATING))
        due = (met[pair] + 1) / (1 + CLOSENESS_WEIGHT * 2 ** (-apart / HALF_WEIGHT_ELO))
        return _EXTRA_PAIRING_COST * (level[team] + level[opponent] - 2 * fewest) + min(
            10**6, round(1000 * due)
        )

    pairs = min_cost_pairs(
        [team for team in free if level[team] < fewest + MAX_EXTRA_PAIRINGS], against
    )
    if not pairs and not playing and free:
        behind = min(free, key=level.__getitem__)
        pairs = min_cost_pairs(free, lambda *two: against(*two) if behind in two else None)
    seating_by_pair = {frozenset(pairing.teams): pairing.teams for pairing in past_pairings}
    changed = (seating_by_pair.get(frozenset(pair), pair[::-1])[::-1] for pair in pairs)
    return [
        Pairing(str(match_number), round_of_match_number(match_number), "practice", teams)
        for match_number, teams in enumerate(changed, len(past_pairings) + 1)
    ]


def round_of_match_number(match_number: int) -> int:
    """Return the round to which a practice match of this number belongs."""
    return 1 + (match_number - 1) // MATCHES_PER_ROUND


def count_matches_crediting_late_joiners(
    teams: Iterable[TeamId], past_pairings: Iterable[Pairing]
) -> dict[TeamId, int]:
    """Count each team's matches; a late or returning team starts level with the lowest.

    This never raises the count of a team that was present all the time, as every pairing
    includes a team with fewer than `MAX_EXTRA_PAIRINGS` more than the minimum.
    """
    level: Counter[TeamId] = Counter()
    highest = 0
    for pairing in past_pairings:
        start_levels = {
            team: max(level[team], highest - MAX_EXTRA_PAIRINGS + 1) for team in pairing.teams
        }
        highest = max(highest, min(start_levels.values()))
        level.update({team: at + 1 - level[team] for team, at in start_levels.items()})
    return {team: max(level[team], highest - MAX_EXTRA_PAIRINGS + 1) for team in teams}


def rate_teams(
    teams: Iterable[TeamId], first_team_shares: Iterable[tuple[tuple[TeamId, ...], float]]
) -> dict[TeamId, Rating]:
    """Return ratings from the first teams' shares; each team also has one tie with a dummy."""
    shares_by_pair: defaultdict[tuple[TeamId, TeamId], list[float]] = defaultdict(list)
    for (first_team, second_team), share in first_team_shares:
        if first_team < second_team:
            shares_by_pair[first_team, second_team].append(share)
        else:
            shares_by_pair[second_team, first_team].append(1 - share)
    duels = {pair: HeadToHeadScore.from_shares(shares) for pair, shares in shares_by_pair.items()}
    duels |= {
        (team, _DUMMY_OPPONENT): HeadToHeadScore.from_shares(()).with_prior_pair for team in teams
    }
    ratings_by_team = ratings_of(duels, use_prior=False) if duels else {}
    return {team: rating for team, rating in ratings_by_team.items() if team != _DUMMY_OPPONENT}


@register_format("ladder")
@dataclass(frozen=True, slots=True)
class LadderFormat(RoundByRoundFormat):
    """Ladder with as many rounds as a round robin; with an odd number of teams one has a bye."""

    is_simulated: ClassVar[bool] = False

    def draw(
        self,
        round_number: int,
        teams: SeededTeams,
        past_pairings: Pairings,
        outcomes: PairingOutcomes,
    ) -> Pairings:
        """Return the pairings of the next round."""
        rated = _rate_decided_pairings(teams, past_pairings, outcomes)
        strength = {team: rating.value for team, rating in rated.items()}
        pairings = next_pairings(teams, past_pairings, (), strength)
        return tuple(
            Pairing(pairing.key, round_number, "round", pairing.teams) for pairing in pairings
        )

    def standings(self, teams: SeededTeams, outcomes: PairingOutcomes) -> list[list[TeamId]]:
        """Return the teams by rating; equal ratings in whole points share a place."""
        rated = _rate_decided_pairings(teams, self.determined_pairings(teams, outcomes), outcomes)
        return group_by_rank(teams, {team: (round(rated[team].value),) for team in teams})

    def round_count(self, team_count: int) -> int:
        """Return the number of rounds."""
        return team_count - 1 + team_count % 2


def _rate_decided_pairings(
    teams: SeededTeams, pairings: Pairings, decided: PairingOutcomes
) -> dict[TeamId, Rating]:
    """Return the teams' ratings from the matches of the decided pairings."""
    shares = [
        (pairing.teams, share)
        for pairing, decision in decided_pairings_with_outcomes(pairings, decided)
        for share in [1.0] * decision.wins[0] + [0.0] * decision.wins[1]
    ]
    return rate_teams(teams, shares)
