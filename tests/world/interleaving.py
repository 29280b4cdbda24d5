"""Workers in threads of which one runs at a time, from one I/O step to the next, by a seed."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from world.clock import StillClock

LIMIT = 20
"""Seconds after which a worker that is not let on has found a fault of this module."""

JUMP = timedelta(seconds=5)
"""So much time passes now and then between two steps; leases run out in it."""


@dataclass(frozen=True)
class Waiting:
    """A worker that waits for its next step, or sleeps until `due`."""

    step: str
    since: datetime
    due: datetime


class Interleaver:
    """Decides whose step is next, and passes time: a worker may be away for long at any step.

    Only an action that is being sent arrives before its limit; what is later than that is the
    arena's promise, not ours.
    """

    def __init__(self, seed: int, names: set[str], clock: StillClock, act: timedelta) -> None:
        self._rng = Random(seed)
        self._live = set(names)
        self._clock = clock
        self._act = act
        self._waiting: dict[str, Waiting] = {}
        self._chosen: str | None = None
        self._changed = threading.Condition()

    def step(self, name: str, step: str, sleep: timedelta = timedelta(0)) -> None:
        """Return when it is the turn of worker `name` to do `step`, after its sleep."""
        with self._changed:
            now = self._clock.now()
            self._waiting[name] = Waiting(step, now, now + sleep)
            self._choose()
            on = self._changed.wait_for(lambda: self._chosen == name, LIMIT)
            assert on, f"{name} was never let on"
            del self._waiting[name]
            self._chosen = None

    def run(self, name: str, work: Callable[[], None]) -> threading.Thread:
        """Start a worker; it counts as gone when `work` returns or raises."""

        def whole() -> None:
            try:
                work()
            finally:
                with self._changed:
                    self._live.discard(name)
                    self._choose()

        thread = threading.Thread(target=whole, name=name, daemon=True)
        thread.start()
        return thread

    def _choose(self) -> None:
        if self._chosen is not None or not self._live or set(self._waiting) != self._live:
            return
        self._pass_time()
        now = self._clock.now()
        urgent = [
            n for n, w in self._waiting.items() if w.step == "act" and self._left(w) < JUMP / 9
        ]
        awake = sorted(name for name, waiting in self._waiting.items() if waiting.due <= now)
        self._chosen = urgent[0] if urgent else self._rng.choice(awake)
        self._changed.notify_all()

    def _pass_time(self) -> None:
        """Let time pass: a jump now and then, and as much as must be where everybody sleeps."""
        wanted = JUMP if self._rng.random() < 0.1 else timedelta(0)
        earliest = min(waiting.due for waiting in self._waiting.values())
        wanted = max(wanted, earliest - self._clock.now())
        sending = [self._left(w) for w in self._waiting.values() if w.step == "act"]
        self._clock.advance(min([wanted, *(left * 0.9 for left in sending)]))

    def _left(self, waiting: Waiting) -> timedelta:
        """How long an action may still be under way."""
        return waiting.since + self._act - self._clock.now()


class SharedClock(StillClock):
    """A clock on which one worker's sleep is another's time to work."""

    interleaver: Interleaver

    def sleep(self, duration: timedelta) -> None:
        self.interleaver.step(threading.current_thread().name, "sleep", duration)
