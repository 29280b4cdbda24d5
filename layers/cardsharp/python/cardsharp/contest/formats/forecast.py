"""Simulation of a contest, from which its length is estimated."""

from collections.abc import Mapping
from functools import lru_cache
from random import Random
from statistics import fmean
from typing import NamedTuple

from cardsharp.analysis.ratings import expected_score
from cardsharp.contest.formats.base import FORMATS_BY_NAME, Format
from cardsharp.contest.formats.pairing import MatchScore, PairingOutcome, SeriesRules, TeamId

_LENGTH_SIMULATIONS = 10  # simulations of the length of a contest


class SimulatedContest(NamedTuple):
    """Result of a simulated contest.

    `champions` are several if first place is shared. `slot_count` is the number of matches that
    are played one after the other, while others are played beside them.
    """

    champions: list[TeamId]
    slot_count: int
    pairing_count: int


def simulate_contest(
    contest_format: Format, rules: SeriesRules, strengths: Mapping[TeamId, float], rng: Random
) -> SimulatedContest:
    """Simulate a contest seeded in the order of `strengths`, which are in Elo points."""
    seeding, slots = list(strengths), 0
    decided: dict[str, PairingOutcome] = {}
    while True:
        waiting = [
            pairing
            for pairing in contest_format.determined_pairings(seeding, decided)
            if pairing.key not in decided
        ]
        if not waiting:
            champions = contest_format.standings(seeding, decided)[0]
            return SimulatedContest(champions, slots, len(decided))
        busy: set[TeamId] = set()
        longest = 0
        for pairing in waiting:
            if not busy.isdisjoint(pairing.teams):
                continue
            busy.update(pairing.teams)
            win_probability = expected_score(
                strengths[pairing.teams[0]] - strengths[pairing.teams[1]]
            )
            scores: list[MatchScore] = []
            while (decision := rules.outcome(pairing, scores)) is None:
                scores.append(MatchScore((0, 0), int(rng.random() >= win_probability)))
            decided[pairing.key] = decision
            longest = max(longest, len(scores))
        slots += longest


class ContestLength(NamedTuple):
    """Mean length of a contest of equal teams: matches one after the other, and pairings."""

    slot_count: float
    pairing_count: float


@lru_cache(maxsize=16)
def estimate_length(format_name: str, team_count: int, match_count: int) -> ContestLength | None:
    """Return the length of a contest with `match_count` matches a pairing.

    None for a format that cannot be simulated.
    """
    contest_format = FORMATS_BY_NAME[format_name]
    if not contest_format.is_simulated:
        return None
    rules = contest_format.series_rules(match_count, 3 * match_count)
    strengths = {str(number): 0.0 for number in range(team_count)}
    runs = [
        simulate_contest(contest_format, rules, strengths, Random(seed))
        for seed in range(_LENGTH_SIMULATIONS)
    ]
    return ContestLength(
        fmean(run.slot_count for run in runs), fmean(run.pairing_count for run in runs)
    )
