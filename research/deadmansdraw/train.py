"""`cardsharp research train`: the captain's weights from scratch."""

import os
import sys
import time
from array import array
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Annotated

from cyclopts import Parameter

from cardsharp.deadmansdraw.strategies.search.leaves import SearchLimits
from cardsharp.deadmansdraw.strategies.search.model import Model
from cardsharp.deadmansdraw.strategies.search.weights import dump_weights, read_weights
from research.deadmansdraw.engine import Engine, needed
from research.deadmansdraw.training.course import Course, train
from research.deadmansdraw.training.settings import Settings
from workbench.lab.interval import Interval, interval

MEASURED_PAIRS = 500
"""Decks against the champion by which a training is measured as it goes on."""
QUICK = SearchLimits(second_draws=-1, endgame=0)
"""How the measured players search: as they do while they learn."""


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """Where the outcome goes, and who does the work.

    `checkpoint` is the file from which a stopped training goes on, `workers` are threads (all
    cores by default). The numbers must be those of `same_as`, a weight file, where one is named.
    """

    out: Annotated[Path, Parameter(help="Where the weights are written.")] = Path("captain.json")
    checkpoint: Annotated[
        Path | None, Parameter(help="Kept while learning; the same command goes on from it.")
    ] = None
    same_as: Annotated[
        Path | None, Parameter(help="Fail unless the numbers are those of this weight file.")
    ] = None
    workers: Annotated[int, Parameter(help="Threads.")] = os.cpu_count() or 1


def main(
    settings: Annotated[Settings, Parameter(name="*")] = Settings(),  # noqa: B008 (frozen)
    options: Annotated[Options, Parameter(name="*")] = Options(),
) -> None:
    """Train, print how it goes, and write the weights with where they come from.

    Raises:
        ConfigError: there is no compiler or no such opponent, or the checkpoint is of another
            training.
    """
    engine = needed(*filter(None, (settings.opponent,)))
    watch = Watch(engine, settings)
    numbers = train(engine, settings, Course(options.workers, options.checkpoint, watch.see))
    provenance: dict[str, object] = {
        "command": " ".join(("cardsharp", *sys.argv[1:])),
        "settings": settings.plain(),
        "date": datetime.now(UTC).date().isoformat(),
    }
    options.out.write_text(dump_weights(Model(numbers), provenance) + "\n", "utf-8")
    _say(f"The weights are in {options.out}.")
    if options.same_as is not None:
        if read_weights(options.same_as.read_text("utf-8")).numbers != numbers:
            raise SystemExit(f"These are not the numbers of {options.same_as}.")
        _say(f"The numbers are those of {options.same_as}, every one.")


class Watch:
    """Prints the progress of a training, and measures it."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self.engine = engine
        self.settings = settings
        self.began = time.monotonic()

    def see(self, matches: int, numbers: "array[int]") -> None:
        """Measure weights in the course of the training, and say how far it is."""
        took = timedelta(seconds=round(time.monotonic() - self.began))
        points, (low, high) = self._measured(numbers)
        _say(
            f"{matches} of {self.settings.matches} matches, {took}, "
            f"{points:.1f} % against the champion (95 %: {low:.1f} to {high:.1f})"
        )

    def _measured(self, numbers: "array[int]") -> tuple[float, Interval]:
        """Points in 100 against the champion, with the 95 % interval."""
        players = self.engine.captain(Model(numbers), QUICK), self.engine.twin("champion")
        pairs = self.engine.play(players, self.settings.seed, range(MEASURED_PAIRS))
        shares = [(there.points + back.points) / 2 for there, back in pairs]
        return 100 * fmean(shares), interval(shares, matches=2).scaled(100)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 (a command)
