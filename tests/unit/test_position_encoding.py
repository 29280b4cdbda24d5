"""Encoding of a position by `cardsharp.env`, compared with the game's environment."""

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

WITHOUT_NUMPY_CODE = """
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
    """Encoding, mask and action numbers are equal to the bit at every decision of a match."""
    if name in SAMPLE_NAMES:
        mount_samples(monkeypatch, tmp_path)
    environment = make_env(name).unwrapped
    environment.reset(seed=5)
    dice = np.random.default_rng(5)
    while environment.choices:
        observation = environment.observe(environment.agent_selection)
        numbers = encode(environment.position)
        assert np.asarray(numbers).tobytes() == observation["observation"].tobytes()
        mask = legal_mask(environment.position)
        assert np.asarray(mask).tobytes() == observation["action_mask"].tobytes()
        actions = legal_actions(environment.position)
        assert {environment.action_number(action): action for action in actions.values()} == actions
        environment.step(int(dice.choice([*actions])))


def test_encode_accepts_a_game_name_and_refuses_unrelated_objects() -> None:
    environment = make_env("blef").unwrapped
    environment.reset(seed=1)
    assert encode(environment.position, "blef") == encode(environment.position)
    with pytest.raises(ConfigError, match="No game has positions of builtins; give a strategy's"):
        encode((1, 2))


def test_encoding_works_without_numpy() -> None:
    """NumPy is missing in the sandbox of a contest and on AWS."""
    command = [sys.executable, "-c", WITHOUT_NUMPY_CODE]
    process = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert (process.stdout, process.stderr) == ("430 1 [0]\n", "")
