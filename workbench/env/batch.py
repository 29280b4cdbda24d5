"""Many matches at once: stepped side by side, or played through by players that are there."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from workbench.env.aec import CardEnv, Observation
from workbench.env.encoding import rewards as made
from workbench.env.integers import seed_number, whole_number
from workbench.env.opponents import Opponents
from workbench.lab.dice import DicePurpose, dice
from workbench.lab.extras import LabPlayer
from workbench.lab.plan import DEFAULT_GAME, Plan
from workbench.lab.runs import pool_of, run
from workbench.twins import twin_function


class LaneRows(NamedTuple):
    """A row a lane, of the player to act: what is observed, and what the last action brought.

    The last two are written where a match ended: what the learner saw at its last action, which
    now waits, and on which seat. Compiled code writes into the same arrays, in this order.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    to_act: NDArray[np.int64]
    rewards: NDArray[np.float64]
    ended: NDArray[np.bool_]
    final_observations: NDArray[np.float32]
    final_seats: NDArray[np.int64]


class Stepper:
    """Steps lanes in plain Python, as `research/lanes.py` does compiled, dealt as in the lab."""

    def __init__(self, one: CardEnv, number: int, opponents: Opponents | None = None) -> None:
        self._simulation, self._encoding, self._opponents = one.simulation, one.encoding, opponents
        self._states: list[Any] = [None] * number
        self._chances: list[Random] = [Random()] * number
        self._choices: list[Mapping[int, Any]] = [{}] * number
        self._players: list[Mapping[int, LabPlayer]] = [{}] * number
        self._views: list[tuple[int, array[float]]] = [(0, array("f"))] * number

    def deal(self, seed: int, rows: LaneRows) -> None:
        """Begin the first match of each lane."""
        self._seed, self._numbers = seed, list(range(len(self._states)))
        if self._opponents is not None:
            self._opponents.begin(seed)
        for lane in range(len(self._numbers)):
            self._begin(lane)
            self._look(lane, rows)

    def play(self, actions: NDArray[np.int64], rows: LaneRows) -> int | None:
        """Act in each lane, and deal anew where a match ends; or the first lane that may not."""
        numbers = actions.tolist()
        for lane, number in enumerate(numbers):
            if number not in self._choices[lane]:
                return lane
        for lane, number in enumerate(numbers):
            self._act(lane, self._choices[lane][number])
            self._go_on(lane)
            if self._is_over(lane):
                self._close(lane, rows)
            self._look(lane, rows)
        return None

    def _begin(self, lane: int) -> None:
        """Deal the lane's match, and the next one where the learner is never to act in it."""
        while True:
            number = self._numbers[lane]
            self._chances[lane] = dice(self._seed, number, DicePurpose.CHANCE)
            self._states[lane] = self._simulation.deal(dice(self._seed, number, DicePurpose.DECK))
            if self._opponents is not None:
                self._players[lane] = self._opponents.seated(self._seed, number)
            self._go_on(lane)
            if not self._is_over(lane):
                return
            self._numbers[lane] += len(self._numbers)

    def _act(self, lane: int, action: object) -> None:
        chance = self._chances[lane]
        self._states[lane] = self._simulation.act(self._states[lane], action, chance)

    def _go_on(self, lane: int) -> None:
        """Let opponents act, until it is the learner's turn or the match has ended."""
        players = self._players[lane]
        while players:
            seat = self._simulation.to_act(self._states[lane])
            if seat is None or seat not in players:
                return
            self._act(lane, players[seat].decide(self._states[lane]))

    def _is_over(self, lane: int) -> bool:
        return self._simulation.to_act(self._states[lane]) is None

    def _close(self, lane: int, rows: LaneRows) -> None:
        """Write how the lane's match ended, and begin the next one."""
        rows.rewards[lane], rows.ended[lane] = made(self._simulation, self._states[lane]), True
        rows.final_seats[lane], seen = self._views[lane]
        rows.final_observations[lane, 0] = 1
        rows.final_observations[lane, 1:] = seen
        self._numbers[lane] += len(self._numbers)
        self._begin(lane)

    def _look(self, lane: int, rows: LaneRows) -> None:
        """Write what the player to act sees."""
        position = self._simulation.position(self._states[lane])
        seat, seen = (
            self._simulation.to_act(self._states[lane]) or 0,
            self._encoding.observed(position),
        )
        choices = self._choices[lane] = self._encoding.choices(position)
        self._views[lane] = seat, seen
        rows.to_act[lane] = seat
        rows.observations[lane, 0] = 0
        rows.observations[lane, 1:] = seen
        rows.masks[lane] = 0
        rows.masks[lane, list(choices)] = 1


