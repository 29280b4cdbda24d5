"""Scheduler of threads on virtual time: one thread runs, and time jumps when all sleep.

Hours take minutes that way, and the same seed makes the threads do the same in the same
order. Each thread belongs to a process, which can be killed and frozen at any step, as a
real one. The threads are greenlets, so the real machine does not decide which of them
runs next.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf
from types import SimpleNamespace
from unittest import mock

from greenlet import getcurrent, greenlet

from cardsharp.client.retry_policy import RetryPolicy
from cardsharp.core.clock import Waitable
from cardsharp.play.guarded_call import call_guarded
from fault_simulation.faults import Crash
from fault_simulation.virtual_clock import VirtualClock


@dataclass(eq=False)
class Process:
    """Unit that is killed and frozen as a whole.

    A worker also dies with the machine that is its `parent`.
    """

    name: str
    parent: "Process | None" = None
    killed: bool = False
    frozen_until: float = 0  # until this second it stands still

    @property
    def is_dead(self) -> bool:
        return self.killed or (self.parent is not None and self.parent.is_dead)

    @property
    def thaw_time(self) -> float:
        return (
            self.frozen_until
            if self.parent is None
            else max(self.frozen_until, self.parent.thaw_time)
        )


ENVIRONMENT_PROCESS = Process(
    "world"
)  # what is nobody's and never fails: the arena, opponents, the network


class SimulatedThread(greenlet):
    """Greenlet that works in a process, or on its behalf in the network."""

    def __init__(self, work: Callable[[], object], process: Process, parent: greenlet) -> None:
        super().__init__(work, parent)
        self.process = process


@dataclass(slots=True, eq=False)
class SleepingThread:
    """Thread that sleeps until it is due, or until `ready` returns True, if that is set."""

    thread: greenlet
    process: Process
    ready: Callable[[], bool] | None = None
    is_asleep: bool = True


class Scheduler(VirtualClock):
    """Clock on which threads sleep; the next to run is a ready thread, or the first one due."""

    def __init__(self) -> None:
        super().__init__()
        self._due: list[tuple[float, int, SleepingThread]] = []
        self._numbers = count()
        self._waiting: dict[SleepingThread, Callable[[], bool]] = {}
        self._unchecked: list[
            SleepingThread
        ] = []  # who came to wait since nobody had what he waits for
        self._live_count = 0
        self.change_count = 0
        """How often something has happened that somebody may wait for; nobody is asked before."""

        self._checked_change_count = 0
        self._main_greenlet = getcurrent()
        """To whom a thread leaves what happens next when it ends, and what it raised."""

    @property
    def process(self) -> Process:
        process: Process = getattr(getcurrent(), "process", ENVIRONMENT_PROCESS)
        return process

    def start_thread(
        self, work: Callable[[], object], process: Process = ENVIRONMENT_PROCESS, seconds: float = 0
    ) -> None:
        """Start a thread of `process` that calls `work` after so many seconds."""

        def run_work() -> None:
            try:
                if not process.is_dead:
                    work()
            except Crash:
                process.killed = True
            self._live_count -= 1

        self._put_to_sleep(
            SleepingThread(SimulatedThread(run_work, process, self._main_greenlet), process),
            seconds,
        )
        self._live_count += 1

    def run(self) -> None:
        """Run all threads to their end; raise the first error of any of them."""
        with ExitStack() as stack:
            for name, replacement in self._time_replacements().items():
                stack.enter_context(mock.patch(f"cardsharp.{name}", replacement))
            while self._live_count:
                self._next_thread().thread.switch()

    def wait_until(self, condition: Callable[[], bool] | None, seconds: float = inf) -> bool:
        """Sleep until `condition` holds, but for at most `seconds`.

        Return True if it holds. Raise `Crash` in a dead process.
        """
        process = self.process
        if not process.is_dead:
            sleeper = self._put_to_sleep(
                SleepingThread(getcurrent(), process, condition), max(seconds, 0)
            )
            chosen = self._next_thread()
            if chosen is not sleeper:
                chosen.thread.switch()
        if process.is_dead:
            raise Crash(process.name)
        return condition is not None and condition()

    def sleep(self, duration: timedelta) -> None:
        self.wait_until(None, duration.total_seconds())

    def wait(self, event: Waitable, timeout: timedelta) -> bool:
        assert isinstance(event, SimulatedEvent), "nobody would hear of another one"
        return self.wait_until(event.is_set, timeout.total_seconds())

    @contextmanager
    def as_network(self) -> Iterator[None]:
        """Let the thread act for the network in the block: no freeze of its process stops it.

        Raise `Crash` at the end of the block if its process has died.
        """
        thread = getcurrent()
        process, thread.process = thread.process, ENVIRONMENT_PROCESS
        try:
            yield
        finally:
            thread.process = process
        if process.is_dead:
            raise Crash(process.name)

    def kill(self, process: Process) -> None:
        """Kill a process: its threads wake up at once and raise `Crash`."""
        process.killed = True
        for _, _, sleeper in [*self._due]:
            if sleeper.is_asleep and sleeper.process.is_dead:
                self._push(sleeper, self.monotonic())

    def _put_to_sleep(self, sleeper: SleepingThread, seconds: float) -> SleepingThread:
        self._push(sleeper, self.monotonic() + seconds)
        if sleeper.ready is not None:
            self._waiting[sleeper] = sleeper.ready
            self._unchecked.append(sleeper)  # it may be so already
        return sleeper

    def _push(self, sleeper: SleepingThread, due: float) -> None:
        heappush(self._due, (due, next(self._numbers), sleeper))

    def _next_thread(self) -> SleepingThread:
        """Return the thread that runs next, and advance the clock to its wake-up time."""
        chosen = next(self._ready_threads(), None) or self._wake_first_due()
        chosen.is_asleep = False
        if chosen.ready is not None:
            self._waiting.pop(chosen, None)
        return chosen

    def _ready_threads(self) -> Iterator[SleepingThread]:
        """Yield the threads whose condition holds.

        A thread of a frozen process is scheduled for the moment its process thaws.
        """
        is_idle = True
        for sleeper in (
            self._unchecked if self._checked_change_count == self.change_count else self._waiting
        ):
            if (holds := self._waiting.get(sleeper)) is not None and holds():
                thaw_time = sleeper.process.thaw_time
                if thaw_time <= self.monotonic():
                    is_idle = False
                    yield sleeper
                else:
                    self._push(sleeper, thaw_time)
        if is_idle:
            self._checked_change_count = self.change_count
            self._unchecked.clear()

    def _wake_first_due(self) -> SleepingThread:
        """Return the sleeping thread that is due first, and advance the clock to that time."""
        while True:
            assert self._due, "everybody sleeps, and nobody will be woken"
            due, _, sleeper = heappop(self._due)
            if not sleeper.is_asleep:
                continue
            process, moment = sleeper.process, max(due, self.monotonic())
            if process.thaw_time > moment and not process.is_dead:
                self._push(sleeper, process.thaw_time)
                continue
            if due > self.monotonic():
                self.advance(timedelta(seconds=due - self.monotonic()))
            return sleeper

    def _time_replacements(self) -> dict[str, object]:
        """Return the replacements of everything that would use the real clock, by dotted name."""
        time_module = SimpleNamespace(monotonic=self.monotonic)
        call_without_limit = lambda work, owner, _limit: call_guarded(work, owner)  # noqa: E731
        watchdog = SimpleNamespace(
            has_expired=False, enforce_timeout=lambda _timeout: nullcontext()
        )
        threading_module = SimpleNamespace(
            Thread=partial(SimulatedBackgroundThread, self), Event=partial(SimulatedEvent, self)
        )
        return {
            "core.clock.threading": threading_module,
            "bot.lease_keeper.threading": SimpleNamespace(Lock=partial(SimulatedLock, self)),
            "client.transport.time": time_module,
            "client.connections.time": time_module,
            "play.decision_runner.call_guarded": call_without_limit,
            "games.deadmansdraw.arena_bot.turn_runner.call_guarded": call_without_limit,
            "client.transport.DeadlineWatchdog": lambda: watchdog,
            "client.transport.RetryPolicy": partial(RetryPolicy, clock=self.monotonic),
        }


class SimulatedEvent(threading.Event):
    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__()
        self._scheduler = scheduler

    def set(self) -> None:
        super().set()
        self._scheduler.change_count += 1


class SimulatedLock:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler, self._is_locked = scheduler, False

    def __enter__(self) -> None:
        while self._is_locked:
            self._scheduler.wait_until(lambda: not self._is_locked)
        self._is_locked = True

    def __exit__(self, *_: object) -> None:
        self._is_locked = False
        self._scheduler.change_count += 1


class SimulatedBackgroundThread:
    """Background thread of the process that starts it."""

    def __init__(self, scheduler: Scheduler, target: Callable[[], None], **_rest: object) -> None:
        self._scheduler, self._target, self._finished = scheduler, target, SimulatedEvent(scheduler)

    def start(self) -> None:
        self._scheduler.start_thread(self._run, self._scheduler.process)

    def join(self) -> None:
        self._scheduler.wait_until(self._finished.is_set)

    def _run(self) -> None:
        try:
            self._target()
        finally:
            self._finished.set()
