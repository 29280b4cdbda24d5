"""Every state that can be reached, each looked at once: first what no fault is needed for."""

import sys
import time
from dataclasses import dataclass, field

from world.explore.world import World

Came = dict[bytes, tuple[bytes, str]]
"""By which state, packed, and which step every state was reached first."""


@dataclass
class Found:
    """What a search found; `by_faults` are the states for which so many faults are needed."""

    by_faults: list[int] = field(default_factory=list)
    steps: int = 0
    seconds: float = 0  # of a processor
    alone: float = 0  # for so many seconds at most nobody attended the match
    wrong: str | None = None
    trace: list[str] = field(default_factory=list)

    @property
    def states(self) -> int:
        return sum(self.by_faults)


def explore(world: World, faults: int | None = None) -> Found:
    """All states with up to so many faults, None for any number; stops at the first thing wrong."""
    began, found = time.process_time(), Found()
    came: Came = {}
    level: Came = {world.pack(world.canonical(world.start())): (b"", "")}
    while level and found.wrong is None and (faults is None or len(found.by_faults) <= faults):
        before, last = len(came), len(found.by_faults) == faults
        level = _level(world, came, level, found, last=last)
        found.by_faults.append(len(came) - before)
    found.seconds, found.alone = time.process_time() - began, world.longest / 2
    return found


def _level(world: World, came: Came, level: Came, found: Found, *, last: bool) -> Came:
    """Look at all that is reached from here without a fault; what one more fault leads to.

    That is of no use where it is the `last`.
    """
    after: Came = {}
    while level:
        packed, how = level.popitem()
        if packed in came:
            continue
        came[packed] = how
        for step in world.steps(world.unpack(packed)):
            found.steps += 1
            if step.wrong is not None:
                found.wrong, found.trace = step.wrong, [*_trace(came, packed), step.words]
                return after
            if step.fault and last:
                continue
            reached = world.pack(world.canonical(step.state))
            if reached not in came:
                words = sys.intern(step.words)
                (after if step.fault else level).setdefault(reached, (packed, words))
    return after


def _trace(came: Came, packed: bytes) -> list[str]:
    words = []
    while packed:
        packed, said = came[packed]
        words.append(said)
    return words[-2::-1]
