"""Tests of the vector environment: copies, seeds, autoreset, opponents."""

import copy
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from numpy.typing import NDArray
from support.cli import write_strategy_file
from support.games import SAMPLE_NAMES, mount_samples

from cardsharp.errors import ConfigError, StrategyError
from cardsharp_tools.environments.aec_env import Observation, make_env
from cardsharp_tools.environments.encoding import final_rewards, load_simulation_and_encoding
from cardsharp_tools.environments.vector_env import CardVectorEnv, play_batch
from cardsharp_tools.lab.plan import plan_duel
from cardsharp_tools.lab.rng import RngPurpose, pair_rng

GAMES = ("deadmansdraw", "blef", "euchre")
OPPONENT_NAMES = {"deadmansdraw": "example-node", "blef": "greedy", "euchre": "rules"}
STEPS_AFTER_AN_END = 20
with_and_without_native_code = pytest.mark.parametrize(
    "plain", [True, False], ids=["plain", "compiled"]
)


def draw_random_actions(observation: Observation, rng: np.random.Generator) -> NDArray[np.int64]:
    mask = observation["action_mask"]
    return (rng.random(mask.shape) * mask).argmax(axis=-1)


def assert_same_transitions(env: CardVectorEnv, other: CardVectorEnv, observation: Any) -> None:  # noqa: ANN401 - of both
    """Play equal random actions in both until matches have ended and the next ones have begun."""
    rng, later_steps = np.random.default_rng(7), 0
    while later_steps < STEPS_AFTER_AN_END:
        actions = draw_random_actions(observation, rng)
        transition = env.step(actions)
        assert_deep_equal(other.step(actions), transition, "transition")
        observation, _, terminated, *_ = transition
        later_steps += bool(later_steps or terminated.any())


def assert_deep_equal(actual: Any, expected: Any, path: str = "infos") -> None:  # noqa: ANN401 - what infos hold
    """Assert equal keys, types, shapes and values, in dictionaries and arrays of any depth."""
    assert type(actual) is type(expected), path
    if isinstance(actual, Mapping):
        assert actual.keys() == expected.keys(), path
        for key in actual:
            assert_deep_equal(actual[key], expected[key], f"{path}[{key!r}]")
    elif isinstance(actual, tuple) or (isinstance(actual, np.ndarray) and actual.dtype == object):
        assert len(actual) == len(expected), path
        for lane, (actual_item, expected_item) in enumerate(zip(actual, expected, strict=True)):
            assert_deep_equal(actual_item, expected_item, f"{path}[{lane}]")
    elif isinstance(actual, np.ndarray):
        assert actual.dtype == expected.dtype, path
        np.testing.assert_array_equal(actual, expected, path)
    else:
        assert actual == expected, path


# --- copies -----------------------------------------------------------------------------------


def pickle_copy(value: Any) -> Any:  # noqa: ANN401 - whatever is copied
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


COPIES = (pickle_copy, copy.deepcopy)


