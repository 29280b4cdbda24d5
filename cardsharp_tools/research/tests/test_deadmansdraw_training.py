"""Tests of weight training and network training for Dead Man's Draw."""

from array import array
from ctypes import byref
from dataclasses import replace
from hashlib import sha256
from math import exp, log1p
from pathlib import Path
from random import Random

import pytest

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE
from cardsharp.games.deadmansdraw.strategies.search.card_sets import NO_CARD, SUITS
from cardsharp.games.deadmansdraw.strategies.search.network import (
    HIDDEN_UNITS,
    ContinuedTurn,
)
from cardsharp.games.deadmansdraw.strategies.search.network import (
    WEIGHT_COUNT as NETWORK_WEIGHT_COUNT,
)
from cardsharp.games.deadmansdraw.strategies.search.value_model import (
    WEIGHT_COUNT,
    ValueModel,
)
from cardsharp.games.deadmansdraw.strategies.search.weight_layout import (
    FIXED_POINT_ONE,
    KEYS,
)
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model, parse_network
from cardsharp_tools.research.c_library import declare_function
from cardsharp_tools.research.deadmansdraw import network_training
from cardsharp_tools.research.deadmansdraw.native import NativeEngine
from cardsharp_tools.research.deadmansdraw.network_training import (
    NetworkOptions,
    NetworkTraining,
    TrainingExample,
    network,
    read_network,
)
from cardsharp_tools.research.deadmansdraw.network_weights import float_weights
from cardsharp_tools.research.deadmansdraw.training import TrainingConfig, run_training
from cardsharp_tools.research.tests.decision_comparison import compiled_options


@pytest.mark.parametrize(
    ("config", "workers", "digest"),
    [
        (TrainingConfig(matches=2, batch=1, seed=5), 1, "a52022262a88941a"),
        (TrainingConfig(matches=20, batch=4, seed=3, opponent="champion"), 1, "67b956674506a08a"),
        (TrainingConfig(matches=20, batch=4, seed=3, opponent="champion"), 3, "67b956674506a08a"),
    ],
)
def test_trained_weights_are_unchanged(
    engine: NativeEngine, config: TrainingConfig, workers: int, digest: str
) -> None:
    """The trained weights are the same to the last bit with any number of workers.

    The first digest was also learned by an implementation in plain Python.
    """
    trained_weights = run_training(engine, config, workers=workers)
    assert sha256(trained_weights.tobytes()).hexdigest()[:16] == digest


def test_a_stopped_training_goes_on_to_the_same_weights(
    engine: NativeEngine, tmp_path: Path
) -> None:
    config, file = TrainingConfig(matches=40, batch=2), tmp_path / "half"

    def stop(matches: int, _numbers: "array[int]") -> None:
        if matches == 20:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        run_training(engine, config, checkpoint=file, on_checkpoint=stop)
    checkpoints: list[int] = []
    resumed_weights = run_training(
        engine,
        config,
        checkpoint=file,
        on_checkpoint=lambda checkpointed, _: checkpoints.append(checkpointed),
    )
    assert resumed_weights == run_training(engine, config)
    assert checkpoints[0] == 22
    with pytest.raises(ConfigError, match="belongs to another run"):
        run_training(engine, replace(config, seed=4), checkpoint=file)


def test_a_little_training_beats_none(engine: NativeEngine) -> None:
    """Check that a player with a little training beats one without any."""
    trained_player = engine.captain_player(
        ValueModel(run_training(engine, TrainingConfig(matches=200, batch=20)))
    )
    untrained_player = engine.captain_player(ValueModel(array("i", bytes(4 * WEIGHT_COUNT))))
    pairs = engine.play_pairs((trained_player, untrained_player), 1, range(30))
    assert (
        sum(first_result.points + second_result.points for first_result, second_result in pairs)
        > 42
    )


def test_matches_must_fill_batches() -> None:
    with pytest.raises(ValueError, match="multiple of the batch"):
        TrainingConfig(matches=150, batch=100)


# --- a network: its gradient, its beginning, and a course taken up again --------------------------


START_FILE = Path(network_training.__file__).with_name("network-start.json")
SHORT_TRAINING = NetworkOptions(matches=4, batch=2, learning_rate=0.01)
STEP = 0.01


def random_training_example(rng: Random) -> TrainingExample:
    """Return a random training example; no match need reach its position."""
    keys = (*(rng.randrange(KEYS) for _ in range(SUITS)),)
    unseen_count, top_card, part = rng.randint(1, 50), rng.choice((NO_CARD, 17)), rng.randrange(2)
    position = (keys, part, unseen_count, 5, rng.randrange(1 << SUITS), top_card)
    turn = ContinuedTurn(rng.randrange(17), rng.randrange(11), rng.randrange(12), -90, 40)
    return TrainingExample(*position, *turn, 0.3, 0.8, 0.95)


