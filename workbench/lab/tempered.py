"""A match played on to its end, as it is or so that its luck can be told."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import count
from random import Random
from statistics import fmean
from typing import Any

from cardsharp.simulation import S, Simulation
from workbench.lab.extras import Extras, LabPlayer
from workbench.lab.results import Luck

TIMES = 15
"""How often the last cards are played again."""

AgainDice = Callable[[int], tuple[Random, Random]]
"""The dice of one more end: of what is hidden, and of what comes after it."""


def play(
    simulation: Simulation[S, Any, Any], state: S, players: Sequence[LabPlayer], chance: Random
) -> S:
    """The end of a match that stands so, played by `players`, seat by seat."""
    to_act, act = simulation.to_act, simulation.act
    while (seat := to_act(state)) is not None:
        state = act(state, players[seat].decide(state), chance)
    return state


@dataclass(frozen=True, slots=True)
class Tempered:
    """A match that is played with its luck told, for the side of that number."""

    simulation: Simulation[Any, Any, Any]
    extras: Extras
    side: int

    def play(
        self, state: object, players: Sequence[LabPlayer], chance: Random, again: AgainDice
    ) -> tuple[Any, Luck]:
        """The end of a match from its opening on, and what tells its luck."""
        cards, simulation = 0.0, self.simulation
        while (seat := simulation.to_act(state)) is not None and not self.extras.is_late(state):
            before = state
            state = simulation.act(state, players[seat].decide(state), chance)
            cards += self.extras.luck(before, state)[self.side]
        copied = [] if seat is None else _copies(players)
        ends = [
            play(simulation, simulation.disguised(state, hidden), copies, later)
            for copies, (hidden, later) in zip(copied, map(again, count()), strict=False)
        ]
        state = play(simulation, state, players, chance)
        return state, Luck(fmean(map(self._share, (state, *ends))), cards)

    def _share(self, state: object) -> float:
        points = self.simulation.points(state)
        return sum(points[seat] for seat in self.simulation.sides[self.side])


def _copies(players: Sequence[LabPlayer]) -> list[Sequence[LabPlayer]]:
    """The players as they are now, so often; none where one cannot be copied, such as a program."""
    try:
        return [deepcopy(players) for _ in range(TIMES)]
    except Exception:  # noqa: BLE001 - a user's own class may raise anything
        return []
