"""Virtual time for many threads, of which one is awake: when all sleep, time jumps to the next.

So hours take minutes, and the same seed has the same threads do the same in the same order. Each
thread belongs to a process, which can be killed and frozen, as a real one, in whatever it does.
"""

import _thread
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf
from random import Random
from types import SimpleNamespace
from unittest import mock

from cardsharp.cloud.ports import Signal
from cardsharp.refusal import Patience
from world.clock import StillClock
from world.faults import Crash


@dataclass(eq=False)
class Process:
    """What is killed and frozen as one; a worker dies with the machine that is its `parent`."""

    name: str
    parent: "Process | None" = None
    killed: bool = False
    frozen: float = 0
    """Until this second it stands still."""

    @property
    def dead(self) -> bool:
        """Whether it is gone."""
        return self.killed or (self.parent is not None and self.parent.dead)

    @property
    def thaws(self) -> float:
        """The second from which on it runs."""
        return max(self.frozen, 0 if self.parent is None else self.parent.thaws)


WORLD = Process("world")
"""What is nobody's and never fails: the arena, opponents, the network."""


@dataclass(slots=True, eq=False)
class Sleeper:
    """A thread that sleeps, until `ready` where that is said."""

    process: Process
    ready: Callable[[], bool] | None = None
    bed: _thread.LockType = field(default_factory=_thread.allocate_lock)
    asleep: bool = True

    def __post_init__(self) -> None:
        self.bed.acquire()


