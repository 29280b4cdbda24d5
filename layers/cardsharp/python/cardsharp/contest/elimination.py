"""Double elimination: a team is out after its second lost pairing."""

import math
from dataclasses import dataclass
from typing import ClassVar

from cardsharp.contest import bracket
from cardsharp.contest.bracket import DROPS, Drop, Game, Part, ended, team_of
from cardsharp.contest.formats import Format, contest_format, ranked
from cardsharp.contest.pairing import Decisions, Pairing, Pairings, Seeds, Team


@contest_format("double-elimination")
@dataclass(frozen=True, slots=True)
class DoubleElimination(Format):
    """The format; as drawn by hand with `places`, else by the seeds."""

    level: ClassVar[bool] = False
    lives: ClassVar[int | None] = 2

    places: tuple[int | None, ...] | None = None
    drops: tuple[Drop, ...] = DROPS

    def games(self, teams: int) -> tuple[Game, ...]:
        """The games of so many teams."""
        if teams < 2:  # noqa: PLR2004 - nobody meets anybody
            return ()
        places = bracket.seeded(teams) if self.places is None else self.places
        return bracket.bracket(places, self.drops)

    def pairings(self, teams: Seeds, decided: Decisions) -> Pairings:
        """Every pairing that is known by now."""
        seeds = {team: place for place, team in enumerate(teams)}
        known: list[Pairing] = []
        ends: dict[int, tuple[Team, Team]] = {}
        unbeaten: Team | None = None
        for game in self.games(len(teams)):
            first, second = [team_of(source, teams, ends) for source in game.sources]
            if first is None or second is None:
                continue
            if game.part is Part.FINAL:
                unbeaten = first
            elif game.part is Part.RESET and second != unbeaten:
                continue  # the final was its loser's second loss
            better, other = sorted((first, second), key=seeds.__getitem__)
            pairing = Pairing(str(game.number), game.round, game.part, (better, other))
            known.append(pairing)
            decision = decided.get(pairing.key)
            if decision is not None and decision.winner is not None:
                ends[game.number] = ended(pairing.teams, decision.winner)
        return tuple(known)

    def table(self, teams: Seeds, decided: Decisions) -> list[list[Team]]:
        """The champion, those still in, and those who are out, the later the better."""
        lost: dict[Team, list[int]] = {team: [] for team in teams}
        for pairing in self.pairings(teams, decided):
            decision = decided.get(pairing.key)
            if decision is not None and decision.winner is not None:
                lost[ended(pairing.teams, decision.winner)[1]].append(pairing.round)
        rounds = {
            team: (lost[team][-1] if len(lost[team]) == self.lives else math.inf,) for team in teams
        }
        return ranked(teams, rounds)
