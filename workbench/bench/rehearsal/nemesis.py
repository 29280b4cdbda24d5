"""Brings troubles about, one at a time."""

import time
from collections.abc import Callable, Sequence
from random import Random

Undo = Callable[[], None]
Deed = Callable[[], tuple[Undo, float]]
"""Does something; returns how it is undone, and after how many seconds."""


class Nemesis:
    """Does one thing after the other, so that any one thing may fail, but never two at once.

    The first is `first`, usually a death, which even a short run is to see; then chance decides.
    `every` is the mean of the seconds between a recovery and the next failure.
    """

    def __init__(self, first: Deed, deeds: Sequence[Deed], every: float, chance: Random) -> None:
        self._next: Sequence[Deed] = (first,)
        self._deeds, self._every, self._chance = deeds, every, chance
        self._due = time.monotonic() + self._pause()
        self._undo: Undo | None = None

    def act(self) -> None:
        """Do, or undo, what is due."""
        if time.monotonic() < self._due:
            return
        if self._undo is None:
            self._undo, lasts = self._chance.choice(self._next)()
            self._next = self._deeds
        else:
            self._undo()
            self._undo, lasts = None, self._pause()
        self._due = time.monotonic() + lasts

    def rest(self) -> None:
        """Undo what was done last, and do nothing more."""
        if self._undo is not None:
            self._undo()
        self._undo, self._due = None, float("inf")

    def _pause(self) -> float:
        return self._chance.expovariate(1 / self._every)