class Schedule(StillClock):
    """A clock by which threads sleep; with `chance` whoever is awake is next by chance."""

    def __init__(self, chance: Random | None = None) -> None:
        super().__init__()
        self.chance = chance
        self.failed: list[BaseException] = []
        self._due: list[tuple[float, int, Sleeper]] = []
        self._numbers = count()
        self._waiting: dict[Sleeper, None] = {}
        self._live = 0
        self._over = threading.Event()
        self._here = threading.local()

    @property
    def process(self) -> Process:
        """Whose thread this is."""
        found: Process = getattr(self._here, "process", WORLD)
        return found

    def spawn(
        self, work: Callable[[], object], process: Process = WORLD, seconds: float = 0
    ) -> None:
        """Have a thread of that process do this, after so many seconds."""
        sleeper = self._lie_down(Sleeper(process), seconds)
        self._live += 1

        def whole() -> None:
            sleeper.bed.acquire()
            self._here.process = process
            try:
                if not process.dead:
                    work()
            except Crash:
                process.killed = True
            except BaseException as error:  # noqa: BLE001 - told by whoever runs the schedule
                self.failed.append(error)
                self._over.set()  # nobody else wakes up any more
                return
            self._live -= 1
            if self._live:
                self._pass_on()
            else:
                self._over.set()

        threading.Thread(target=whole, daemon=True).start()

    def run(self) -> None:
        """Let all do what they were spawned for, to the last; raises what failed first."""
        with ExitStack() as stack:
            for name, stands_for in self._stand_ins().items():
                stack.enter_context(mock.patch(f"cardsharp.{name}", stands_for))
            self._pass_on()
            self._over.wait()
        if self.failed:
            raise self.failed[0]

    def until(self, ready: Callable[[], bool] | None, seconds: float = inf) -> bool:
        """Sleep until that is so, for so long at most; whether it is.

        Raises:
            Crash: the process of this thread is dead.
        """
        process = self.process
        if not process.dead:
            sleeper = self._lie_down(Sleeper(process, ready), max(seconds, 0))
            self._pass_on()
            sleeper.bed.acquire()
        if process.dead:
            raise Crash(process.name)
        return ready is not None and ready()

    def sleep(self, duration: timedelta) -> None:
        self.until(None, duration.total_seconds())

    def wait(self, signal: Signal, timeout: timedelta) -> bool:
        assert isinstance(signal, threading.Event)
        return self.until(signal.is_set, timeout.total_seconds())

    @contextmanager
    def beyond_us(self) -> Iterator[None]:
        """In the block this thread is the network's: no freeze of its process stops it."""
        mine, self._here.process = self.process, WORLD
        try:
            yield
        finally:
            self._here.process = mine
        if mine.dead:
            raise Crash(mine.name)

    def kill(self, process: Process) -> None:
        """Let a process be no more: its threads wake up to find that out."""
        process.killed = True
        for _, _, sleeper in [*self._due]:
            if sleeper.asleep and sleeper.process.dead:
                self._push(sleeper, self.monotonic())

    def _lie_down(self, sleeper: Sleeper, seconds: float) -> Sleeper:
        self._push(sleeper, self.monotonic() + seconds)
        if sleeper.ready is not None:
            self._waiting[sleeper] = None
        return sleeper

    def _push(self, sleeper: Sleeper, due: float) -> None:
        heappush(self._due, (due, next(self._numbers), sleeper))

    def _pass_on(self) -> None:
        """Wake who is next; what is wrong with that is no fault of who passes on."""
        try:
            self._wake()
        except Exception as error:
            self.failed.append(error)
            self._over.set()
            raise

    def _wake(self) -> None:
        now = self.monotonic()
        awake = [
            one
            for one in self._waiting
            if one.ready is not None and one.ready() and one.process.thaws <= now
        ]
        if not awake or self.chance is not None:
            awake += self._next_due(now, only_now=bool(awake))
        if not awake:
            return
        chosen = awake[0] if self.chance is None else self.chance.choice(awake)
        chosen.asleep = False
        self._waiting.pop(chosen, None)
        chosen.bed.release()

    def _next_due(self, now: float, *, only_now: bool) -> list[Sleeper]:
        """Who wakes next by the clock: one, or with `chance` all who do then; time is there now."""
        found: list[Sleeper] = []
        while self._due:
            due, _, sleeper = self._due[0]
            if not sleeper.asleep or sleeper in found:
                heappop(self._due)
                continue
            if due > now and (found or only_now):
                break
            heappop(self._due)
            thaws = 0 if sleeper.process.dead else sleeper.process.thaws
            if thaws > max(due, now):
                self._push(sleeper, thaws)
                continue
            self.advance(timedelta(seconds=due - now))
            now = max(now, due)
            found.append(sleeper)
            if self.chance is None:
                break
        if self.chance is not None:
            for sleeper in found:
                self._push(sleeper, now)
        return found

    def _stand_ins(self) -> dict[str, object]:
        """What there is in place of all that would ask the real clock, by its name."""
        seconds = SimpleNamespace(monotonic=self.monotonic)
        uncut = SimpleNamespace(has_cut=False, within=lambda _limit: nullcontext())
        return {
            "cloud.beside.threading": self._threading(),
            "cloud.lease.threading": self._threading(),
            "exchange.time": seconds,
            "connections.time": seconds,
            "exchange.Cutter": lambda: uncut,
            "exchange.Patience": partial(Patience, clock=self.monotonic),
        }

    def _threading(self) -> SimpleNamespace:
        """What the keeper of a lease needs of `threading`, by this schedule."""
        schedule = self

        class Thread:
            def __init__(self, target: Callable[[], None], **_rest: object) -> None:
                self.target, self.ended = target, False

            def start(self) -> None:
                schedule.spawn(self._run, schedule.process)

            def join(self) -> None:
                schedule.until(lambda: self.ended)

            def _run(self) -> None:
                try:
                    self.target()
                finally:
                    self.ended = True

        class Lock:
            held = False

            def __enter__(self) -> None:
                while self.held:
                    schedule.until(lambda: not self.held)
                self.held = True

            def __exit__(self, *_: object) -> None:
                self.held = False

        return SimpleNamespace(Thread=Thread, Lock=Lock, Event=threading.Event)
