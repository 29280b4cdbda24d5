"""Command `research train`: captain's training, by matches against itself or an opponent.

Matches are played a batch at a time with the same weights, so that any number of threads gives
the same result; the weights then follow the batch's samples in the order of their matches. Each
sample's target is the mean over its next card (an expected backup), so nearly free of luck.
`native/self_play.c` plays, and `native/value_training.c` learns.
"""

import ctypes
import os
import sys
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from math import floor
from pathlib import Path
from statistics import fmean
from typing import Annotated

from cyclopts import Parameter
from pydantic import NonNegativeInt

from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import SearchLimits
from cardsharp.games.deadmansdraw.strategies.search.value_model import (
    WEIGHT_COUNT,
    ValueModel,
)
from cardsharp.games.deadmansdraw.strategies.search.weights import dump_weights
from cardsharp_tools.cli.options import CommandOptions
from cardsharp_tools.executors.strategy_reference import BuiltIn, parse_strategy
from cardsharp_tools.lab.confidence_interval import mean_interval
from cardsharp_tools.research.c_library import declare_function, struct_fields
from cardsharp_tools.research.deadmansdraw.native import (
    NativeEngine,
    NativePlayer,
    first_player_points_share,
    require_engine,
)
from cardsharp_tools.research.deadmansdraw.run_files import (
    CheckpointHeader,
    check_output_path,
    load_checkpoint,
    save_checkpoint,
)
from cardsharp_tools.research.deadmansdraw.weight_files import read_model_weights

WEIGHT_SCALE = 65536  # a weight is an integer multiple of 1 / WEIGHT_SCALE
INITIAL_SQUARED_GRADIENTS = 0.01  # initial sums, so that the first steps are not too large
MAX_SAMPLES = 400  # maximum samples of one match, as in self_play.h
CHECKPOINT_COUNT = 20  # checkpoints of a training
MEASURED_PAIRS = 500  # decks against the champion at each checkpoint
# limits of the search during training
_WEIGHTS_SIZE = 8 * WEIGHT_COUNT  # bytes of the weights of a training
FAST_LIMITS = SearchLimits(max_second_draws=-1, endgame_cards=0)


@dataclass(frozen=True, slots=True)
class TrainingConfig(CommandOptions):
    """Configuration of a training.

    The step size falls geometrically from `rate_first` to `rate_last`. `td_lambda` is the share of
    a target that comes from later events of the match. `exploration` is the probability to draw on
    although stopping looks better. The result is the average of the weights over the last part of
    the training, from `averaging_start` on. With an `opponent`, its turns are played by its own
    rule, and `replies` of them are sampled for one target.
    """

    matches: Annotated[int, Parameter(help="Matches against itself, whole batches.")] = 60_000
    seed: Annotated[int, Parameter(help="The same seed learns the same numbers.")] = 7
    batch: Annotated[int, Parameter(help="Matches between two changes of the numbers.")] = 100
    rate_first: Annotated[float, Parameter(help="Step size at the beginning.")] = 0.03
    rate_last: Annotated[float, Parameter(help="Step size at the end.")] = 0.002
    td_lambda: Annotated[float, Parameter(help="How much later turns count in a target.")] = 0.25
    exploration: Annotated[float, Parameter(help="How often a turn goes on regardless.")] = 0.03
    averaging_start: Annotated[float, Parameter(help="From where on numbers are averaged.")] = 0.6
    opponent: Annotated[
        str | None, Parameter(help="Learn to beat this player; else captain plays itself.")
    ] = None
    replies: Annotated[int, Parameter(help="Turns of OPPONENT that are tried for a target.")] = 4

    def __post_init__(self) -> None:
        if self.matches < 1 or self.matches % self.batch:
            raise ValueError(f"The matches must be a multiple of the batch, {self.batch}.")

    @property
    def document(self) -> dict[str, object]:
        """Return the configuration as a JSON document."""
        return asdict(self)

    @property
    def batch_count(self) -> int:
        """Number of batches."""
        return self.matches // self.batch

    def learning_rate(self, batch: int) -> float:
        """Return the learning rate of a batch."""
        progress = batch / self.batch_count
        return self.rate_first * float((self.rate_last / self.rate_first) ** progress)

    def is_averaged(self, batch: int) -> bool:
        """Return True if the weights after this batch count for the average."""
        return batch >= int(self.averaging_start * self.batch_count)


def _round_to_int(value: float) -> int:
    """Return a weight in the integer scale of the search."""
    return floor(value * WEIGHT_SCALE + 0.5)


def _create_uniform_weights(value: float) -> "array[float]":
    return array("d", [value]) * WEIGHT_COUNT


