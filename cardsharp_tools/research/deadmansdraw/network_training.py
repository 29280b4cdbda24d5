"""`cardsharp research train-network`: train the network beside captain's tables by self-play."""

import ctypes
from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from pydantic import NonNegativeInt

from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE
from cardsharp.games.deadmansdraw.strategies.search.card_sets import SUITS
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import (
    SHORT_LIMITS,
    SearchLimits,
)
from cardsharp.games.deadmansdraw.strategies.search.network import (
    HIDDEN_UNITS,
    OUTPUT_COUNT,
    WEIGHT_COUNT,
    ValueNetwork,
)
from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel
from cardsharp.games.deadmansdraw.strategies.search.weight_layout import KNOTS
from cardsharp.games.deadmansdraw.strategies.search.weights import (
    dump_weights,
    load_model,
)
from cardsharp_tools.cli.console import result_console
from cardsharp_tools.cli.options import CommandOptions, Positive
from cardsharp_tools.lab.options import Seed
from cardsharp_tools.research.c_library import declare_function, struct_fields
from cardsharp_tools.research.deadmansdraw.exact_solver import ExactSolver
from cardsharp_tools.research.deadmansdraw.native import NativeEngine, require_engine
from cardsharp_tools.research.deadmansdraw.network_weights import (
    float_weights,
    quantised,
)
from cardsharp_tools.research.deadmansdraw.run_files import (
    CheckpointHeader,
    check_output_path,
    load_checkpoint,
    read_checkpoint,
    save_checkpoint,
)
from cardsharp_tools.research.deadmansdraw.weight_files import read_network_weights
from cardsharp_tools.terminal.progress import ProgressBar

_MAX_EXAMPLES = 600  # maximum examples of one match, as in network_self_play.c
_REPLAY_BATCHES = 8  # batches in the replay buffer


class _SelfPlay(ctypes.Structure):
    """ctypes structure for `SelfPlay` of network_self_play.c."""

    _fields_ = struct_fields("PPPd", "learner judge solver td_lambda")


class TrainingExample(ctypes.Structure):
    """ctypes structure for `TrainingExample` of network_learning.h: a training example."""

    _fields_ = struct_fields(
        ".hhhhhhhhhhfff",
        "keys output pile_count lead area_suits next_card risk size rescued stop bust odds target "
        "weight",
        ctypes.c_int16 * SUITS,
    )


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(CommandOptions):
    """Options of a network's training; equal options give equal networks."""

    matches: Annotated[int, Parameter(validator=Positive, help="Against itself.")] = 24_000
    batch: Annotated[int, Parameter(validator=Positive, help="Matches of one network.")] = 2000
    learning_rate: Annotated[float, Parameter(help="The first step size; the last is 1/40.")] = (
        0.002
    )
    td_lambda: Annotated[float, Parameter(help="How much later turns count in a target.")] = 0.3
    seed: Seed = 1
    start: Annotated[
        Path | None, Parameter(help="The weight file of the network from which it starts.")
    ] = None

    @property
    def document(self) -> dict[str, object]:
        """Return the options as a JSON document."""
        return asdict(self) | {"start": self.start and self.start.name}


def network(
    out: Path,
    /,
    *,
    weights_file: Annotated[
        Path | None, Parameter(help="The weight file that is made of it.")
    ] = None,
    options: NetworkOptions = NetworkOptions(),
) -> None:
    """Train a network beside captain's tables; OUT is written after each batch."""
    if weights_file is not None:
        check_output_path(weights_file)
    course = NetworkTraining(require_engine(), options)
    course.restore_if_saved(out)
    with ProgressBar(options.matches, "matches", completed_steps=course.matches_played) as bar:
        while course.matches_played < options.matches:
            network_error, captain_error = course.play_and_train_batch()
            course.save(out)
            bar.advance(options.batch)
            summary = (
                f"{course.matches_played} matches: mean squared error "
                f"{network_error:.5f}, captain's {captain_error:.5f}"
            )
            result_console().print(summary)
    if weights_file is not None:
        provenance: dict[str, object] = {"settings": options.document}
        weights_file.write_text(dump_weights(read_network(out), provenance) + "\n", "utf-8")


class NetworkCheckpoint(CheckpointHeader):
    """First line of a checkpoint: the options, the matches played, and the replay buffer's sizes.

    The state of the optimiser follows, and then the replay buffer.
    """

    command = "train-network"
    course: Mapping[str, object]
    done: NonNegativeInt
    sizes: tuple[NonNegativeInt, ...]

    @property
    def options(self) -> Mapping[str, object]:
        """Options of the training."""
        return self.course

    @property
    def state_size(self) -> int:
        """Bytes of the optimiser's state and of the replay buffer."""
        optimiser_size: int = require_engine().library.optimiser_size()
        return optimiser_size + sum(self.sizes)