class Lanes(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """So many matches side by side, one player to act in each: one call of a model serves all.

    `infos["to_act"]` says whose row it is. On the seats of `opponents` strategies play by
    themselves, named as for `--strategy`; with one seat left to the learner rewards are its own,
    a number a lane, else they have a column a seat.

    Where a match ends, its lane goes on in the same step with the first row of the next one, and
    `infos` has `final_obs` and `final_info` as Gymnasium has them. Nobody is to act at an end: a
    final observation is what the learner saw at its last action, which now waits.

    The compiled engine steps where it knows the game and the opponents, unless the lanes are to be
    `plain`; the matches are the same. Raises `ConfigError` as `env` does, and for opponents that
    are not there.
    """

    def __init__(
        self,
        number: SupportsIndex,
        name: str = DEFAULT_GAME,
        seats: SupportsIndex | None = None,
        *,
        plain: bool = False,
        opponents: Mapping[int, str] | None = None,
    ) -> None:
        one, lanes = CardEnv(name, seats), whole_number(number, "The number of lanes", least=1)
        player = one.possible_agents[0]
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.num_envs, self.seats, self._encoding = lanes, one.simulation.seats, one.encoding
        self.single_observation_space = one.observation_space(player)
        self.single_action_space = one.action_space(player)
        self.observation_space = batch_space(self.single_observation_space, lanes)
        self.action_space = batch_space(self.single_action_space, lanes)
        plan = Plan(game=name, first="", second="", pairs=1, copies=self.seats - 1)
        others = Opponents(plan, opponents, plain=plain) if opponents else None
        self.learners = tuple(range(self.seats)) if others is None else others.learners
        self._stepper = _stepper_of(one, lanes, others, plain=plain)
        self._dealt = False

    def reset(
        self, *, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a new match in each lane; the same seed and actions make the same matches.

        The seed is a whole number of any type from 0 on; else raises `TypeError` or `ValueError`.
        """
        chosen = seed_number(seed)
        super().reset(seed=chosen, options=options)
        rows = self._rows()
        self._stepper.deal(int(self.np_random.integers(2**63)) if chosen is None else chosen, rows)
        self._dealt = True
        return _seen(rows)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Act in each lane; raises `ResetNeeded` before a deal, `ValueError` for a refused one.

        After the `StrategyFault` of an opponent that fails the lanes must be reset.
        """
        if not self._dealt:
            raise ResetNeeded("Call reset before step.")
        numbers = np.asarray(actions)
        if numbers.shape != (self.num_envs,) or numbers.dtype.kind not in "iu":
            raise ValueError(f"Actions are {self.num_envs} whole numbers, one a lane.")
        rows, self._dealt = self._rows(), False
        refused = self._stepper.play(np.ascontiguousarray(numbers, np.int64), rows)
        self._dealt = True
        if refused is not None:
            raise ValueError(
                f"The player of lane {refused} may not do {numbers[refused]}; see its action_mask."
            )
        observations, infos = _seen(rows)
        rewards = rows.rewards
        if len(self.learners) == 1:
            rewards = np.ascontiguousarray(rewards[:, self.learners[0]])
        return observations, rewards, rows.ended, np.zeros_like(rows.ended), infos

    def _rows(self) -> LaneRows:
        lanes = self.num_envs
        observations, last = (
            np.empty((lanes, 1 + self._encoding.size), np.float32) for _ in range(2)
        )
        masks = np.empty((lanes, self._encoding.actions), np.int8)
        rewards, ended = np.zeros((lanes, self.seats)), np.zeros(lanes, np.bool_)
        seats, last_seats = np.empty(lanes, np.int64), np.zeros(lanes, np.int64)
        return LaneRows(observations, masks, seats, rewards, ended, last, last_seats)


def _stepper_of(
    one: CardEnv, lanes: int, opponents: Opponents | None, *, plain: bool
) -> Stepper | Any:  # noqa: ANN401 - the compiled one, which nothing here depends on
    """What steps so many lanes; raises `ConfigError` where an opponent cannot play."""
    twin = None if plain else twin_function("lanes")
    names = {} if opponents is None else opponents.names
    compiled = None if twin is None else twin(one.game_name, lanes, one.simulation.seats, names)
    if compiled is not None:
        return compiled
    if opponents is not None:
        opponents.check()
    return Stepper(one, lanes, opponents)


def _seen(rows: LaneRows) -> tuple[Observation, dict[str, Any]]:
    observed: Observation = {"observation": rows.observations, "action_mask": rows.masks}
    infos = {"to_act": rows.to_act, "_to_act": np.ones_like(rows.ended)}
    return observed, infos | (_final(rows) if rows.ended.any() else {})


def _final(rows: LaneRows) -> dict[str, Any]:
    """The ends of matches in the form of `gymnasium.vector.SyncVectorEnv`."""
    last = np.full(len(rows.ended), None, object)
    for lane in np.flatnonzero(rows.ended):
        last[lane] = {
            "observation": rows.final_observations[lane].copy(),
            "action_mask": np.zeros_like(rows.masks[lane]),
        }
    return {
        "final_obs": last,
        "_final_obs": rows.ended.copy(),
        "final_info": {"to_act": rows.final_seats, "_to_act": rows.ended.copy()},
        "_final_info": rows.ended.copy(),
    }


@dataclass(frozen=True, slots=True)
class Batch:
    """How matches ended, by pair and side: the first's `points`, and what a game `counts`."""

    points: NDArray[np.float64]
    counts: dict[str, NDArray[np.float64]]


def play_batch(plan: Plan, processes: int = 1) -> Batch:
    """Play the matches of a plan, by the compiled engine where it knows both players."""
    plan = replace(
        plan,
        seed=whole_number(plan.seed, "The seed"),
        pairs=whole_number(plan.pairs, "The number of pairs", least=1),
    )
    with pool_of(whole_number(processes, "The number of processes", least=1)) as pool:
        pairs = run(plan, pool).pairs
    counted = pairs[0][0].counts
    return Batch(
        np.array([[match.points for match in pair] for pair in pairs]),
        {
            name: np.array([[match.counts[name] for match in pair] for pair in pairs])
            for name in counted
        },
    )
