"""`cardsharp research train`: how the captain learns, from matches against itself or an opponent.

Matches are played a batch at a time with the same weights, so that any number of threads gives
the same result; the weights then follow the batch's samples in the order of their matches. Each
sample's target is the mean over its next card (an expected backup), so nearly free of luck.
`native/train.c` does the work.
"""

import ctypes
import os
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from math import floor
from pathlib import Path
from statistics import fmean
from typing import Annotated

from cyclopts import Parameter

from cardsharp.deadmansdraw.strategies.search.leaves import SearchLimits
from cardsharp.deadmansdraw.strategies.search.model import NUMBERS, Model
from cardsharp.deadmansdraw.strategies.search.weights import dump_weights, read_weights
from cardsharp.text_files import read_json_text
from research.compiling import declare, members
from research.deadmansdraw.engine import Engine, Twin, needed, share
from research.deadmansdraw.kept import restored, save
from workbench.lab.interval import interval
from workbench.show.options import CommandOptions

WHOLE = 65536  # a learned number is a whole multiple of one of so many parts
FIRST_SQUARES = 0.01  # the sums of squared gradients begin here: no first step is a leap
MOST_SAMPLES = 400  # of one match, as in train.h
CHECKPOINTS = 20  # in a training
MEASURED_PAIRS = 500  # decks against the champion, as a training goes on
QUICK = SearchLimits(second_draws=-1, endgame=0)  # as they search while they learn


@dataclass(frozen=True, slots=True)
class Settings(CommandOptions):
    """A training.

    `rate_first` to `rate_last` is the step size, falling geometrically. `trust` is how much of a
    target comes from what happened later in the match, `exploration` how often a turn goes on
    though stopping looks better. The weights are the average over the last part of the course,
    from `average_from` on. With an `opponent` its turns are played by its own rule and `replies`
    of them are tried for one target.
    """

    matches: Annotated[int, Parameter(help="Matches against itself, whole batches.")] = 60_000
    seed: Annotated[int, Parameter(help="The same seed learns the same numbers.")] = 7
    batch: Annotated[int, Parameter(help="Matches between two changes of the numbers.")] = 100
    rate_first: Annotated[float, Parameter(help="Step size at the beginning.")] = 0.03
    rate_last: Annotated[float, Parameter(help="Step size at the end.")] = 0.002
    trust: Annotated[float, Parameter(help="How much later turns count in a target.")] = 0.25
    exploration: Annotated[float, Parameter(help="How often a turn goes on regardless.")] = 0.03
    average_from: Annotated[float, Parameter(help="From where on numbers are averaged.")] = 0.6
    opponent: Annotated[
        str | None, Parameter(help="Learn to beat this player; else captain plays itself.")
    ] = None
    replies: Annotated[int, Parameter(help="Turns of OPPONENT that are tried for a target.")] = 4

    def __post_init__(self) -> None:
        if self.matches < 1 or self.matches % self.batch:
            raise ValueError(f"The matches must be a multiple of the batch, {self.batch}.")

    @property
    def batches(self) -> int:
        """How many there are."""
        return self.matches // self.batch

    def rate(self, batch: int) -> float:
        """The step size of a batch."""
        progress = batch / self.batches
        return self.rate_first * float((self.rate_last / self.rate_first) ** progress)

    def averages(self, batch: int) -> bool:
        """Whether the weights after this batch count for the average."""
        return batch >= int(self.average_from * self.batches)


def _whole(number: float) -> int:
    """A weight as the search reads it."""
    return floor(number * WHOLE + 0.5)


def _same(number: float) -> "array[float]":
    return array("d", [number]) * NUMBERS


class _Playing(ctypes.Structure):
    """`Playing` of train.h."""

    _fields_ = members("ddi", "trust exploration replies")


class _Sample(ctypes.Structure):
    """`Sample` of train.h."""

    _fields_ = members(
        ".Hbbbbbbdddq",
        "keys lying left known size risk hope is_turn target bust bust_chance stop_sum",
        ctypes.c_int16 * 10,
    )


