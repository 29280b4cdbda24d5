"""What happens to whole machines and stores: deaths, freezes, cuts and locks, one at a time."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Protocol

from workbench.bench.chaos.faults import FaultPlan
from workbench.bench.chaos.gateway import Fault
from workbench.bench.chaos.machine import Machine

SKEWS = (0, 0, 0.4, -0.4, 5, -5, 3600, -3600)
"""Seconds by which the clock of a new machine may be ahead."""

FREEZE, CUT = (0.5, 12), (0.5, 6)
"""How long a freeze and all else may last, in seconds."""

Undo = Callable[[], None]
Deed = Callable[[], tuple[Undo, float]]
"""Does something; returns how it is undone, and after how many seconds."""


class Store(Protocol):
    """A match log that can be made useless for a while."""

    def lock(self) -> None:
        """Let nobody use it."""
        ...

    def unlock(self) -> None:
        """Let everybody use it again."""
        ...


class SqliteStore:
    """A file that somebody else writes in a transaction without end."""

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, timeout=1, isolation_level=None)

    def lock(self) -> None:
        """Begin the transaction."""
        with suppress(sqlite3.OperationalError):  # all the others came first
            self._db.execute("BEGIN IMMEDIATE")

    def unlock(self) -> None:
        """End the transaction."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")


class CutOff:
    """DynamoDB and SQS, out of reach: by turns connections are reset, and nobody answers."""

    def __init__(self, plan: FaultPlan) -> None:
        self._plan = plan
        self._ways = cycle((Fault(name="reset"), Fault(name="silence", silence=True)))

    def lock(self) -> None:
        """Let nothing pass."""
        self._plan.cut_store = next(self._ways)

    def unlock(self) -> None:
        """Let everything pass again."""
        self._plan.cut_store = None


@dataclass(frozen=True, slots=True)
class Fleet:
    """Our machines, and how a new one is started: by its number and its clock's skew.

    The first is never killed: what it holds at the end tells whether it leaks.
    """

    machines: list[Machine]
    start: Callable[[int, float], Machine]

    def replace(self, number: int, skew: float) -> None:
        """Kill a machine and start another in its place."""
        self.machines[number].kill()
        self.machines[number] = self.start(number, skew)

    def check(self) -> None:
        """Raise `CardsharpError` if a machine has ended although nobody killed it."""
        for machine in self.machines:
            machine.check()

    def end(self) -> None:
        """Kill them all."""
        for machine in self.machines:
            machine.kill()


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Mean seconds between a recovery and the next failure, by how much clocks may be ahead."""

    every: float
    skews: Sequence[float]
    chance: Random


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


@dataclass(frozen=True, slots=True)
class Troubles:
    """What can happen to our machines and to what they share."""

    fleet: Fleet
    store: Store
    plan: FaultPlan
    rhythm: Rhythm

    def nemesis(self) -> Nemesis:
        """Who brings them about."""
        deeds = (self._kill, self._kill, self._freeze, self._cut, self._lock)
        return Nemesis(self._kill, deeds, self.rhythm.every, self.rhythm.chance)

    def _kill(self) -> tuple[Undo, float]:
        number = self.rhythm.chance.randrange(1, len(self.fleet.machines))
        skew = self.rhythm.chance.choice(self.rhythm.skews)
        wrong = self.fleet.machines[number].orders.skew
        clock = f" with a clock {wrong:+g} s wrong" if wrong else ""
        self.plan.befall(f"machine killed{clock}")
        self.fleet.replace(number, skew)
        return lambda: None, 0

    def _freeze(self) -> tuple[Undo, float]:
        machine, lasts = self.rhythm.chance.choice(self.fleet.machines), self._between(FREEZE)
        machine.freeze()
        self.plan.befall(f"machine frozen for {lasts:.1f} s")
        return machine.thaw, lasts

    def _cut(self) -> tuple[Undo, float]:
        lasts = self._between(CUT)
        self.plan.cut(timedelta(seconds=lasts))
        self.plan.befall(f"arena cut off for {lasts:.1f} s")
        return lambda: None, lasts

    def _lock(self) -> tuple[Undo, float]:
        lasts = self._between(CUT)
        self.store.lock()
        self.plan.befall(f"match log locked for {lasts:.1f} s")
        return self.store.unlock, lasts

    def _between(self, bounds: tuple[float, float]) -> float:
        return self.rhythm.chance.uniform(*bounds)
