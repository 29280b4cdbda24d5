"""The vector environment as a learning library uses it: copies, seeds, autoreset, opponents."""

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
AGAINST = {"deadmansdraw": "example-node", "blef": "greedy", "euchre": "rules"}
either = pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])


def uniform(seen: Observation, chance: np.random.Generator) -> NDArray[np.int64]:
    mask = seen["action_mask"]
    return (chance.random(mask.shape) * mask).argmax(axis=-1)


def played(lanes: CardVectorEnv, seen: Observation, steps: int = 150) -> list[Any]:
    """Play random actions, and return the observations, rewards, ends and infos of each step."""
    chance, brought = np.random.default_rng(7), []
    for _ in range(steps):
        seen, rewarded, terminated, _, infos = lanes.step(uniform(seen, chance))
        brought.append(
            [seen["observation"].tolist(), rewarded.tolist(), terminated.tolist(), infos]
        )
    assert any(any(step[2]) for step in brought), "no match has ended"
    return brought


def same(actual: Any, expected: Any, place: str = "infos") -> None:  # noqa: ANN401 - what infos hold
    """Assert equal keys, types, shapes and values, in dictionaries and arrays of any depth."""
    assert type(actual) is type(expected), place
    if isinstance(actual, Mapping):
        assert actual.keys() == expected.keys(), place
        for key in actual:
            same(actual[key], expected[key], f"{place}[{key!r}]")
    elif isinstance(actual, tuple) or (isinstance(actual, np.ndarray) and actual.dtype == object):
        assert len(actual) == len(expected), place
        for lane, (actual_item, expected_item) in enumerate(zip(actual, expected, strict=True)):
            same(actual_item, expected_item, f"{place}[{lane}]")
    elif isinstance(actual, np.ndarray):
        assert actual.dtype == expected.dtype, place
        np.testing.assert_array_equal(actual, expected, place)
    else:
        assert actual == expected, place


# --- copies -----------------------------------------------------------------------------------


def pickled(thing: Any) -> Any:  # noqa: ANN401 - whatever is copied
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own


