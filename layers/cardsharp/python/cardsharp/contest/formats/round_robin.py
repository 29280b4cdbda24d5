"""Round robin: every team meets every other, and plays once in each round."""

from dataclasses import dataclass

from cardsharp.contest.formats.base import (
    LateEntryFormat,
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
)


@register_format("round-robin")
@dataclass(frozen=True, slots=True)
class RoundRobin(LateEntryFormat):
    """Round robin; with an odd number of teams each has one bye.

    A late team meets one other team each round, in addition to that team's regular pairing.
    """

    def determined_pairings(self, teams: SeededTeams, _decided: PairingOutcomes) -> Pairings:
        """Return all pairings by the circle method: one team stays and the others rotate."""
        starting_teams = self.participants(teams, 1)
        circle: list[TeamId | None] = [
            *starting_teams,
            *([None] if len(starting_teams) % 2 else []),
        ]
        seeds = {team: seed for seed, team in enumerate(teams)}
        pairings: list[Pairing] = []
        for round_number in range(1, len(circle)):
            half = len(circle) // 2
            for member, opponent in zip(circle[:half], circle[: half - 1 : -1], strict=True):
                if member is not None and opponent is not None:
                    pair = (
                        (member, opponent)
                        if seeds[member] < seeds[opponent]
                        else (opponent, member)
                    )
                    key = f"{round_number}-{len(pairings) + 1}"
                    pairings.append(Pairing(key, round_number, "round", pair))
            circle = [circle[0], circle[-1], *circle[1:-1]]
        for joiner_index, (team, since) in enumerate(self.late_joiners):
            opponents = [
                *starting_teams,
                *(joiner for joiner, _ in self.late_joiners[:joiner_index]),
            ]
            for round_number, opponent in enumerate(
                opponents[joiner_index:] + opponents[:joiner_index], since
            ):
                key = f"{round_number}-{len(pairings) + 1}"
                pairings.append(Pairing(key, round_number, "round", (opponent, team)))
        return tuple(sorted(pairings, key=lambda pairing: pairing.round))

    def round_count(self, _team_count: int) -> None:
        """Return the number of rounds: None, as a team may join at any time."""

    def scores(self, teams: SeededTeams, outcomes: PairingOutcomes) -> dict[TeamId, float]:
        """Return the points: one for a won pairing, a half for a level pairing."""
        return count_points(
            teams,
            decided_pairings_with_outcomes(self.determined_pairings(teams, outcomes), outcomes),
        )
