"""What has been learned so far: the weights, and what the steps to come depend on."""

import json
from array import array
from dataclasses import dataclass, field
from math import floor
from pathlib import Path

from cardsharp.deadmansdraw.strategies.search.model import NUMBERS
from cardsharp.errors import ConfigError
from research.deadmansdraw.training.settings import Settings

WHOLE = 65536
"""A learned number is a whole multiple of one of this many parts."""

FIRST_SQUARES = 0.01
"""The sums of squared gradients begin here, so that first steps are no leaps."""


def whole(number: float) -> int:
    """A weight as the search reads it."""
    return floor(number * WHOLE + 0.5)


def _zeros() -> "array[float]":
    return array("d", bytes(8 * NUMBERS))


@dataclass(slots=True)
class Knowledge:
    """Weights, their summed squared gradients, and the sum of those that count for the average."""

    numbers: "array[float]" = field(default_factory=_zeros)
    squares: "array[float]" = field(default_factory=lambda: array("d", [FIRST_SQUARES] * NUMBERS))
    totals: "array[float]" = field(default_factory=_zeros)
    averaged: int = 0
    batches: int = 0

    def weights(self) -> "array[int]":
        """The weights of this moment."""
        return array("i", map(whole, self.numbers))

    def average(self) -> "array[int]":
        """The average weights; those of this moment where none count yet."""
        if not self.averaged:
            return self.weights()
        return array("i", (whole(total / self.averaged) for total in self.totals))

    def close_batch(self, *, counts: bool) -> None:
        """Count a batch as done, and its weights for the average."""
        self.batches += 1
        if not counts:
            return
        self.averaged += 1
        for at, number in enumerate(self.numbers):
            self.totals[at] += number


def save(knowledge: Knowledge, settings: Settings, path: Path) -> None:
    """Write a checkpoint; the one before it stays until this one is whole."""
    head = {
        "settings": settings.plain(),
        "batches": knowledge.batches,
        "averaged": knowledge.averaged,
    }
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        file.write(json.dumps(head).encode() + b"\n")
        for part in (knowledge.numbers, knowledge.squares, knowledge.totals):
            part.tofile(file)
    unfinished.replace(path)


def restore(settings: Settings, path: Path) -> Knowledge:
    """What the checkpoint holds; nothing where there is none.

    Raises:
        ConfigError: the checkpoint is of another training.
    """
    knowledge = Knowledge()
    if not path.exists():
        return knowledge
    with path.open("rb") as file:
        head = json.loads(file.readline())
        if head["settings"] != settings.plain():
            raise ConfigError(f"{path} belongs to a training with other settings; name another.")
        for name in ("numbers", "squares", "totals"):
            part: array[float] = array("d")
            part.fromfile(file, NUMBERS)
            setattr(knowledge, name, part)
    knowledge.batches, knowledge.averaged = head["batches"], head["averaged"]
    return knowledge
