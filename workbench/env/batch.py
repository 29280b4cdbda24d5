"""Many matches at once: stepped side by side, or played through by players that are there."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from workbench.env.aec import CardEnv, Observation
from workbench.env.encoding import rewards as made
from workbench.lab.dice import DicePurpose, dice
from workbench.lab.plan import DEFAULT_GAME, Plan
from workbench.lab.runs import pool_of, run
from workbench.twins import twin_function


class LaneRows(NamedTuple):
    """A row a lane, of the player to act: what is observed, and what the last action brought."""

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    to_act: NDArray[np.int64]
    rewards: NDArray[np.float64]
    ended: NDArray[np.bool_]


class Stepper:
    """Steps lanes in plain Python, as `research/lanes.py` does compiled, dealt as in the lab."""

    def __init__(self, one: CardEnv, number: int) -> None:
        self._simulation, self._encoding = one.simulation, one.encoding
        self._states: list[Any] = [None] * number
        self._chances: list[Random] = [Random()] * number
        self._choices: list[Mapping[int, Any]] = [{}] * number

    def deal(self, seed: int, rows: LaneRows) -> None:
        """Begin the first match of each lane."""
        self._seed, self._numbers = seed, list(range(len(self._states)))
        for lane in self._numbers:
            self._begin(lane, rows)

    def play(self, actions: NDArray[np.int64], rows: LaneRows) -> int | None:
        """Act in each lane, and deal anew where a match ends; or the first lane that may not."""
        numbers = actions.tolist()
        for lane, number in enumerate(numbers):
            if number not in self._choices[lane]:
                return lane
        for lane, number in enumerate(numbers):
            action, chance = self._choices[lane][number], self._chances[lane]
            state = self._states[lane] = self._simulation.act(self._states[lane], action, chance)
            if self._simulation.to_act(state) is None:
                rows.rewards[lane], rows.ended[lane] = made(self._simulation, state), True
                self._numbers[lane] += len(numbers)
                self._begin(lane, rows)
            else:
                self._look(lane, rows)
        return None

    def _begin(self, lane: int, rows: LaneRows) -> None:
        number = self._numbers[lane]
        self._chances[lane] = dice(self._seed, number, DicePurpose.CHANCE)
        self._states[lane] = self._simulation.deal(dice(self._seed, number, DicePurpose.DECK))
        self._look(lane, rows)

    def _look(self, lane: int, rows: LaneRows) -> None:
        position = self._simulation.position(self._states[lane])
        rows.to_act[lane] = self._simulation.to_act(self._states[lane]) or 0
        choices = self._choices[lane] = self._encoding.choices(position)
        rows.observations[lane, 0] = 0
        rows.observations[lane, 1:] = self._encoding.observed(position)
        rows.masks[lane] = 0
        rows.masks[lane, list(choices)] = 1


class Lanes(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """So many matches side by side, one player to act in each: one call of a model serves all.

    `infos["to_act"]` says whose row it is; rewards have a column a seat. Where a match ends, its
    lane goes on in the same step with the first row of the next one; nobody is to act at an end,
    so there is no last observation. The compiled engine steps where it knows the game, unless the
    lanes are to be `plain`; the matches are the same. Raises `ConfigError` as `env` does.
    """

    def __init__(
        self,
        number: int,
        name: str = DEFAULT_GAME,
        seats: int | None = None,
        *,
        plain: bool = False,
    ) -> None:
        one = CardEnv(name, seats)
        player = one.possible_agents[0]
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.num_envs, self.seats, self._encoding = number, one.simulation.seats, one.encoding
        self.single_observation_space = one.observation_space(player)
        self.single_action_space = one.action_space(player)
        self.observation_space = batch_space(self.single_observation_space, number)
        self.action_space = batch_space(self.single_action_space, number)
        twin = None if plain else twin_function("lanes")
        found = None if twin is None else twin(name, number, self.seats)
        self._stepper: Stepper = found or Stepper(one, number)
        self._dealt = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a new match in each lane; the same seed and actions make the same matches."""
        super().reset(seed=seed, options=options)
        rows, self._dealt = self._rows(), True
        self._stepper.deal(int(self.np_random.integers(2**63)) if seed is None else seed, rows)
        return _seen(rows)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Act in each lane; raises `ResetNeeded` before a deal, `ValueError` for a refused one."""
        if not self._dealt:
            raise ResetNeeded("Call reset before step.")
        numbers = np.asarray(actions)
        if numbers.shape != (self.num_envs,) or numbers.dtype.kind not in "iu":
            raise ValueError(f"Actions are {self.num_envs} whole numbers, one a lane.")
        rows = self._rows()
        refused = self._stepper.play(np.ascontiguousarray(numbers, np.int64), rows)
        if refused is not None:
            raise ValueError(
                f"The player of lane {refused} may not do {numbers[refused]}; see its action_mask."
            )
        observations, infos = _seen(rows)
        return observations, rows.rewards, rows.ended, np.zeros_like(rows.ended), infos

    def _rows(self) -> LaneRows:
        lanes = self.num_envs
        observations = np.empty((lanes, 1 + self._encoding.size), np.float32)
        masks = np.empty((lanes, self._encoding.actions), np.int8)
        rewards, ended = np.zeros((lanes, self.seats)), np.zeros(lanes, np.bool_)
        return LaneRows(observations, masks, np.empty(lanes, np.int64), rewards, ended)


def _seen(rows: LaneRows) -> tuple[Observation, dict[str, Any]]:
    observed: Observation = {"observation": rows.observations, "action_mask": rows.masks}
    return observed, {"to_act": rows.to_act}


@dataclass(frozen=True, slots=True)
class Batch:
    """How matches ended, by pair and side: the first's `points`, and what a game `counts`."""

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