@pytest.mark.parametrize("seed", range(5))
def test_gradient_matches_finite_differences(engine: NativeEngine, seed: int) -> None:
    """The gradient equals finite differences, and the search computes the same loss.

    Checked are the 30 weights with the largest gradients and 30 others.
    """
    rng, native_loss = Random(seed), declare_function(engine.library.network_loss, "PPP", "d")
    weight_values = NetworkTraining(engine, SHORT_TRAINING).optimiser_state
    weight_values = array("f", [rng.uniform(-0.2, 0.2) for _ in range(len(weight_values) // 4)])
    gradient, sample = array("f", bytes(4 * len(weight_values))), random_training_example(rng)

    def loss(*, into: int | None = None) -> float:
        loss_value: float = native_loss(weight_values.buffer_info()[0], byref(sample), into)
        return loss_value

    loss(into=gradient.buffer_info()[0])
    ranked = sorted(
        range(len(weight_values)), key=lambda weight_index: -abs(gradient[weight_index])
    )
    for weight_index in (*ranked[:30], *rng.sample(ranked, 30)):
        original, step_losses = weight_values[weight_index], list[float]()
        for step in (STEP, -STEP):
            weight_values[weight_index] = original + step
            step_losses.append(loss())
        weight_values[weight_index] = original
        slope = (step_losses[0] - step_losses[1]) / (2 * STEP)
        assert slope == pytest.approx(gradient[weight_index], rel=0.05, abs=2e-3)
    assert max(map(abs, gradient)) > 0.05
    library = engine.library
    layer_sum = declare_function(library.layer_sum, "PPq", "q")
    layer = declare_function(library.layer_new, "P", "P")(weight_values.buffer_info()[0])
    odds = (
        sample.odds
        + layer_sum(layer, byref(sample), round(sample.odds * FIXED_POINT_ONE)) / FIXED_POINT_ONE
    )
    assert sample.weight * (log1p(exp(odds)) - sample.target * odds) == pytest.approx(
        loss(), rel=2e-3
    )


def test_untrained_network_plays_like_captain(engine: NativeEngine) -> None:
    tables = ValueModel(load_model(WEIGHT_FILE).numbers)
    initial_network = NetworkTraining(engine, SHORT_TRAINING).optimiser_state
    assert max(map(abs, initial_network)) > 0
    table_player, network_player = (
        engine.captain_player(tables),
        engine.captain_player(tables, network=initial_network),
    )
    assert compiled_options(network_player, 5, 0) == compiled_options(table_player, 5, 0)


def test_a_training_starts_from_a_network(engine: NativeEngine) -> None:
    """The units of the network keep its weights, and those without output are random."""
    start = parse_network(START_FILE.read_text("utf-8"))
    options = NetworkOptions(matches=2, batch=2, start=START_FILE)
    state = NetworkTraining(engine, options).optimiser_state
    random_state = NetworkTraining(engine, SHORT_TRAINING).optimiser_state
    weights, units = float_weights(start), range(0, NETWORK_WEIGHT_COUNT, HIDDEN_UNITS)
    assert [state[at] for at in units] == [weights[at] for at in units]
    assert [state[at + HIDDEN_UNITS - 1] for at in units] == [
        random_state[at + HIDDEN_UNITS - 1] for at in units
    ]
    tables = ValueModel(load_model(WEIGHT_FILE).numbers)
    players = (
        engine.captain_player(tables, network=network_weights)
        for network_weights in (weights, state)
    )
    assert compiled_options(next(players), 5, 0) == compiled_options(next(players), 5, 0)


def test_stopped_network_training_resumes_to_the_same_network(
    engine: NativeEngine, tmp_path: Path
) -> None:
    full_run_file, stopped_run_file = tmp_path / "at-once", tmp_path / "stopped"
    network(full_run_file, options=SHORT_TRAINING)
    training = NetworkTraining(engine, SHORT_TRAINING)
    training.play_and_train_batch()
    training.save(stopped_run_file)
    network(stopped_run_file, options=SHORT_TRAINING)
    assert read_network(stopped_run_file).numbers == read_network(full_run_file).numbers
    assert any(read_network(stopped_run_file).numbers)
    with pytest.raises(ConfigError, match="belongs to another run"):
        network(stopped_run_file, options=NetworkOptions(matches=4, batch=4))