COPIES = (pickled, copy.deepcopy)


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("name", [*GAMES, *SAMPLE_NAMES])
def test_a_copy_of_an_environment_goes_on_as_it_would(
    name: str, copied: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before its first match, and in the middle of it."""
    mount_samples(monkeypatch, tmp_path)
    matches = [copied(make_env(name)), make_env(name)]
    for match in matches:
        match.reset(seed=3)
    matches.append(copied(matches[0]))
    for _ in range(12):
        [seen, *copies] = [match.last() for match in matches]
        for other in copies:
            same(other, seen)
        for match in matches:
            over = seen[2] or seen[3]
            match.step(None if over else int(seen[0]["action_mask"].argmax()))
        if not matches[0].agents:
            break


@either
@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("name", [*GAMES, *SAMPLE_NAMES])
def test_a_copy_of_lanes_goes_on_as_they_would(
    name: str,
    copied: Callable[[Any], Any],
    *,
    plain: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Before the first deal, and in the middle of matches; also against a strategy with dice."""
    mount_samples(monkeypatch, tmp_path)
    for opponents in (None, {1: AGAINST.get(name, "random")}):
        lanes = copied(CardVectorEnv(3, name, pure_python=plain, opponents=opponents))
        seen, _ = lanes.reset(seed=3)
        for _ in range(4):
            seen, *_ = lanes.step(seen["action_mask"].argmax(axis=1))
        other = copied(lanes)
        assert str(played(lanes, seen)) == str(played(other, seen))


def test_compiled_lanes_are_not_taken_for_those_of_another_version() -> None:
    compiled = pytest.importorskip("cardsharp_tools.research.native_stepper")
    lanes = CardVectorEnv(2)
    if not isinstance(lanes._stepper, compiled.NativeStepper):
        pytest.skip("needs a C compiler")
    make, (reopen, snapshot) = lanes._stepper.__reduce__()
    with pytest.raises(ConfigError, match="another version or compiler; copy them again"):
        make(reopen, snapshot._replace(library="deadmansdraw-0.so"))
    with pytest.raises(ConfigError, match="pure_python=True to move it to this machine"):
        make(lambda: None, snapshot)


# --- whole numbers ----------------------------------------------------------------------------

INTEGERS = (3, np.int64(3), np.uint8(3))
NO_NUMBERS = (True, np.True_, 3.0, np.float64(3), "3", (3,), np.array([1, 2]), np.array([3.0]))

ENTRIES: dict[str, Callable[[Any], Any]] = {
    "env.reset": lambda number: make_env().reset(seed=number),
    "env.seats": lambda number: make_env("blef", number),
    "Lanes.reset": lambda number: CardVectorEnv(2, pure_python=True).reset(seed=number),
    "Lanes.number": lambda number: CardVectorEnv(number, pure_python=True),
    "Lanes.seats": lambda number: CardVectorEnv(2, "blef", number, pure_python=True),
    "Lanes.opponents": lambda number: CardVectorEnv(2, "blef", 4, opponents={number: "random"}),
    "play_batch.seed": lambda number: play_batch(plan_duel(B, B, pairs=1, seed=number)),
    "play_batch.pairs": lambda number: play_batch(plan_duel(B, B, pairs=number)),
}
B = "draw-3"


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_point_takes_any_integer_type_and_rejects_other_values(entry: str) -> None:
    for number in INTEGERS:
        ENTRIES[entry](number)
    for wrong in NO_NUMBERS:
        if isinstance(wrong, np.ndarray) and entry == "Lanes.opponents":
            continue  # no key of a dictionary
        with pytest.raises(TypeError, match="must be a whole number such as 3, not "):
            ENTRIES[entry](wrong)
    with pytest.raises(ValueError, match=r"must be at least [01], not -1\."):
        ENTRIES[entry](-1)


def test_seeds_of_any_type_deal_the_same() -> None:
    for make in (lambda: CardVectorEnv(2), lambda: CardVectorEnv(2, pure_python=True)):
        dealt = [make().reset(seed=seed)[0]["observation"].tolist() for seed in INTEGERS]
        assert all(observation == dealt[0] for observation in dealt)
    matches = [make_env("euchre") for _ in INTEGERS]
    for match, seed in zip(matches, INTEGERS, strict=True):
        match.reset(seed=seed)
        same(match.last()[0], matches[0].last()[0])


def test_an_action_must_be_an_integer() -> None:
    match = make_env().unwrapped
    match.reset(seed=1)
    with pytest.raises(TypeError, match="An action must be a whole number"):
        match.step(0.5)
    match.step(np.int64(0))


# --- Gymnasium's contract ---------------------------------------------------------------------


class Solo(gym.Env[Observation, np.int64]):
    """A learner against a strategy as an environment of Gymnasium, with the matches of one lane."""

    def __init__(self, name: str, seat: int, lane: int, lanes: int) -> None:
        self.simulation, self.encoding = load_simulation_and_encoding(name, None)
        player = make_env(name).unwrapped
        self.observation_space = player.observation_space("player_0")
        self.action_space = player.action_space("player_0")
        self.opponent, self.learner = AGAINST[name], seat
        self.number, self.lanes = lane - lanes, lanes

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        del options
        self.seed = getattr(self, "seed", 0) if seed is None else seed
        self.number += self.lanes
        self.chance = pair_rng(self.seed, self.number, RngPurpose.CHANCE)
        self.state = self.simulation.initial_state(
            pair_rng(self.seed, self.number, RngPurpose.DECK)
        )
        self.players = {
            seat: self.simulation.build_strategy(
                self.opponent, pair_rng(self.seed, self.number, RngPurpose.FIRST + seat)
            )
            for seat in range(self.simulation.seats)
            if seat != self.learner
        }
        self.go_on()
        return self.seen(), {"to_act": self.learner}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        observation, chosen = self.seen(), self.encoding.choices(self.position)[int(action)]
        self.state = self.simulation.apply_action(self.state, chosen, self.chance)
        self.go_on()
        infos = {"to_act": self.learner}
        if self.simulation.current_seat(self.state) is not None:
            return self.seen(), 0.0, False, False, infos
        observation["observation"][0] = 1
        observation["action_mask"][:] = 0
        reward = final_rewards(self.simulation, self.state)[self.learner]
        return observation, reward, True, False, infos

    def go_on(self) -> None:
        while (seat := self.simulation.current_seat(self.state)) in self.players:
            decision = self.players[seat].decide(self.simulation.current_position(self.state))
            self.state = self.simulation.apply_action(self.state, decision.action, self.chance)
        if seat is not None:
            self.position = self.simulation.current_position(self.state)

    def seen(self) -> Observation:
        mask = np.zeros(self.encoding.actions, np.int8)
        mask[list(self.encoding.choices(self.position))] = 1
        numbers = np.array([0, *self.encoding.observed(self.position)], np.float32)
        return {"observation": numbers, "action_mask": mask}


@either
@pytest.mark.parametrize(("name", "seat"), [("deadmansdraw", 0), ("deadmansdraw", 1), ("blef", 1)])
def test_lanes_return_the_same_as_gymnasiums_vector_env(
    name: str, seat: int, *, plain: bool
) -> None:
    """Step for step: observations, rewards, ends, `final_obs`, `final_info` and their masks."""
    number = 3
    solos = [lambda lane=lane: Solo(name, seat, lane, number) for lane in range(number)]
    gymnasium_lanes = SyncVectorEnv(solos, autoreset_mode=AutoresetMode.SAME_STEP)
    lanes = CardVectorEnv(number, name, pure_python=plain, opponents={1 - seat: AGAINST[name]})
    assert lanes.metadata["autoreset_mode"] is gymnasium_lanes.metadata["autoreset_mode"]
    assert lanes.observation_space == gymnasium_lanes.observation_space
    assert lanes.action_space == gymnasium_lanes.action_space
    actual, expected = lanes.reset(seed=4), gymnasium_lanes.reset(seed=[4] * number)
    same(actual, expected)
    chance, finished_count = np.random.default_rng(2), 0
    for _ in range(150):
        actions = uniform(actual[0], chance)
        actual, expected = lanes.step(actions), gymnasium_lanes.step(actions)
        same(actual, expected)
        finished_count += int(actual[2].sum())
    assert finished_count > number


def test_gymnasium_wrappers_work_with_a_single_learner() -> None:
    lanes = RecordEpisodeStatistics(CardVectorEnv(4, opponents={0: "draw-3"}))  # type: ignore[type-var]
    seen, _ = lanes.reset(seed=1)
    chance, returns = np.random.default_rng(1), []
    for _ in range(200):
        seen, _, terminated, _, infos = lanes.step(uniform(seen, chance))
        returns += infos["episode"]["r"][terminated].tolist() if terminated.any() else []
    assert set(returns) <= {-1.0, 0.0, 1.0}
    assert len(returns) > 4


def test_a_final_observation_is_of_the_seat_that_acted_last() -> None:
    """If the learner plays all seats, `final_info` names the seat of the final observation."""
    lanes = CardVectorEnv(4, "euchre")
    seen, infos = lanes.reset(seed=1)
    chance, finals = np.random.default_rng(1), 0
    while finals < 3:
        previous, seats = seen, infos["to_act"]
        seen, _, terminated, _, infos = lanes.step(uniform(seen, chance))
        for lane in np.flatnonzero(terminated):
            finals += 1
            last = infos["final_obs"][lane]
            assert last["observation"][0] == 1
            assert last["observation"][1:].tolist() == previous["observation"][lane, 1:].tolist()
            assert not last["action_mask"].any()
            assert infos["final_info"]["to_act"][lane] == seats[lane]
        assert ("final_obs" in infos) == terminated.any()


# --- opponents --------------------------------------------------------------------------------


def test_some_seats_of_many_may_have_opponents() -> None:
    lanes = CardVectorEnv(2, "blef", 4, opponents={1: "greedy", np.int64(2): "random"})
    assert lanes.learners == (0, 3)
    seen, infos = lanes.reset(seed=1)
    chance, to_act = np.random.default_rng(1), set(infos["to_act"].tolist())
    for _ in range(40):
        seen, rewarded, _, _, infos = lanes.step(uniform(seen, chance))
        assert rewarded.shape == (2, 4)
        to_act |= set(infos["to_act"].tolist())
    assert to_act == {0, 3}


def test_a_strategy_file_can_be_an_opponent_and_its_failure_requires_a_reset(
    tmp_path: Path,
) -> None:
    strategy_file = write_strategy_file(
        tmp_path, "own", "return Decision(position.legal_actions()[0], '')"
    )
    lanes = CardVectorEnv(3, opponents={1: strategy_file})
    seen, _ = lanes.reset(seed=1)
    brought = played(lanes, seen, 100)
    restored = pickled(lanes)
    seen, _ = restored.reset(seed=1)
    assert str(played(restored, seen, 100)) == str(brought)
    broken = CardVectorEnv(
        2, opponents={1: write_strategy_file(tmp_path, "broken", "return 1 / 0")}
    )
    with pytest.raises(StrategyError, match=r"broken\.py.*ZeroDivisionError"):
        played(broken, broken.reset(seed=1)[0])
    with pytest.raises(ResetNeeded):
        broken.step(np.array([0, 0]))


@pytest.mark.parametrize(
    ("opponents", "message"),
    [
        ({2: "draw-3"}, "There is no seat 2 for an opponent; seats are 0 to 1."),
        ({0: "draw-3", 1: "draw-3"}, "Opponents have every seat; leave one to the learner."),
        ({1: "drw-3"}, "Did you mean draw-3?"),
    ],
)
@either
def test_opponents_that_cannot_be_are_refused(
    opponents: dict[int, str], message: str, *, plain: bool
) -> None:
    with pytest.raises(ConfigError) as caught:
        CardVectorEnv(2, opponents=opponents, pure_python=plain)
    assert message in str(caught.value)
