"""Positions to look at closely: of real matches between two strategies, decision by decision."""

from collections.abc import Iterator

from cardsharp.deadmansdraw.position import Position
from workbench.lab.dice import Purpose, dice
from workbench.lab.players import player
from workbench.lab.selfplay import Match, deal, fair_chance


def met_positions(first: str, second: str, seed: int) -> Iterator[Position]:
    """The positions of one match after the other on which `first` has a choice to make."""
    number = 0
    while True:
        players = [
            player(first)(dice(seed, number, Purpose.FIRST)),
            player(second)(dice(seed, number, Purpose.SECOND)),
        ]
        chance = fair_chance(dice(seed, number, Purpose.CHANCE))
        match = Match(deal(dice(seed, number, Purpose.DECK)), chance)
        while match.state.active is not None:
            position = match.position()
            if position.me == 0 and len(position.legal_actions()) > 1:
                yield position
            match.play(players[position.me].decide(position).action)
        number += 1
