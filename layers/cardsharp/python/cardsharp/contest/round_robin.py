"""Everybody meets everybody, in rounds in which nobody plays twice."""

from dataclasses import dataclass

from cardsharp.contest.formats import OpenFormat, contest_format, decided_of, points
from cardsharp.contest.pairing import Decisions, Pairing, Pairings, Seeds, Team


@contest_format("round-robin")
@dataclass(frozen=True, slots=True)
class RoundRobin(OpenFormat):
    """The format; with an odd number of teams each sits out one round.

    Who comes late meets one of the others each round, whatever that one has to play beside.
    """

    def pairings(self, teams: Seeds, _decided: Decisions) -> Pairings:
        """All pairings, known from the start: one team stays, the others turn about it."""
        first = self.there(teams, 1)
        circle: list[Team | None] = [*first, *([None] if len(first) % 2 else [])]
        seeds = {team: place for place, team in enumerate(teams)}
        found: list[Pairing] = []
        for number in range(1, len(circle)):
            half = len(circle) // 2
            for one, other in zip(circle[:half], circle[: half - 1 : -1], strict=True):
                if one is not None and other is not None:
                    pair = (one, other) if seeds[one] < seeds[other] else (other, one)
                    key = f"{number}-{len(found) + 1}"
                    found.append(Pairing(key, number, "round", pair))
            circle = [circle[0], circle[-1], *circle[1:-1]]
        for place, (team, since) in enumerate(self.late):
            others = [*first, *(other for other, _ in self.late[:place])]
            for number, other in enumerate(others[place:] + others[:place], since):
                key = f"{number}-{len(found) + 1}"
                found.append(Pairing(key, number, "round", (other, team)))
        return tuple(sorted(found, key=lambda pairing: pairing.round))

    def number_of_rounds(self, _teams: int) -> None:
        """Nobody comes too late."""

    def scores(self, teams: Seeds, decided: Decisions) -> dict[Team, float]:
        """A point for a pairing won, a half for a level one."""
        return points(teams, decided_of(self.pairings(teams, decided), decided))