class NetworkTraining:
    """Running training: the network, the optimiser's state, and the latest examples."""

    def __init__(self, engine: NativeEngine, options: NetworkOptions) -> None:
        self.engine, self.options = engine, options
        library = engine.library
        declare_function(library.network_learn, "PPqdP")
        declare_function(library.sample_matches, "PQQqP", "q")
        declare_function(library.optimiser_begin, "PQ")
        self.optimiser_state = array("f", bytes(library.optimiser_size()))
        self.replay_buffer, self.matches_played = list[bytes](), 0
        library.optimiser_begin(self.optimiser_state.buffer_info()[0], options.seed)
        if options.start is not None:
            self._start_from(read_network_weights(options.start))

    def _start_from(self, start: ValueNetwork) -> None:
        """Take over the units of a network; units without output keep their random weights."""
        weights = float_weights(start)
        for unit in range(HIDDEN_UNITS):
            part_size = WEIGHT_COUNT // OUTPUT_COUNT
            for part in range(0, WEIGHT_COUNT, part_size):
                rows = slice(part + unit, part + part_size, HIDDEN_UNITS)
                if any(weights[rows][-len(KNOTS) :]):
                    self.optimiser_state[rows] = weights[rows]

    def play_and_train_batch(self) -> "array[float]":
        """Play a batch and train on the latest ones.

        Return the mean squared errors, captain's last.
        """
        self.replay_buffer = [*self.replay_buffer[1 - _REPLAY_BATCHES :], self._play_batch()]
        examples, errors = b"".join(self.replay_buffer), array("d", (0.0, 0.0))
        rate = self.options.learning_rate / 40 ** (self.matches_played / self.options.matches)
        learn, state_address = (
            self.engine.library.network_learn,
            self.optimiser_state.buffer_info()[0],
        )
        learn(
            state_address,
            examples,
            len(examples) // ctypes.sizeof(TrainingExample),
            rate,
            errors.buffer_info()[0],
        )
        self.matches_played += self.options.batch
        return errors

    def _play_batch(self) -> bytes:
        """Play a batch of matches; return its examples in C's form."""
        engine, batch = self.engine, self.options.batch
        examples = (TrainingExample * (_MAX_EXAMPLES * batch))()
        limits = SearchLimits(endgame_cards=0)
        tables = ValueModel(load_model(WEIGHT_FILE).numbers)
        players = (
            engine.captain_player(tables, limits, self.optimiser_state),
            engine.captain_player(tables, SHORT_LIMITS, self.optimiser_state),
        )
        policies = (player.policy for player in players)
        solver = ExactSolver(engine, bits=17, nodes=1500, picks=8, groups=True)
        self_play = ctypes.byref(_SelfPlay(*policies, solver.address, self.options.td_lambda))
        example_count = engine.library.sample_matches(
            self_play, self.options.seed, self.matches_played, batch, examples
        )
        return bytes(memoryview(examples)[:example_count])

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        if self.matches_played >= self.options.matches:
            self.replay_buffer = []
        header = NetworkCheckpoint(
            course=self.options.document,
            done=self.matches_played,
            sizes=tuple(map(len, self.replay_buffer)),
        )
        save_checkpoint(path, header, (self.optimiser_state.tobytes(), *self.replay_buffer))

    def restore_if_saved(self, path: Path) -> None:
        """Continue from a checkpoint if the file exists; raise `ConfigError` for another file."""
        checkpoint = load_checkpoint(path, NetworkCheckpoint, self.options.document)
        if checkpoint is not None:
            header, state = checkpoint
            self.optimiser_state = array(
                "f", state.read(len(self.optimiser_state) * self.optimiser_state.itemsize)
            )
            self.replay_buffer = [state.read(byte_count) for byte_count in header.sizes]
            self.matches_played = header.done


def read_network(path: Path) -> ValueNetwork:
    """Return the network of a checkpoint, 0 for untrained weights; raise `ConfigError`.

    A weight that no example has changed is 0. Raises `ConfigError` for an invalid file.
    """
    _, state = read_checkpoint(path, NetworkCheckpoint)
    values = array("f", state.read(require_engine().library.optimiser_size()))
    learned, squares = values[:WEIGHT_COUNT], values[3 * WEIGHT_COUNT : 4 * WEIGHT_COUNT]
    return quantised(
        weight if moved else 0.0 for weight, moved in zip(learned, squares, strict=True)
    )
