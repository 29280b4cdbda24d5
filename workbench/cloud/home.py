"""Our own loop around the functions: what the schedule and the queue mapping do in the cloud."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Self

from cardsharp.cloud.ports import Clock, Message, Queue
from cardsharp.errors import StoreError
from workbench.cloud.events import (
    Function,
    Invocation,
    LambdaContext,
    Observer,
    failed_ids,
    invoke,
    schedule_event,
    sqs_event,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HomeOptions:
    """How a home is run; most defaults are those of template.yaml.

    `breath` bounds a wait for messages, and so how long a stop can take while all is idle. Messages
    are left on the queue where `bears` says that so many workers could not be kept up, or all
    `concurrency` are busy; then `left` is told again and again how many workers there are.
    """

    tick: timedelta = timedelta(minutes=1)
    concurrency: int = 4
    breath: timedelta = timedelta(milliseconds=200)
    observe: Observer = field(default=lambda _invocation: None)
    bears: Callable[[int], bool] = field(default=lambda _workers: True)
    left: Callable[[int], None] = field(default=lambda _workers: None)


class Home:
    """Ticks the schedule of the poller and feeds the queue to the worker.

    The poller runs once at a time; a tick that is due while it still runs comes right after it, and
    one that failed is followed after a moment, longer and longer while it goes on failing. In the
    cloud two overlap for a moment (docs/decisions/0007), so that no second is without one.
    Workers run up to `concurrency` at once. A message is deleted when its invocation succeeds; a
    failed one comes back after the queue's visibility timeout.
    """

    def __init__(
        self,
        poller: Function,
        worker: Function,
        queue: Queue,
        clock: Clock,
        options: HomeOptions | None = None,
    ) -> None:
        self._poller, self._worker = poller, worker
        self._queue, self._clock = queue, clock
        self._options = options or HomeOptions()
        self._stop = threading.Event()
        self._slots = threading.Semaphore(self._options.concurrency)
        self._workers: set[threading.Thread] = set()
        self._tick_context: LambdaContext | None = None
        self._threads = [
            threading.Thread(target=loop, name=loop.__name__, daemon=True)
            for loop in (self._tick, self._feed)
        ]

    def start(self) -> Self:
        """Begin; whoever does not stop it leaves what still runs to the end of the process."""
        for thread in self._threads:
            thread.start()
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def running(self) -> int:
        """How many workers run now."""
        return len(self._workers)

    def wind_down(self) -> None:
        """Start no more, and tell the poller that its time is over: it ends after its long poll."""
        self._stop.set()
        if self._tick_context is not None:
            self._tick_context.cut_short()

    def stop(self, grace: timedelta = timedelta(minutes=1)) -> bool:
        """Start no more; whether all ended within `grace`: what runs ends with this process."""
        self.wind_down()
        # Threads end in real time, whatever the clock of the handlers says.
        end = time.monotonic() + grace.total_seconds()
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        free = [
            self._slots.acquire(timeout=max(0.0, end - time.monotonic()))
            for _ in range(self._options.concurrency)
        ]
        for _ in filter(None, free):
            self._slots.release()
        return all(free) and not any(thread.is_alive() for thread in self._threads)

    def _tick(self) -> None:
        """Invoke the poller whenever a tick is due."""
        due, failures = self._clock.monotonic(), 0
        while not self._stop.is_set():
            context = self._tick_context = self._poller.context(self._clock)
            event = schedule_event(self._clock.now(), self._poller.name)
            invocation = invoke(self._poller, event, context)
            self._report(invocation)
            failures = 0 if invocation.error is None else failures + 1
            now, tick = self._clock.monotonic(), self._options.tick.total_seconds()
            due = max(due + tick, now) if not failures else now + min(tick, 2.0 ** (failures - 1))
            self._clock.wait(self._stop, timedelta(seconds=due - now))

    def _feed(self) -> None:
        """Hand messages to free workers, as many as can be kept up."""
        while not self._stop.is_set():
            if not self._options.bears(len(self._workers) + 1):
                self._options.left(len(self._workers))
                self._clock.wait(self._stop, self._options.breath)
                continue
            if not self._slots.acquire(timeout=self._options.breath.total_seconds()):
                self._options.left(self._options.concurrency)
                continue
            message = None if self._stop.is_set() else self._next()
            if message is not None:
                thread = threading.Thread(target=self._work, args=(message,), daemon=True)
                self._workers.add(thread)
                thread.start()
            else:
                self._slots.release()

    def _next(self) -> Message | None:
        """The next message, none if there is none or the queue fails."""
        try:
            return self._queue.receive(self._options.breath)
        except StoreError as error:
            logger.warning("The queue failed: %s", error)
            self._clock.wait(self._stop, self._options.breath)
            return None

    def _work(self, message: Message) -> None:
        """Invoke the worker with a message and settle it; frees the slot."""
        try:
            context = self._worker.context(self._clock)
            event = sqs_event([message], self._clock.now())
            invocation = invoke(self._worker, event, context)
            self._settle(message, invocation)
            self._report(invocation)
        finally:
            self._workers.discard(threading.current_thread())
            self._slots.release()

    def _settle(self, message: Message, invocation: Invocation) -> None:
        """Delete what succeeded; what failed becomes visible again by itself."""
        if invocation.error or failed_ids(invocation.answer, [message.message_id]):
            return
        try:
            self._queue.delete(message)
        except StoreError as error:
            logger.warning("A message will be delivered again: %s", error)

    def _report(self, invocation: Invocation) -> None:
        if invocation.error is not None:
            logger.error("%s failed: %s", invocation.function, invocation.error)
        self._options.observe(invocation)