@pytest.mark.parametrize("copy_value", COPIES)
@pytest.mark.parametrize("name", [*GAMES, *SAMPLE_NAMES])
def test_a_copy_of_an_environment_continues_identically(
    name: str, copy_value: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Copies before the first match and in the middle of it continue as the original."""
    mount_samples(monkeypatch, tmp_path)
    matches = [copy_value(make_env(name)), make_env(name)]
    for match in matches:
        match.reset(seed=3)
    matches.append(copy_value(matches[0]))
    for _ in range(12):
        [observation, *copies] = [match.last() for match in matches]
        for copied_observation in copies:
            assert_deep_equal(copied_observation, observation)
        for match in matches:
            is_over = observation[2] or observation[3]
            match.step(None if is_over else int(observation[0]["action_mask"].argmax()))
        if not matches[0].agents:
            break


@with_and_without_native_code
@pytest.mark.parametrize("copy_value", COPIES)
@pytest.mark.parametrize("name", [*GAMES, *SAMPLE_NAMES])
def test_a_copy_of_a_vector_environment_continues_identically(
    name: str,
    copy_value: Callable[[Any], Any],
    *,
    plain: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Copies before the first deal and within matches continue, also with a random opponent."""
    mount_samples(monkeypatch, tmp_path)
    for opponents in (None, {1: OPPONENT_NAMES.get(name, "random")}):
        env = copy_value(CardVectorEnv(3, name, pure_python=plain, opponents=opponents))
        observation, _ = env.reset(seed=3)
        for _ in range(4):
            observation, *_ = env.step(observation["action_mask"].argmax(axis=1))
        assert_same_transitions(env, copy_value(env), observation)


def test_compiled_lanes_of_another_version_are_rejected() -> None:
    native_stepper = pytest.importorskip("cardsharp_tools.research.native_stepper")
    env = CardVectorEnv(2)
    if not isinstance(env._stepper, native_stepper.NativeStepper):
        pytest.skip("needs a C compiler")
    restore, (reopen, snapshot) = env._stepper.__reduce__()
    with pytest.raises(ConfigError, match="another version or compiler; copy them again"):
        restore(reopen, snapshot._replace(library="deadmansdraw-0.so"))
    with pytest.raises(ConfigError, match="pure_python=True to move it to this machine"):
        restore(lambda: None, snapshot)


# --- whole numbers ----------------------------------------------------------------------------

THREE_AS_INTEGERS = (3, np.int64(3), np.uint8(3))
INVALID_INTEGERS = (
    True,
    np.True_,
    3.0,
    np.float64(3),
    "3",
    (3,),
    np.array([1, 2]),
    np.array([3.0]),
)

ENTRY_POINTS: dict[str, Callable[[Any], Any]] = {
    "env.reset": lambda number: make_env().reset(seed=number),
    "env.seats": lambda number: make_env("blef", number),
    "Lanes.reset": lambda number: CardVectorEnv(2, pure_python=True).reset(seed=number),
    "Lanes.number": lambda number: CardVectorEnv(number, pure_python=True),
    "Lanes.seats": lambda number: CardVectorEnv(2, "blef", number, pure_python=True),
    "Lanes.opponents": lambda number: CardVectorEnv(2, "blef", 4, opponents={number: "random"}),
    "play_batch.seed": lambda number: play_batch(
        plan_duel(STRATEGY, STRATEGY, pairs=1, seed=number)
    ),
    "play_batch.pairs": lambda number: play_batch(plan_duel(STRATEGY, STRATEGY, pairs=number)),
}
STRATEGY = "draw-3"


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_every_entry_point_takes_any_integer_type_and_rejects_other_values(entry: str) -> None:
    for number in THREE_AS_INTEGERS:
        ENTRY_POINTS[entry](number)
    for invalid_value in INVALID_INTEGERS:
        if isinstance(invalid_value, np.ndarray) and entry == "Lanes.opponents":
            continue  # no key of a dictionary
        with pytest.raises(TypeError, match="must be a whole number such as 3, not "):
            ENTRY_POINTS[entry](invalid_value)
    with pytest.raises(ValueError, match=r"must be at least [01], not -1\."):
        ENTRY_POINTS[entry](-1)


def test_seeds_of_any_type_deal_the_same() -> None:
    for build_env in (lambda: CardVectorEnv(2), lambda: CardVectorEnv(2, pure_python=True)):
        observations = [
            build_env().reset(seed=seed)[0]["observation"].tolist() for seed in THREE_AS_INTEGERS
        ]
        assert all(observation == observations[0] for observation in observations)
    matches = [make_env("euchre") for _ in THREE_AS_INTEGERS]
    for match, seed in zip(matches, THREE_AS_INTEGERS, strict=True):
        match.reset(seed=seed)
        assert_deep_equal(match.last()[0], matches[0].last()[0])


def test_an_action_must_be_an_integer() -> None:
    match = make_env().unwrapped
    match.reset(seed=1)
    with pytest.raises(TypeError, match="An action must be a whole number"):
        match.step(0.5)
    match.step(np.int64(0))


# --- Gymnasium's contract ---------------------------------------------------------------------


class SingleLearnerEnv(gym.Env[Observation, np.int64]):
    """Gymnasium environment of a learner against a strategy, with the matches of one lane."""

    def __init__(self, name: str, seat: int, lane: int, env: int) -> None:
        self.simulation, self.encoding = load_simulation_and_encoding(name, None)
        player = make_env(name).unwrapped
        self.observation_space = player.observation_space("player_0")
        self.action_space = player.action_space("player_0")
        self.opponent, self.learner_seat = OPPONENT_NAMES[name], seat
        self.match_number, self.lane_count = lane - env, env

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        del options
        self.seed = getattr(self, "seed", 0) if seed is None else seed
        self.match_number += self.lane_count
        self.chance_rng = pair_rng(self.seed, self.match_number, RngPurpose.CHANCE)
        self.state = self.simulation.initial_state(
            pair_rng(self.seed, self.match_number, RngPurpose.DECK)
        )
        self.players = {
            seat: self.simulation.build_strategy(
                self.opponent, pair_rng(self.seed, self.match_number, RngPurpose.FIRST + seat)
            )
            for seat in range(self.simulation.seats)
            if seat != self.learner_seat
        }
        self.play_opponents()
        return self.observe(), {"to_act": self.learner_seat}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        observation, chosen_action = (
            self.observe(),
            self.encoding.choices(self.position)[int(action)],
        )
        self.state = self.simulation.apply_action(self.state, chosen_action, self.chance_rng)
        self.play_opponents()
        infos = {"to_act": self.learner_seat}
        if self.simulation.current_seat(self.state) is not None:
            return self.observe(), 0.0, False, False, infos
        observation["observation"][0] = 1
        observation["action_mask"][:] = 0
        reward = final_rewards(self.simulation, self.state)[self.learner_seat]
        return observation, reward, True, False, infos

    def play_opponents(self) -> None:
        while (seat := self.simulation.current_seat(self.state)) in self.players:
            decision = self.players[seat].decide(self.simulation.current_position(self.state))
            self.state = self.simulation.apply_action(self.state, decision.action, self.chance_rng)
        if seat is not None:
            self.position = self.simulation.current_position(self.state)

    def observe(self) -> Observation:
        mask = np.zeros(self.encoding.actions, np.int8)
        mask[list(self.encoding.choices(self.position))] = 1
        numbers = np.array([0, *self.encoding.observed(self.position)], np.float32)
        return {"observation": numbers, "action_mask": mask}


@with_and_without_native_code
@pytest.mark.parametrize(("name", "seat"), [("deadmansdraw", 0), ("deadmansdraw", 1), ("blef", 1)])
def test_lanes_return_the_same_as_gymnasiums_vector_env(
    name: str, seat: int, *, plain: bool
) -> None:
    """Each step has equal observations, rewards, ends, `final_obs`, `final_info` and masks."""
    lane_count = 3
    env_factories = [
        lambda lane=lane: SingleLearnerEnv(name, seat, lane, lane_count)
        for lane in range(lane_count)
    ]
    gymnasium_env = SyncVectorEnv(env_factories, autoreset_mode=AutoresetMode.SAME_STEP)
    env = CardVectorEnv(
        lane_count, name, pure_python=plain, opponents={1 - seat: OPPONENT_NAMES[name]}
    )
    assert env.metadata["autoreset_mode"] is gymnasium_env.metadata["autoreset_mode"]
    assert env.observation_space == gymnasium_env.observation_space
    assert env.action_space == gymnasium_env.action_space
    actual, expected = env.reset(seed=4), gymnasium_env.reset(seed=[4] * lane_count)
    assert_deep_equal(actual, expected)
    rng, finished_count = np.random.default_rng(2), 0
    for _ in range(150):
        actions = draw_random_actions(actual[0], rng)
        actual, expected = env.step(actions), gymnasium_env.step(actions)
        assert_deep_equal(actual, expected)
        finished_count += int(actual[2].sum())
    assert finished_count > lane_count


def test_gymnasium_wrappers_work_with_a_single_learner() -> None:
    env = RecordEpisodeStatistics(CardVectorEnv(4, opponents={0: "draw-3"}))  # type: ignore[type-var]
    observation, _ = env.reset(seed=1)
    rng, returns = np.random.default_rng(1), []
    for _ in range(200):
        observation, _, terminated, _, infos = env.step(draw_random_actions(observation, rng))
        returns += infos["episode"]["r"][terminated].tolist() if terminated.any() else []
    assert set(returns) <= {-1.0, 0.0, 1.0}
    assert len(returns) > 4


def test_a_final_observation_is_of_the_seat_that_acted_last() -> None:
    """If the learner plays all seats, `final_info` names the seat of the final observation."""
    env = CardVectorEnv(4, "euchre")
    observation, infos = env.reset(seed=1)
    rng, final_count = np.random.default_rng(1), 0
    while final_count < 3:
        previous, seats = observation, infos["to_act"]
        observation, _, terminated, _, infos = env.step(draw_random_actions(observation, rng))
        for lane in np.flatnonzero(terminated):
            final_count += 1
            final_observation = infos["final_obs"][lane]
            assert final_observation["observation"][0] == 1
            assert (
                final_observation["observation"][1:].tolist()
                == previous["observation"][lane, 1:].tolist()
            )
            assert not final_observation["action_mask"].any()
            assert infos["final_info"]["to_act"][lane] == seats[lane]
        assert ("final_obs" in infos) == terminated.any()


# --- opponents --------------------------------------------------------------------------------


def test_some_seats_of_many_may_have_opponents() -> None:
    env = CardVectorEnv(2, "blef", 4, opponents={1: "greedy", np.int64(2): "random"})
    assert env.learners == (0, 3)
    observation, infos = env.reset(seed=1)
    rng, to_act = np.random.default_rng(1), set(infos["to_act"].tolist())
    for _ in range(40):
        observation, rewards, _, _, infos = env.step(draw_random_actions(observation, rng))
        assert rewards.shape == (2, 4)
        to_act |= set(infos["to_act"].tolist())
    assert to_act == {0, 3}


def test_a_strategy_file_can_be_an_opponent_and_its_failure_requires_a_reset(
    tmp_path: Path,
) -> None:
    strategy_file = write_strategy_file(
        tmp_path, "own", "return Decision(position.legal_actions()[0], '')"
    )
    env = CardVectorEnv(3, opponents={1: strategy_file})
    observation, _ = env.reset(seed=1)
    restored_env = pickle_copy(env)
    assert_deep_equal(restored_env.reset(seed=1)[0], observation, "observation")
    assert_same_transitions(env, restored_env, observation)
    failing_env = CardVectorEnv(
        2, opponents={1: write_strategy_file(tmp_path, "broken", "return 1 / 0")}
    )
    with pytest.raises(StrategyError, match=r"broken\.py.*ZeroDivisionError"):
        assert_same_transitions(failing_env, failing_env, failing_env.reset(seed=1)[0])
    with pytest.raises(ResetNeeded):
        failing_env.step(np.array([0, 0]))


@pytest.mark.parametrize(
    ("opponents", "message"),
    [
        ({2: "draw-3"}, "There is no seat 2 for an opponent; seats are 0 to 1."),
        ({0: "draw-3", 1: "draw-3"}, "Opponents have every seat; leave one to the learner."),
        ({1: "drw-3"}, "Did you mean draw-3?"),
    ],
)
@with_and_without_native_code
def test_invalid_opponents_are_rejected(
    opponents: dict[int, str], message: str, *, plain: bool
) -> None:
    with pytest.raises(ConfigError) as error_info:
        CardVectorEnv(2, opponents=opponents, pure_python=plain)
    assert message in str(error_info.value)
