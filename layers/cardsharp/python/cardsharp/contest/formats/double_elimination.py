"""Double elimination: a team is out after its second lost pairing."""

import math
from dataclasses import dataclass
from typing import ClassVar

from cardsharp.contest.formats import bracket
from cardsharp.contest.formats.base import Format, group_by_rank, register_format
from cardsharp.contest.formats.bracket import (
    LOSER_ORDERS,
    BracketGame,
    BracketSection,
    LoserOrder,
    resolve_slot,
    winner_and_loser,
)
from cardsharp.contest.formats.pairing import (
    Pairing,
    PairingOutcomes,
    Pairings,
    SeededTeams,
    TeamId,
)


@register_format("double-elimination")
@dataclass(frozen=True, slots=True)
class DoubleElimination(Format):
    """Double elimination; `seeds` sets the first round by hand, otherwise the seeding decides."""

    allows_ties: ClassVar[bool] = False
    losses_allowed: ClassVar[int | None] = 2

    seeds: tuple[int | None, ...] | None = None
    loser_orders: tuple[LoserOrder, ...] = LOSER_ORDERS

    def bracket_games(self, teams: int) -> tuple[BracketGame, ...]:
        """Return the games of the bracket for that number of teams."""
        if teams < 2:  # noqa: PLR2004 - a pairing needs two
            return ()
        seeds = bracket.seed_slots(teams) if self.seeds is None else self.seeds
        return bracket.build_bracket(seeds, self.loser_orders)

    def determined_pairings(self, teams: SeededTeams, outcomes: PairingOutcomes) -> Pairings:
        """Return every pairing that is determined so far."""
        seeds = {team: seed for seed, team in enumerate(teams)}
        pairings: list[Pairing] = []
        ends: dict[int, tuple[TeamId, TeamId]] = {}
        unbeaten: TeamId | None = None
        for game in self.bracket_games(len(teams)):
            first_team, second_team = [resolve_slot(source, teams, ends) for source in game.sources]
            if first_team is None or second_team is None:
                continue
            if game.section is BracketSection.FINAL:
                unbeaten = first_team
            elif game.section is BracketSection.RESET and second_team != unbeaten:
                continue  # the loser of the final had lost before, so there is no second final
            better, worse = sorted((first_team, second_team), key=seeds.__getitem__)
            pairing = Pairing(str(game.number), game.round, game.section, (better, worse))
            pairings.append(pairing)
            decision = outcomes.get(pairing.key)
            if decision is not None and decision.winner is not None:
                ends[game.number] = winner_and_loser(pairing.teams, decision.winner)
        return tuple(pairings)

    def standings(self, teams: SeededTeams, outcomes: PairingOutcomes) -> list[list[TeamId]]:
        """Return the places: teams still in, then those that are out, the latest first."""
        lost_rounds: dict[TeamId, list[int]] = {team: [] for team in teams}
        for pairing in self.determined_pairings(teams, outcomes):
            decision = outcomes.get(pairing.key)
            if decision is not None and decision.winner is not None:
                lost_rounds[winner_and_loser(pairing.teams, decision.winner)[1]].append(
                    pairing.round
                )
        rounds = {
            team: (
                lost_rounds[team][-1]
                if len(lost_rounds[team]) == self.losses_allowed
                else math.inf,
            )
            for team in teams
        }
        return group_by_rank(teams, rounds)