class _SelfPlayConfig(ctypes.Structure):
    """ctypes structure for `SelfPlayConfig` of self_play.h."""

    _fields_ = struct_fields("ddi", "td_lambda exploration replies")


class _Sample(ctypes.Structure):
    """ctypes structure for `Sample` of self_play.h."""

    _fields_ = struct_fields(
        ".Hbbbbbbdddq",
        "keys area_suits unseen_count known_top area_size risk hope is_turn_start target "
        "bust_value bust_probability stop_sum",
        ctypes.c_int16 * 10,
    )


class WeightCheckpoint(CheckpointHeader):
    """First line of a checkpoint: the options, the batches played, and how many were averaged."""

    command = "train"
    settings: Mapping[str, object]
    batches: NonNegativeInt
    averaged: NonNegativeInt

    @property
    def options(self) -> Mapping[str, object]:
        """Options of the training."""
        return self.settings

    @property
    def state_size(self) -> int:
        """Bytes of the weights, of their squared gradients, and of the sum for the average."""
        return 3 * _WEIGHTS_SIZE


class WeightTraining:
    """Running training: weights, summed squared gradients, and the sum for the average.

    Batches are played in threads, which do not hold the interpreter's lock. An opponent with a
    belief begins each match with `belief`. Raises `KeyError` for an opponent that the engine does
    not have.
    """

    def __init__(
        self,
        engine: NativeEngine,
        settings: TrainingConfig,
        workers: int = 1,
        opponent: NativePlayer | None = None,
        belief: ctypes.Structure | None = None,
    ) -> None:
        self.settings, self.workers, self.library = settings, workers, engine.library
        self.weight_values, self.squared_gradients, self.weight_sums = (
            _create_uniform_weights(0.0),
            _create_uniform_weights(INITIAL_SQUARED_GRADIENTS),
            _create_uniform_weights(0.0),
        )
        self.batches = self.averaged_batches = 0
        self.self_play_config = _SelfPlayConfig(
            settings.td_lambda, settings.exploration, settings.replies
        )
        if opponent is None and settings.opponent is not None:
            opponent = engine.player_for_strategy(parse_strategy(settings.opponent))
        self.opponent = None if opponent is None else opponent.policy
        self.belief = None if belief is None else ctypes.byref(belief)
        self.samples = (_Sample * (MAX_SAMPLES * settings.batch))()
        self.sample_counts = (ctypes.c_int32 * settings.batch)()
        declare_function(self.library.play_and_sample, "PPPPQQqPP", "")
        declare_function(self.library.update_weights, "PPPPqd", "")

    def weights(self) -> "array[int]":
        """Return the current weights."""
        return array("i", map(_round_to_int, self.weight_values))

    def average_weights(self) -> "array[int]":
        """Return the average weights, or the current ones if none count yet."""
        if not self.averaged_batches:
            return self.weights()
        return array(
            "i", (_round_to_int(total / self.averaged_batches) for total in self.weight_sums)
        )

    def play_and_train_batch(self) -> None:
        """Play the next batch and train with it."""
        weights = self.weights()
        self._play_batch(weights)
        self._update_weights(weights, self.settings.learning_rate(self.batches))
        if self.settings.is_averaged(self.batches):
            self.averaged_batches += 1
            for at, weight in enumerate(self.weight_values):
                self.weight_sums[at] += weight
        self.batches += 1

    def save(self, path: Path) -> None:
        """Write the state of the training to a checkpoint."""
        header = WeightCheckpoint(
            settings=self.settings.document, batches=self.batches, averaged=self.averaged_batches
        )
        save_checkpoint(
            path,
            header,
            (
                values.tobytes()
                for values in (self.weight_values, self.squared_gradients, self.weight_sums)
            ),
        )

    def restore_if_saved(self, path: Path) -> None:
        """Continue from a checkpoint if there is one; raise `ConfigError` for another training."""
        checkpoint = load_checkpoint(path, WeightCheckpoint, self.settings.document)
        if checkpoint is not None:
            header, state = checkpoint
            for values in (self.weight_values, self.squared_gradients, self.weight_sums):
                values[:] = array("d", state.read(_WEIGHTS_SIZE))
            self.batches, self.averaged_batches = header.batches, header.averaged

    def _play_batch(self, weights: "array[int]") -> None:
        first_match = self.batches * self.settings.batch

        def play(match_indices: Sequence[int]) -> None:
            self.library.play_and_sample(
                weights.buffer_info()[0],
                self.opponent,
                self.belief,
                ctypes.byref(self.self_play_config),
                self.settings.seed,
                first_match + match_indices[0],
                len(match_indices),
                ctypes.byref(self.samples, match_indices[0] * MAX_SAMPLES * ctypes.sizeof(_Sample)),
                ctypes.byref(self.sample_counts, match_indices[0] * ctypes.sizeof(ctypes.c_int32)),
            )

        # Consecutive shares, small enough that no worker waits long for the last one.
        batch, chunk_size = self.settings.batch, max(1, self.settings.batch // (4 * self.workers))
        with ThreadPoolExecutor(self.workers) as pool:
            list(
                pool.map(
                    play, (range(batch)[at : at + chunk_size] for at in range(0, batch, chunk_size))
                )
            )

    def _update_weights(self, weights: "array[int]", rate: float) -> None:
        """Update the weights in the order of the matches.

        So the number of workers has no effect on the result.
        """
        for match_index in range(self.settings.batch):
            self.library.update_weights(
                self.weight_values.buffer_info()[0],
                self.squared_gradients.buffer_info()[0],
                weights.buffer_info()[0],
                ctypes.byref(self.samples, match_index * MAX_SAMPLES * ctypes.sizeof(_Sample)),
                self.sample_counts[match_index],
                rate,
            )


def run_training(
    engine: NativeEngine,
    settings: TrainingConfig,
    *,
    workers: int = 1,
    checkpoint: Path | None = None,
    on_checkpoint: Callable[[int, "array[int]"], None] = lambda _matches, _numbers: None,
) -> "array[int]":
    """Return the final weights of a training; workers and restarts do not change them.

    `on_checkpoint` is called at every checkpoint with the number of matches, and the weights that
    would be the result now. Raises `ConfigError` if the checkpoint is of another training.
    """
    training = WeightTraining(engine, settings, workers)
    if checkpoint is not None:
        training.restore_if_saved(checkpoint)
    checkpoint_interval = max(1, settings.batch_count // CHECKPOINT_COUNT)
    while training.batches < settings.batch_count:
        training.play_and_train_batch()
        if training.batches % checkpoint_interval == 0:
            if checkpoint is not None:
                training.save(checkpoint)
            on_checkpoint(training.batches * settings.batch, training.average_weights())
    return training.average_weights()


@dataclass(frozen=True)
class TrainOutputOptions(CommandOptions):
    """Output of the training, and its workers."""

    out: Annotated[Path, Parameter(help="File for the weights.")] = Path("captain.json")
    checkpoint: Annotated[
        Path | None, Parameter(help="Checkpoint file; the same command resumes from it.")
    ] = None
    expected_file: Annotated[
        Path | None,
        Parameter(help="Fail unless the numbers are those of this weight file."),
    ] = None
    workers: Annotated[int, Parameter(help="Threads.")] = os.cpu_count() or 1


def main(
    settings: TrainingConfig = TrainingConfig(), options: TrainOutputOptions = TrainOutputOptions()
) -> None:
    """Train, print the progress, and write the weights with their origin."""
    engine, began = (
        require_engine(*map(parse_strategy, filter(None, (settings.opponent,)))),
        time.monotonic(),
    )

    def watch(matches: int, weight_values: "array[int]") -> None:
        """Measure the weights during the training, and print the progress."""
        took = timedelta(seconds=round(time.monotonic() - began))
        players = (
            engine.captain_player(ValueModel(weight_values), FAST_LIMITS),
            engine.player_for_strategy(BuiltIn("champion")),
        )
        shares = [
            first_player_points_share(pair)
            for pair in engine.play_pairs(players, settings.seed, range(MEASURED_PAIRS))
        ]
        low, high = mean_interval(shares, matches_per_share=2).scaled(100)
        _print_progress(
            f"{matches} of {settings.matches} matches, {took}, "
            f"{100 * fmean(shares):.1f} % against the champion (95 %: {low:.1f} to {high:.1f})"
        )

    check_output_path(options.out)
    expected_file = options.expected_file  # read now, because the training takes hours
    expected_weights = None if expected_file is None else read_model_weights(expected_file).numbers
    weight_values = run_training(
        engine,
        settings,
        workers=options.workers,
        checkpoint=options.checkpoint,
        on_checkpoint=watch,
    )
    provenance: dict[str, object] = {
        "command": " ".join(("cardsharp", *sys.argv[1:])),
        "settings": settings.document,
        "date": datetime.now(UTC).date().isoformat(),
    }
    options.out.write_text(dump_weights(ValueModel(weight_values), provenance) + "\n", "utf-8")
    _print_progress(f"The weights are in {options.out}.")
    if expected_weights is not None:
        if expected_weights != weight_values:
            raise SystemExit(f"The weights differ from those of {expected_file}.")
        _print_progress(f"All weights equal those of {expected_file}.")


def _print_progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 (a command)