class Training:
    """A training under way: weights, their summed squared gradients, and the sum for the average.

    Batches are played in threads, which do not hold the interpreter's lock. An opponent with a
    belief begins each match with that `belief`; raises `KeyError` for one that the engine does not
    know.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        workers: int = 1,
        opponent: Twin | None = None,
        belief: ctypes.Structure | None = None,
    ) -> None:
        self.settings, self.workers, self.library = settings, workers, engine.library
        self.numbers, self.squares, self.totals = _same(0.0), _same(FIRST_SQUARES), _same(0.0)
        self.batches = self.averaged = 0
        self.playing = _Playing(settings.trust, settings.exploration, settings.replies)
        if opponent is None and settings.opponent is not None:
            opponent = engine.twin(settings.opponent)
        self.opponent = None if opponent is None else opponent.policy
        self.belief = None if belief is None else ctypes.byref(belief)
        self.samples = (_Sample * (MOST_SAMPLES * settings.batch))()
        self.found = (ctypes.c_int32 * settings.batch)()
        declare(self.library.play_and_sample, "PPPPQQqPP", "")
        declare(self.library.learn, "PPPPqd", "")

    def weights(self) -> "array[int]":
        """The weights of this moment."""
        return array("i", map(_whole, self.numbers))

    def average(self) -> "array[int]":
        """The average weights; those of this moment where none count yet."""
        if not self.averaged:
            return self.weights()
        return array("i", (_whole(total / self.averaged) for total in self.totals))

    def batch(self) -> None:
        """Play the next batch and learn from it."""
        weights = self.weights()
        self._play(weights)
        self._learn(weights, self.settings.rate(self.batches))
        if self.settings.averages(self.batches):
            self.averaged += 1
            for at, number in enumerate(self.numbers):
                self.totals[at] += number
        self.batches += 1

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        settings = asdict(self.settings)
        head = {"settings": settings, "batches": self.batches, "averaged": self.averaged}
        save(path, head, (part.tobytes() for part in (self.numbers, self.squares, self.totals)))

    def restore(self, path: Path) -> None:
        """Go on from a checkpoint, where there is one; raises `ConfigError` for another's."""
        head, file = restored(path, "settings", asdict(self.settings))
        if head:
            for part in (self.numbers, self.squares, self.totals):
                part[:] = array("d", file.read(8 * NUMBERS))
            self.batches, self.averaged = head["batches"], head["averaged"]

    def _play(self, weights: "array[int]") -> None:
        first = self.batches * self.settings.batch

        def play(places: Sequence[int]) -> None:
            self.library.play_and_sample(
                weights.buffer_info()[0],
                self.opponent,
                self.belief,
                ctypes.byref(self.playing),
                self.settings.seed,
                first + places[0],
                len(places),
                ctypes.byref(self.samples, places[0] * MOST_SAMPLES * ctypes.sizeof(_Sample)),
                ctypes.byref(self.found, places[0] * ctypes.sizeof(ctypes.c_int32)),
            )

        # In consecutive shares, small enough that no worker waits long.
        batch, size = self.settings.batch, max(1, self.settings.batch // (4 * self.workers))
        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(play, (range(batch)[at : at + size] for at in range(0, batch, size))))

    def _learn(self, weights: "array[int]", rate: float) -> None:
        """In the order of the matches, so that the number of workers changes nothing."""
        for place in range(self.settings.batch):
            self.library.learn(
                self.numbers.buffer_info()[0],
                self.squares.buffer_info()[0],
                weights.buffer_info()[0],
                ctypes.byref(self.samples, place * MOST_SAMPLES * ctypes.sizeof(_Sample)),
                self.found[place],
                rate,
            )


def train(
    engine: Engine,
    settings: Settings,
    *,
    workers: int = 1,
    checkpoint: Path | None = None,
    watch: Callable[[int, "array[int]"], None] = lambda _matches, _numbers: None,
) -> "array[int]":
    """The weights that a training with these settings ends with, however it is run.

    `watch` is called at every checkpoint with the number of matches played and the weights that
    would come out now. Raises `ConfigError` where the checkpoint is of another training.
    """
    training = Training(engine, settings, workers)
    if checkpoint is not None:
        training.restore(checkpoint)
    step = max(1, settings.batches // CHECKPOINTS)
    while training.batches < settings.batches:
        training.batch()
        if training.batches % step == 0:
            if checkpoint is not None:
                training.save(checkpoint)
            watch(training.batches * settings.batch, training.average())
    return training.average()


@dataclass(frozen=True)
class Options(CommandOptions):
    """Where the outcome goes, and who does the work."""

    out: Annotated[Path, Parameter(help="Where the weights are written.")] = Path("captain.json")
    checkpoint: Annotated[
        Path | None, Parameter(help="Kept while learning; the same command goes on from it.")
    ] = None
    same_as: Annotated[
        Path | None, Parameter(help="Fail unless the numbers are those of this weight file.")
    ] = None
    workers: Annotated[int, Parameter(help="Threads.")] = os.cpu_count() or 1


def main(settings: Settings = Settings(), options: Options = Options()) -> None:
    """Train, print how it goes, and write the weights with where they come from."""
    engine, began = needed(*filter(None, (settings.opponent,))), time.monotonic()

    def watch(matches: int, numbers: "array[int]") -> None:
        """Measure weights in the course of the training, and say how far it is."""
        took = timedelta(seconds=round(time.monotonic() - began))
        players = engine.captain(Model(numbers), QUICK), engine.twin("champion")
        shares = [
            share(pair) for pair in engine.play(players, settings.seed, range(MEASURED_PAIRS))
        ]
        low, high = interval(shares, matches=2).scaled(100)
        _say(
            f"{matches} of {settings.matches} matches, {took}, "
            f"{100 * fmean(shares):.1f} % against the champion (95 %: {low:.1f} to {high:.1f})"
        )

    numbers = train(
        engine, settings, workers=options.workers, checkpoint=options.checkpoint, watch=watch
    )
    provenance: dict[str, object] = {
        "command": " ".join(("cardsharp", *sys.argv[1:])),
        "settings": asdict(settings),
        "date": datetime.now(UTC).date().isoformat(),
    }
    options.out.write_text(dump_weights(Model(numbers), provenance) + "\n", "utf-8")
    _say(f"The weights are in {options.out}.")
    if options.same_as is not None:
        if read_weights(read_json_text(options.same_as)).numbers != numbers:
            raise SystemExit(f"These are not the numbers of {options.same_as}.")
        _say(f"The numbers are those of {options.same_as}, every one.")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 (a command)
