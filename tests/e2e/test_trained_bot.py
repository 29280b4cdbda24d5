"""A network learns against a fixed opponent, is exported, and plays as a bot: docs/environments.md.

With numpy alone, as starters/environments/train.py has it; where Stable-Baselines3 is installed,
its MaskablePPO as well.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from cardsharp.env import encode
from cardsharp.games.deadmansdraw.simulation import DeadMansDrawSimulation

ROOT = Path(__file__).parents[2]
STARTERS = ROOT / "starters" / "environments"
COMMAND = Path(sys.executable).with_name("cardsharp")

SHORT_TRAINING_STEPS = 10_000
STEPS, PAIRS = 250_000, 60
RANDOM, LEARNED = 0.22, 0.40
"""What `random` makes against draw-3 (100 pairs), and what the network must make at least.

After so many steps it made 0.567 of 120 matches when this was written; a standard error is 0.05.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with the starters."""
    for file in STARTERS.glob("*.py"):
        shutil.copy(file, tmp_path)
    return tmp_path


def run(folder: Path, *words: str) -> str:
    """Return a program's output, run in a folder on a single thread, so that it is repeatable."""
    around = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    around |= {"XDG_DATA_HOME": str(folder)}
    done = subprocess.run(  # noqa: S603 - ours
        words, cwd=folder, env=around, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def trained_points(folder: Path, steps: int, pairs: int) -> float:
    """Train a network, and return the share of points that it makes as a bot against draw-3."""
    printed = run(folder, sys.executable, "train.py", str(steps))
    assert printed.splitlines()[-1].endswith("against draw-3")
    duel = (str(COMMAND), "lab", "duel", "network.py", "draw-3", "-n", str(pairs))
    result = json.loads(run(folder, *duel, "--seed", "1", "--workers", "1", "--json"))
    assert result["matches"] == 2 * pairs
    return float(result["points"]) / 100


def test_a_network_is_trained_in_lanes_and_plays_as_a_bot_without_a_fault(folder: Path) -> None:
    """How well it plays is another test: so short a training teaches it little."""
    trained_points(folder, SHORT_TRAINING_STEPS, pairs=1)
    run(folder, str(COMMAND), "play", "--strategy", "network.py", "--strict")


@pytest.mark.slow
def test_a_network_learns_to_play_half_again_as_well_as_chance(folder: Path) -> None:
    assert trained_points(folder, STEPS, PAIRS) > LEARNED > 1.5 * RANDOM


def test_the_bot_agrees_with_the_exported_network(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bot's sums in plain Python are those of the trainer in numpy."""
    np = pytest.importorskip("numpy")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(folder)
    import train  # noqa: PLC0415 - copied there

    untrained = train.Network(430, 63, seed=1)
    untrained.export(folder / "network.json")
    import network  # noqa: PLC0415 - reads network.json

    rules = DeadMansDrawSimulation()
    numbers = encode(rules.current_position(rules.initial_state(Random(1))))
    first, first_bias, second, second_bias = untrained.weights
    outputs = np.tanh(np.asarray(numbers) @ first + first_bias) @ second + second_bias
    assert np.allclose(network.preferences_of([*numbers]), outputs[:-1], atol=1e-3)
    for name in ("train", "network"):
        del sys.modules[name]


def test_a_library_trains_the_same_network(folder: Path) -> None:
    pytest.importorskip("sb3_contrib", reason="pip install sb3-contrib")
    run(folder, sys.executable, "maskable_ppo.py", "20000")
    duel = (str(COMMAND), "lab", "duel", "network.py", "draw-3", "-n", "2", "--workers", "1")
    assert json.loads(run(folder, *duel, "--json"))["matches"] == 4
