"""`cardsharp.env`: from a position to the numbers that the game's environment shows, and back."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.games import SAMPLE_NAMES, mount_samples

from cardsharp.env import encode, legal_actions, legal_mask
from cardsharp.errors import ConfigError
from cardsharp_tools.environments.aec_env import make_env

GAMES = ("deadmansdraw", "blef", "euchre")

WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
from random import Random
from cardsharp.games.deadmansdraw.simulation import DeadMansDrawSimulation
from cardsharp.env import encode, legal_actions, legal_mask
rules = DeadMansDrawSimulation()
position = rules.current_position(rules.initial_state(Random(1)))
print(len(encode(position)), sum(legal_mask(position)), [*legal_actions(position)])
"""


@pytest.mark.parametrize("name", [*GAMES, *SAMPLE_NAMES])
def test_a_position_is_encoded_as_its_environment_shows_it(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """To the bit, at every decision of a match; each number of an action leads back to it."""
    if name in SAMPLE_NAMES:
        mount_samples(monkeypatch, tmp_path)
    match = make_env(name).unwrapped
    match.reset(seed=5)
    dice = np.random.default_rng(5)
    while match.choices:
        observation = match.observe(match.agent_selection)
        numbers = encode(match.position)
        assert np.asarray(numbers).tobytes() == observation["observation"].tobytes()
        mask = legal_mask(match.position)
        assert np.asarray(mask).tobytes() == observation["action_mask"].tobytes()
        actions = legal_actions(match.position)
        assert {match.action_number(action): action for action in actions.values()} == actions
        match.step(int(dice.choice([*actions])))


def test_encode_accepts_a_game_name_and_refuses_unrelated_objects() -> None:
    match = make_env("blef").unwrapped
    match.reset(seed=1)
    assert encode(match.position, "blef") == encode(match.position)
    with pytest.raises(ConfigError, match="No game has positions of builtins; give a strategy's"):
        encode((1, 2))


def test_encoding_works_without_numpy() -> None:
    """As in the sandbox of a contest, and on AWS."""
    command = [sys.executable, "-c", WITHOUT_NUMPY]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert (done.stdout, done.stderr) == ("430 1 [0]\n", "")
