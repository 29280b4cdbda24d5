"""Vector environments: many matches at once, stepped side by side or played by given players."""

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

from cardsharp_tools.environments.aec_env import CardEnv, Observation
from cardsharp_tools.environments.encoding import final_rewards
from cardsharp_tools.environments.integers import as_integer, as_seed
from cardsharp_tools.environments.opponents import Opponents
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.game_adapter import LabPlayer
from cardsharp_tools.lab.native_engines import find_native_function
from cardsharp_tools.lab.plan import DEFAULT_GAME, DuelPlan
from cardsharp_tools.lab.rng import RngPurpose, pair_rng
from cardsharp_tools.lab.runner import make_executor, run_duel


class BatchArrays(NamedTuple):
    """Arrays with one row per lane: observation, mask, player to act and last reward.

    The last two fields are written only if a match ended: what the learner saw at its last action,
    and on which seat. Compiled code writes into the same arrays, in this order.
    """

    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    player_to_act: NDArray[np.int64]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    final_observations: NDArray[np.float32]
    final_seats: NDArray[np.int64]


class PythonStepper:
    """Stepper of lanes in plain Python, dealt as in the lab.

    `native_stepper` is its compiled twin.
    """

    def __init__(self, env: CardEnv, lane_count: int, opponents: Opponents | None = None) -> None:
        self._simulation, self._encoding, self._opponents = env.simulation, env.encoding, opponents
        self._states: list[Any] = [None] * lane_count
        self._chance_rngs: list[Random] = [Random()] * lane_count
        self._choices: list[Mapping[int, Any]] = [{}] * lane_count
        self._players: list[Mapping[int, LabPlayer]] = [{}] * lane_count
        self._last_observations: list[tuple[int, array[float]]] = [(0, array("f"))] * lane_count

    def reset(self, seed: int, output_arrays: BatchArrays) -> None:
        """Begin the first match of each lane."""
        self._seed, self._match_numbers = seed, list(range(len(self._states)))
        if self._opponents is not None:
            self._opponents.reset_shared_players(seed)
        for lane in range(len(self._match_numbers)):
            self._deal_next_match(lane)
            self._write_observation(lane, output_arrays)

    def step(self, actions: NDArray[np.int64], output_arrays: BatchArrays) -> int | None:
        """Take an action in each lane, and restart ended ones.

        Returns None, or the first lane whose action is illegal; then nothing has changed.
        """
        action_indices = actions.tolist()
        # All actions are checked before any is taken. Otherwise an illegal action in a late lane
        # would leave the earlier lanes one step ahead, and the caller could not repeat the step.
        for lane, action_index in enumerate(action_indices):
            if action_index not in self._choices[lane]:
                return lane
        for lane, action_index in enumerate(action_indices):
            self._apply_action(lane, self._choices[lane][action_index])
            self._play_opponents(lane)
            if self._is_match_over(lane):
                self._finish_match(lane, output_arrays)
            self._write_observation(lane, output_arrays)
        return None

    def _deal_next_match(self, lane: int) -> None:
        """Deal the lane's next match in which the learner acts at least once."""
        while True:
            match_number = self._match_numbers[lane]
            self._chance_rngs[lane] = pair_rng(self._seed, match_number, RngPurpose.CHANCE)
            self._states[lane] = self._simulation.initial_state(
                pair_rng(self._seed, match_number, RngPurpose.DECK)
            )
            if self._opponents is not None:
                self._players[lane] = self._opponents.players_for_match(self._seed, match_number)
            self._play_opponents(lane)
            if not self._is_match_over(lane):
                return
            # Lane i plays the matches i, i + n, i + 2n, and so on. So a match depends on the seed
            # and its number alone, and not on how long the matches of other lanes take.
            self._match_numbers[lane] += len(self._match_numbers)

    def _apply_action(self, lane: int, action: object) -> None:
        chance_rng = self._chance_rngs[lane]
        self._states[lane] = self._simulation.apply_action(self._states[lane], action, chance_rng)

    def _play_opponents(self, lane: int) -> None:
        """Let opponents act until the learner is to act or the match has ended."""
        players = self._players[lane]
        while players:
            seat = self._simulation.current_seat(self._states[lane])
            if seat is None or seat not in players:
                return
            self._apply_action(lane, players[seat].decide(self._states[lane]))

    def _is_match_over(self, lane: int) -> bool:
        return self._simulation.current_seat(self._states[lane]) is None

    def _finish_match(self, lane: int, rows: BatchArrays) -> None:
        """Write the result of the lane's match, and deal the next one."""
        rows.rewards[lane] = final_rewards(self._simulation, self._states[lane])
        rows.terminated[lane] = True
        rows.final_seats[lane], observation = self._last_observations[lane]
        rows.final_observations[lane, 0] = 1
        rows.final_observations[lane, 1:] = observation
        self._match_numbers[lane] += len(self._match_numbers)
        self._deal_next_match(lane)

    def _write_observation(self, lane: int, rows: BatchArrays) -> None:
        """Write the observation of the player to act."""
        position = self._simulation.current_position(self._states[lane])
        seat, observation = (
            self._simulation.current_seat(self._states[lane]) or 0,
            self._encoding.observed(position),
        )
        choices = self._choices[lane] = self._encoding.choices(position)
        self._last_observations[lane] = seat, observation
        rows.player_to_act[lane] = seat
        rows.observations[lane, 0] = 0
        rows.observations[lane, 1:] = observation
        rows.masks[lane] = 0
        rows.masks[lane, list(choices)] = 1


class CardVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """Vector environment: matches side by side, one player to act in each.

    In each match one player is to act; `infos["to_act"]` has the seat of each row. On the seats in
    `opponents` strategies play, named as for `--strategy`. If one seat remains for the learner,
    rewards have one number for each lane; otherwise they have one column for each seat.

    If a match ends, its lane continues in the same step with the first row of the next match, and
    `infos` has `final_obs` and `final_info` as in Gymnasium. No seat is to act at the end of a
    match: a final observation is what the learner saw at its last action, whose reward has now
    come.

    The compiled engine steps if it knows the game and the opponents, except with `pure_python`. The
    matches are the same. Raises `ConfigError` as `CardEnv` does, and for unknown opponents.
    """

    def __init__(
        self,
        num_envs: SupportsIndex,
        name: str = DEFAULT_GAME,
        seats: SupportsIndex | None = None,
        *,
        pure_python: bool = False,
        opponents: Mapping[int, str] | None = None,
    ) -> None:
        env, lanes = CardEnv(name, seats), as_integer(num_envs, "The number of lanes", minimum=1)
        player = env.possible_agents[0]
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.num_envs, self.seats, self._encoding = lanes, env.simulation.seats, env.encoding
        self.single_observation_space = env.observation_space(player)
        self.single_action_space = env.action_space(player)
        self.observation_space = batch_space(self.single_observation_space, lanes)
        self.action_space = batch_space(self.single_action_space, lanes)
        plan = DuelPlan(
            game=name,
            first=BuiltIn(""),
            second=BuiltIn(""),
            pairs=1,
            opponent_copies=self.seats - 1,
        )
        opponent_players = Opponents(plan, opponents, plain=pure_python) if opponents else None
        self.learners = (
            tuple(range(self.seats)) if opponent_players is None else opponent_players.learners
        )
        self._stepper = _create_stepper(env, lanes, opponent_players, pure_python=pure_python)
        self._is_ready = False

    def reset(
        self, *, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a new match in each lane. The same seed and actions give the same matches.

        The seed is an integer of any type, at least 0. Raises `TypeError` or `ValueError` for
        others.
        """
        chosen = as_seed(seed)
        super().reset(seed=chosen, options=options)
        rows = self._allocate_arrays()
        self._stepper.reset(int(self.np_random.integers(2**63)) if chosen is None else chosen, rows)
        self._is_ready = True
        return _build_observations_and_infos(rows)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Take one action in each lane.

        Raises `ResetNeeded` before the first deal, and `ValueError` for an illegal action. If an
        opponent fails with a `StrategyError`, the lanes must be reset.
        """
        if not self._is_ready:
            raise ResetNeeded("Call reset before step.")
        action_indices = np.asarray(actions)
        if action_indices.shape != (self.num_envs,) or action_indices.dtype.kind not in "iu":
            raise ValueError(f"Actions must be {self.num_envs} whole numbers, one for each lane.")
        # New arrays for each step: the caller may keep the old ones as training data. The
        # environment counts as not ready until the step is complete, because an opponent may fail
        # in the middle.
        rows, self._is_ready = self._allocate_arrays(), False
        lane = self._stepper.step(np.ascontiguousarray(action_indices, np.int64), rows)
        self._is_ready = True
        if lane is not None:
            raise ValueError(
                f"Lane {lane} may not take action {action_indices[lane]}; see its action_mask."
            )
        observations, infos = _build_observations_and_infos(rows)
        rewards = rows.rewards
        if len(self.learners) == 1:
            rewards = np.ascontiguousarray(rewards[:, self.learners[0]])
        return observations, rewards, rows.terminated, np.zeros_like(rows.terminated), infos

    def _allocate_arrays(self) -> BatchArrays:
        lanes = self.num_envs
        observations, final_observations = (
            np.empty((lanes, 1 + self._encoding.size), np.float32) for _ in range(2)
        )
        masks = np.empty((lanes, self._encoding.actions), np.int8)
        rewards, terminated = np.zeros((lanes, self.seats)), np.zeros(lanes, np.bool_)
        seats, final_seats = np.empty(lanes, np.int64), np.zeros(lanes, np.int64)
        return BatchArrays(
            observations, masks, seats, rewards, terminated, final_observations, final_seats
        )


def _create_stepper(
    env: CardEnv, lanes: int, opponents: Opponents | None, *, pure_python: bool
) -> PythonStepper | Any:  # noqa: ANN401 - the compiled class, which is optional
    """Return a stepper of `lanes` matches; raise `ConfigError` if an opponent cannot play."""
    twin = None if pure_python else find_native_function("native_stepper")
    strategies = {} if opponents is None else opponents.strategies
    compiled = (
        None if twin is None else twin(env.game_name, lanes, env.simulation.seats, strategies)
    )
    if compiled is not None:
        return compiled
    if opponents is not None:
        opponents.check_can_build()
    return PythonStepper(env, lanes, opponents)


def _build_observations_and_infos(rows: BatchArrays) -> tuple[Observation, dict[str, Any]]:
    observed: Observation = {"observation": rows.observations, "action_mask": rows.masks}
    infos = {"to_act": rows.player_to_act, "_to_act": np.ones_like(rows.terminated)}
    return observed, infos | (_build_final_infos(rows) if rows.terminated.any() else {})


def _build_final_infos(rows: BatchArrays) -> dict[str, Any]:
    """Return the infos of ended matches in the form of `gymnasium.vector.SyncVectorEnv`."""
    final_observations = np.full(len(rows.terminated), None, object)
    for lane in np.flatnonzero(rows.terminated):
        final_observations[lane] = {
            "observation": rows.final_observations[lane].copy(),
            "action_mask": np.zeros_like(rows.masks[lane]),
        }
    return {
        "final_obs": final_observations,
        "_final_obs": rows.terminated.copy(),
        "final_info": {"to_act": rows.final_seats, "_to_act": rows.terminated.copy()},
        "_final_info": rows.terminated.copy(),
    }


@dataclass(frozen=True, slots=True)
class MatchResultArrays:
    """Arrays of match results by pair and side: first player's `points`, the game's `counts`."""

    points: NDArray[np.float64]
    counts: dict[str, NDArray[np.float64]]


def play_batch(plan: DuelPlan, processes: int = 1) -> MatchResultArrays:
    """Play the matches of a plan, by the compiled engine if it supports both players."""
    plan = replace(
        plan,
        seed=as_integer(plan.seed, "The seed"),
        pairs=as_integer(plan.pairs, "The number of pairs", minimum=1),
    )
    with make_executor(as_integer(processes, "The number of processes", minimum=1)) as pool:
        pairs = run_duel(plan, pool).pairs
    counted = pairs[0][0].counts
    return MatchResultArrays(
        np.array([[match.points for match in pair] for pair in pairs]),
        {
            name: np.array([[match.counts[name] for match in pair] for pair in pairs])
            for name in counted
        },
    )
