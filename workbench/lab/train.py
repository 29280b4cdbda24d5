"""`lab train`: the captain's weights from scratch, and a picture of how it learned.

python -m workbench.lab.train --out captain.json --curve learning.svg
"""

import os
import sys
import time
from array import array
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from cardsharp.deadmansdraw.strategies.search.leaves import Limits
from cardsharp.deadmansdraw.strategies.search.weights import dump_weights, read_weights
from workbench.lab.native import Engine, load, why_not
from workbench.lab.training.course import Course, train
from workbench.lab.training.curve import Measured, draw_curve
from workbench.lab.training.settings import Settings

MEASURED_PAIRS = 500
"""Decks against the champion behind every point of the learning curve."""
QUICK = Limits(second_draws=-1, whole_turns=0, endgame=0)
"""How the curve's players search: as they do while they learn."""


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """Where the outcome goes, and who does the work.

    `plain` leaves the compiled engine aside, `checkpoint` is the file from which a stopped
    training goes on, `workers` are threads (all cores by default). The numbers must be those of
    `same_as`, a weight file, where one is named.
    """

    out: Annotated[Path, Parameter(help="Where the weights are written.")] = Path("captain.json")
    curve: Annotated[Path | None, Parameter(help="Draw the learning curve, as SVG.")] = None
    checkpoint: Annotated[
        Path | None, Parameter(help="Kept while learning; the same command goes on from it.")
    ] = None
    same_as: Annotated[
        Path | None, Parameter(help="Fail unless the numbers are those of this weight file.")
    ] = None
    plain: Annotated[
        bool, Parameter(negative=(), help="Python only; the same numbers, far slower.")
    ] = False
    workers: Annotated[int, Parameter(help="Threads.")] = os.cpu_count() or 1


def main(
    settings: Annotated[Settings, Parameter(name="*")] = Settings(),  # noqa: B008 (frozen)
    options: Annotated[Options, Parameter(name="*")] = Options(),
) -> None:
    """Train, print how it goes, and write the weights with where they come from."""
    engine = None if options.plain else load()
    if engine is None:
        _say(why_not() or "Training in plain Python, as asked for.")
    watch = Watch(engine, settings)
    course = Course(engine, options.workers, options.checkpoint, watch.see)
    numbers = train(settings, course)
    provenance: dict[str, object] = {
        "command": " ".join(("cardsharp lab train", *sys.argv[1:])),
        "settings": settings.plain(),
        "date": datetime.now(UTC).date().isoformat(),
    }
    options.out.write_text(dump_weights(numbers, provenance) + "\n", "utf-8")
    _say(f"The weights are in {options.out}.")
    if options.curve is not None and watch.points:
        options.curve.write_text(draw_curve(watch.points), "utf-8")
        _say(f"The learning curve is in {options.curve}.")
    if options.same_as is not None:
        if read_weights(options.same_as.read_text("utf-8")) != numbers:
            raise SystemExit(f"These are not the numbers of {options.same_as}.")
        _say(f"The numbers are those of {options.same_as}, every one.")


class Watch:
    """Prints the progress of a training and measures it, where there is the engine to do so."""

    def __init__(self, engine: Engine | None, settings: Settings) -> None:
        self.engine = engine
        self.settings = settings
        self.points: list[Measured] = []
        self.began = time.monotonic()

    def see(self, matches: int, numbers: "array[int]") -> None:
        """Measure weights in the course of the training, and say how far it is."""
        took = timedelta(seconds=round(time.monotonic() - self.began))
        line = f"{matches} of {self.settings.matches} matches, {took}"
        if self.engine is not None:
            point = replace(self._measured(self.engine, numbers), matches=matches)
            self.points.append(point)
            line += f", {point.points:.1f} ± {point.margin:.1f} % against the champion"
        _say(line)

    def _measured(self, engine: Engine, numbers: "array[int]") -> Measured:
        players = engine.captain(numbers, QUICK), engine.policy("champion")
        pairs = engine.play_pairs(players, self.settings.seed, 0, MEASURED_PAIRS)
        return Measured.of([(there.points + back.points) / 2 for there, back in pairs])


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 (a command)


if __name__ == "__main__":
    cyclopts.run(main)
