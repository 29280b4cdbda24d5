"""Round robin: every team meets every other, and plays once in each round."""

from dataclasses import dataclass

from cardsharp.contest.formats.base import (
    LateEntryFormat,
    count_points,
    finished_pairings,
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

    def pairings(self, teams: SeededTeams, _decided: PairingOutcomes) -> Pairings:
        """Return all pairings by the circle method: one team stays and the others rotate."""
        first = self.participants(teams, 1)
        circle: list[TeamId | None] = [*first, *([None] if len(first) % 2 else [])]
        seeds = {team: place for place, team in enumerate(teams)}
        pairings: list[Pairing] = []
        for number in range(1, len(circle)):
            half = len(circle) // 2
            for member, other in zip(circle[:half], circle[: half - 1 : -1], strict=True):
                if member is not None and other is not None:
                    pair = (member, other) if seeds[member] < seeds[other] else (other, member)
                    key = f"{number}-{len(pairings) + 1}"
                    pairings.append(Pairing(key, number, "round", pair))
            circle = [circle[0], circle[-1], *circle[1:-1]]
        for place, (team, since) in enumerate(self.late_joiners):
            opponents = [*first, *(other for other, _ in self.late_joiners[:place])]
            for number, other in enumerate(opponents[place:] + opponents[:place], since):
                key = f"{number}-{len(pairings) + 1}"
                pairings.append(Pairing(key, number, "round", (other, team)))
        return tuple(sorted(pairings, key=lambda pairing: pairing.round))

    def round_count(self, _teams: int) -> None:
        """Return None, as a team may join at any time."""

    def scores(self, teams: SeededTeams, outcomes: PairingOutcomes) -> dict[TeamId, float]:
        """Return the points: one for a won pairing, a half for a level pairing."""
        return count_points(teams, finished_pairings(self.pairings(teams, outcomes), outcomes))
