"""Many matches at once: stepped side by side, or played through by players that are there."""

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.env.encoding import rewards as made
from workbench.env.encoding import told_in_numbers
from workbench.lab.plan import DEFAULT_GAME, Plan
from workbench.lab.pools import pool_of
from workbench.lab.runs import run


class Lanes:
    """So many matches side by side, one player to act in each; who has ended begins anew.

    `observations` and `masks` have a row a lane, for the seat in `to_act`: one call of a learner's
    model serves all of them.
    """

    def __init__(
        self, number: int, name: str = DEFAULT_GAME, seats: int | None = None, seed: int = 1
    ) -> None:
        self._simulation, self._encoding = told_in_numbers(name, seats)
        self._dice = Random(seed)
        self._states: list[Any] = [self._simulation.deal(self._dice) for _ in range(number)]
        self._choices: list[dict[int, Any]] = [{} for _ in range(number)]
        self.observations = np.zeros((number, self._encoding.size), np.float32)
        self.masks = np.zeros((number, self._encoding.actions), np.int8)
        self.to_act = np.zeros(number, np.int64)
        for lane in range(number):
            self._look(lane)

    def step(self, actions: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Do an action in each lane; the rewards by lane and seat, and which matches ended.

        Raises:
            KeyError: the rules refuse an action; see `masks`.
        """
        rewards = np.zeros((len(self._states), self._simulation.seats), np.float32)
        ended = np.zeros(len(self._states), np.bool_)
        for lane, number in enumerate(actions):
            action = self._choices[lane][int(number)]
            state = self._simulation.act(self._states[lane], action, self._dice)
            if self._simulation.to_act(state) is None:
                rewards[lane], ended[lane] = made(self._simulation, state), True
                state = self._simulation.deal(self._dice)
            self._states[lane] = state
            self._look(lane)
        return rewards, ended

    def _look(self, lane: int) -> None:
        state = self._states[lane]
        position = self._simulation.position(state)
        self.to_act[lane] = self._simulation.to_act(state) or 0
        self._choices[lane] = dict(self._encoding.choices(position))
        self.observations[lane] = self._encoding.observed(position)
        self.masks[lane] = 0
        self.masks[lane, list(self._choices[lane])] = 1


@dataclass(frozen=True, slots=True)
class Batch:
    """How many matches ended: `points` of the first player by pair and side, and what was counted.

    Each array of `counts` has what the game counts of the match, or of the first player and the
    second, behind pair and side.
    """

    points: NDArray[np.float64]
    counts: dict[str, NDArray[np.float64]]


def play_batch(plan: Plan, processes: int = 1) -> Batch:
    """Play the matches of a plan, by the compiled engine where it knows both players."""
    with pool_of(processes) as pool:
        pairs = run(plan, pool).pairs
    counted = pairs[0][0].counts
    return Batch(
        np.array([[match.points for match in pair] for pair in pairs]),
        {
            name: np.array([[match.counts[name] for match in pair] for pair in pairs])
            for name in counted
        },
    )
