"""Training tables by steps, kept in a folder: where it was stopped it goes on.

What a table has learned after so many steps depends on its round and on nothing else: not on the
order of the rounds, nor on who works on them.
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

from cardsharp.blef.strategies.equilibrium import SOLVED
from cardsharp.blef.strategies.sight import MOST_CARDS
from cardsharp.errors import ConfigError
from research.blef.compiled import Cards, Learner

FORMAT = 3
_DEALS = 2_000  # deals of a step
STEPS = 10  # steps of a task, after which what was learned is kept
_AT_ONCE = 4
"""Tasks that a pool has at a time: the states of the largest rounds have two gigabytes each."""

_SEED = 1_000_003

ROUNDS: tuple[Cards, ...] = tuple(
    (one, two)
    for one, two in product(range(1, MOST_CARDS), repeat=2)
    if one + two <= MOST_CARDS and (one, two) not in SOLVED
)  # the rounds that are trained: too large to be solved, small enough for `sight`


@dataclass(frozen=True, slots=True)
class Folder:
    """What was learned so far, a file for each round."""

    path: Path

    def read(self, cards: Cards) -> bytes:
        """What was learned of a round; empty where nothing was."""
        file = self._file(cards)
        return file.read_bytes() if file.exists() else b""

    def write(self, cards: Cards, state: bytes) -> None:
        """Keep it, at once or not at all."""
        self.path.mkdir(parents=True, exist_ok=True)
        unfinished = self._file(cards).with_suffix(".tmp")
        unfinished.write_bytes(state)
        unfinished.replace(self._file(cards))

    def steps(self, cards: Cards) -> int:
        """How many steps a round has learned; raises `ConfigError` for another format."""
        file = self._file(cards)
        if not file.exists():
            return 0
        with file.open("rb") as state:
            return _head(state.readline(), cards)

    def _file(self, cards: Cards) -> Path:
        return self.path / f"{cards[0]}v{cards[1]}.state"


def _head(line: bytes, cards: Cards) -> int:
    head = json.loads(line)
    if (head["format"], tuple(head["cards"])) != (FORMAT, cards):
        raise ConfigError(f"The checkpoint of {cards} is of another format; begin a new folder.")
    return int(head["steps"])


def learner_of(cards: Cards, state: bytes) -> tuple[Learner, int]:
    """What has learned so much, and in how many steps."""
    learner = Learner(cards)
    if not state:
        return learner, 0
    start = state.index(b"\n") + 1
    rest = memoryview(state)[start:]
    for numbers in (*learner.regrets, *learner.sums):
        size = 4 * len(numbers)
        memoryview(numbers).cast("B")[:] = rest[:size]
        rest = rest[size:]
    return learner, _head(state[:start], cards)


def advance(cards: Cards, state: bytes, steps: int = STEPS) -> bytes:
    """What is known after so many steps more."""
    learner, done = learner_of(cards, state)
    for step in range(done + 1, done + steps + 1):
        learner.learn((cards[0] * 16 + cards[1]) * _SEED + step, _DEALS)
        # Later steps count more: a regret by its step, the average by the step's square.
        learner.fade(step / (step + 1), (step / (step + 1)) ** 2)
    head = {"format": FORMAT, "cards": cards, "steps": done + steps}
    parts = (bytes(numbers) for numbers in (*learner.regrets, *learner.sums))
    return b"".join((json.dumps(head).encode(), b"\n", *parts))


@dataclass(frozen=True, slots=True)
class Budget:
    """When training ends: with so many steps of each round, or so many seconds."""

    steps: int
    seconds: float = inf
    clock: Callable[[], float] = time.monotonic


def train(
    folder: Folder,
    wanted: Sequence[Cards],
    budget: Budget,
    pool: Executor | None = None,
    tell: Callable[[Cards, int], None] = lambda _cards, _steps: None,
) -> None:
    """Train these rounds, the least trained first; `tell` hears of each that got further."""
    end, at_once = budget.clock() + budget.seconds, 1 if pool is None else _AT_ONCE
    waiting = [(folder.steps(cards), cards) for cards in wanted]
    heapify(waiting)
    running: dict[Future[bytes], tuple[int, Cards]] = {}

    def goes_on() -> bool:
        return bool(waiting) and waiting[0][0] < budget.steps and budget.clock() < end

    while True:
        while len(running) < at_once and goes_on():
            steps, cards = heappop(waiting)
            running[_begun(pool, cards, folder.read(cards))] = steps + STEPS, cards
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            steps, cards = running.pop(future)
            folder.write(cards, future.result())
            heappush(waiting, (steps, cards))
            tell(cards, steps)


def _begun(pool: Executor | None, cards: Cards, state: bytes) -> Future[bytes]:
    """A task of a pool; without one it is done here and at once."""
    if pool is not None:
        return pool.submit(advance, cards, state)
    here = Future[bytes]()
    here.set_result(advance(cards, state))
    return here
