"""Every state that can be reached, each looked at once: first what no fault is needed for."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from world.explore.world import State, World


@dataclass
class Found:
    """What a search found; `by_faults` are the states for which so many faults are needed."""

    by_faults: list[int] = field(default_factory=list)
    steps: int = 0
    seconds: float = 0
    closed: bool = False
    """Whether one more fault would lead nowhere new."""

    wrong: str | None = None
    trace: list[str] = field(default_factory=list)

    @property
    def states(self) -> int:
        """All of them."""
        return sum(self.by_faults)


def explore(
    world: World, faults: int | None = None, say: Callable[[str], object] = lambda _line: None
) -> Found:
    """All states with up to so many faults, None for any number; stops at the first thing wrong."""
    began, found = time.monotonic(), Found()
    came: dict[State, tuple[State | None, str]] = {}
    level: list[tuple[State, State | None, str]] = [(world.canonical(world.start()), None, "")]
    while level and (faults is None or len(found.by_faults) <= faults):
        after: list[tuple[State, State | None, str]] = []
        before = len(came)
        while level:
            state, parent, words = level.pop()
            if state in came:
                continue
            came[state] = parent, words
            for step in world.steps(state):
                found.steps += 1
                if step.wrong is not None:
                    found.wrong = step.wrong
                    found.trace = [*_trace(came, state), step.words]
                    found.by_faults.append(len(came) - before)
                    found.seconds = time.monotonic() - began
                    return found
                reached = world.canonical(step.state)
                if reached not in came:
                    (after if step.fault else level).append((reached, state, step.words))
            if len(came) % 20_000 == 0:
                say(f"  {len(came):,} states, {time.monotonic() - began:.0f} s")
        found.by_faults.append(len(came) - before)
        say(f"  {len(found.by_faults) - 1} faults: {found.by_faults[-1]:,} states")
        level = after
    found.closed = not any(state not in came for state, *_ in level)
    found.seconds = time.monotonic() - began
    return found


def _trace(came: dict[State, tuple[State | None, str]], state: State) -> list[str]:
    words = []
    at: State | None = state
    while at is not None:
        at, said = came[at]
        words.append(said)
    return words[-2::-1]
