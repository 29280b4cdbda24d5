"""Training of tables by steps, with checkpoints in a folder, from which it resumes.

The result after a number of steps depends on the round alone, and not on the order of the rounds or
on the workers.
"""

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import product
from math import inf
from pathlib import Path

from pydantic import BaseModel, NonNegativeInt, ValidationError

from cardsharp.errors import ConfigError
from cardsharp.games.blef.strategies.equilibrium import SOLVED_CARD_COUNTS
from cardsharp.games.blef.strategies.table_lookup import MAX_TABLE_CARDS
from cardsharp_tools.research.blef.native import (
    CfrTrainer,
    HandSizes,
    build_round_index_tables,
    table_sizes,
)

TRAINING_RUN_FORMAT = 3
_DEALS_PER_STEP = 2_000  # deals of a step
STEPS = 10  # steps of a task, after which a checkpoint is written
_MAX_ROUNDS_IN_TRAINING = 4
"""Tasks of a pool at a time: the states of the largest rounds have two gigabytes each."""

_SEED_STRIDE = 1_000_003
_VALUE_BYTES = 4  # bytes of a regret, and of a strategy sum

ROUNDS: tuple[HandSizes, ...] = tuple(
    (player_cards, other_cards)
    for player_cards, other_cards in product(range(1, MAX_TABLE_CARDS), repeat=2)
    if player_cards + other_cards <= MAX_TABLE_CARDS
    and (player_cards, other_cards) not in SOLVED_CARD_COUNTS
)  # rounds that are trained: too large to solve, small enough for `table_lookup`


@dataclass(frozen=True, slots=True)
class CheckpointFolder:
    """Folder of checkpoints, a file for each round."""

    path: Path

    def __post_init__(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise ConfigError(f"{self.path} is no folder; give the folder of the checkpoints.")

    def read(self, hand_sizes: HandSizes) -> bytes:
        """Return the training state of a round, empty if it was not trained.

        Raises `ConfigError` if the file is damaged or has another format.
        """
        file = self._build_file_path(hand_sizes)
        if not file.exists():
            return b""
        state = file.read_bytes()
        _parse_step_count(state.partition(b"\n")[0], hand_sizes, file)
        value_count = 2 * sum(table_sizes(build_round_index_tables(hand_sizes)))
        if len(state) != state.find(b"\n") + 1 + _VALUE_BYTES * value_count:
            raise _damaged_state_error(file)
        return state

    def write(self, hand_sizes: HandSizes, state: bytes) -> None:
        """Write the training state of a round to its checkpoint atomically."""
        self.path.mkdir(parents=True, exist_ok=True)
        unfinished = self._build_file_path(hand_sizes).with_suffix(".tmp")
        unfinished.write_bytes(state)
        unfinished.replace(self._build_file_path(hand_sizes))

    def training_step_count(self, cards: HandSizes) -> int:
        """Return the training steps of a round; raise `ConfigError` for another file format."""
        file = self._build_file_path(cards)
        if not file.exists():
            return 0
        with file.open("rb") as state_file:
            return _parse_step_count(state_file.readline(), cards, file)

    def _build_file_path(self, cards: HandSizes) -> Path:
        return self.path / f"{cards[0]}v{cards[1]}.state"


class _StateHeader(BaseModel, frozen=True):
    """First line of a checkpoint. The regrets and the strategy sums of both players follow."""

    format: int
    cards: HandSizes
    steps: NonNegativeInt


def _parse_step_count(line: bytes, cards: HandSizes, file: Path) -> int:
    """Return the steps in the first line of a checkpoint; raise `ConfigError` for another line."""
    try:
        header = _StateHeader.model_validate_json(line)
    except ValidationError:
        raise _damaged_state_error(file) from None
    if (header.format, header.cards) != (TRAINING_RUN_FORMAT, cards):
        raise ConfigError(f"{file} has another format, or is of other cards; use a new folder.")
    return header.steps


def _damaged_state_error(file: Path) -> ConfigError:
    return ConfigError(f"{file} is no checkpoint of a round, or is damaged; move it away.")


def restore_trainer_and_step_count(cards: HandSizes, state: bytes) -> tuple[CfrTrainer, int]:
    """Return the trainer of a state, as `CheckpointFolder.read` returns it, and its steps."""
    learner = CfrTrainer(cards)
    if not state:
        return learner, 0
    start = state.index(b"\n") + 1
    rest = memoryview(state)[start:]
    for values in (*learner.regrets, *learner.strategy_sums):
        byte_count = _VALUE_BYTES * len(values)
        memoryview(values).cast("B")[:] = rest[:byte_count]
        rest = rest[byte_count:]
    return learner, _StateHeader.model_validate_json(state[:start]).steps


def train_steps(cards: HandSizes, state: bytes, steps: int = STEPS) -> bytes:
    """Train for `steps` more steps and return the new state."""
    learner, done = restore_trainer_and_step_count(cards, state)
    for step_index in range(done + 1, done + steps + 1):
        learner.train((cards[0] * 16 + cards[1]) * _SEED_STRIDE + step_index, _DEALS_PER_STEP)
        # Later steps count more: a regret by its step, the average by the step's square.
        learner.discount(step_index / (step_index + 1), (step_index / (step_index + 1)) ** 2)
    head = {"format": TRAINING_RUN_FORMAT, "cards": cards, "steps": done + steps}
    chunks = (bytes(values) for values in (*learner.regrets, *learner.strategy_sums))
    return b"".join((json.dumps(head).encode(), b"\n", *chunks))


@dataclass(frozen=True, slots=True)
class TrainingBudget:
    """End of training: a number of steps for each round, or a number of seconds."""

    steps: int
    seconds: float = inf
    clock: Callable[[], float] = time.monotonic


def train_rounds(
    folder: CheckpointFolder,
    rounds: Sequence[HandSizes],
    budget: TrainingBudget,
    pool: Executor | None = None,
    on_progress: Callable[[HandSizes, int], None] = lambda _cards, _steps: None,
) -> None:
    """Train rounds, that of fewest steps first; `on_progress` receives each that advanced."""
    end, at_once = budget.clock() + budget.seconds, 1 if pool is None else _MAX_ROUNDS_IN_TRAINING
    waiting = [(folder.training_step_count(cards), cards) for cards in rounds]
    heapify(waiting)
    running: dict[Future[bytes], tuple[int, HandSizes]] = {}

    def goes_on() -> bool:
        return bool(waiting) and waiting[0][0] < budget.steps and budget.clock() < end

    while True:
        while len(running) < at_once and goes_on():
            completed_steps, cards = heappop(waiting)
            running[_submit_steps(pool, cards, folder.read(cards))] = completed_steps + STEPS, cards
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            completed_steps, cards = running.pop(future)
            folder.write(cards, future.result())
            heappush(waiting, (completed_steps, cards))
            on_progress(cards, completed_steps)


def _submit_steps(pool: Executor | None, cards: HandSizes, state: bytes) -> Future[bytes]:
    """Submit a task to the pool, or run it immediately without a pool."""
    if pool is not None:
        return pool.submit(train_steps, cards, state)
    future = Future[bytes]()
    future.set_result(train_steps(cards, state))
    return future
