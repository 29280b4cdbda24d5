"""Our own loop around the functions: what the schedule and the queue mapping do in the cloud."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Self

from cardsharp.core.clock import Clock
from cardsharp.core.queue import Message, Queue
from cardsharp.errors import StoreError
from cardsharp_tools.local_cloud.lambda_events import (
    InvocationResult,
    LambdaFunction,
    LocalLambdaContext,
    Observer,
    failed_message_ids,
    invoke,
    schedule_event,
    sqs_event,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LambdaSchedulerOptions:
    """Options of the scheduler; most defaults are those of template.yaml.

    `receive_wait` bounds a wait for messages, and so the time that a stop takes while all is
    idle. Messages stay on the queue while `has_capacity` returns False for the number of
    workers, or while `concurrency` workers are busy. Then `on_backlog` is called repeatedly
    with the number of workers.
    """

    poll_interval: timedelta = timedelta(minutes=1)
    concurrency: int = 4
    receive_wait: timedelta = timedelta(milliseconds=200)
    on_invocation: Observer = field(default=lambda _invocation: None)
    has_capacity: Callable[[int], bool] = field(default=lambda _workers: True)
    on_backlog: Callable[[int], None] = field(default=lambda _workers: None)


class LambdaScheduler:
    """Scheduler that starts the poller by its schedule and workers from the queue.

    The poller runs once at a time; a tick that is due while it still runs comes right after it, and
    one that failed is followed after a moment, longer and longer while it goes on failing. In the
    cloud two overlap for a moment (docs/decisions/0007), so that no second is without one.
    Workers run up to `concurrency` at once. A message is deleted when its invocation succeeds; a
    failed one comes back after the queue's visibility timeout.
    """

    def __init__(
        self,
        poller: LambdaFunction,
        worker: LambdaFunction,
        queue: Queue,
        clock: Clock,
        options: LambdaSchedulerOptions | None = None,
    ) -> None:
        self._poller, self._worker = poller, worker
        self._queue, self._clock = queue, clock
        self._options = options or LambdaSchedulerOptions()
        self._stop_event = threading.Event()
        self._worker_slots = threading.Semaphore(self._options.concurrency)
        self._worker_threads: set[threading.Thread] = set()
        self._tick_context: LocalLambdaContext | None = None
        self._loop_threads = [
            threading.Thread(target=loop, name=loop.__name__, daemon=True)
            for loop in (self._run_poller_loop, self._run_dispatch_loop)
        ]

    def start(self) -> Self:
        """Start the scheduler; without `stop`, invocations run until the process ends."""
        for thread in self._loop_threads:
            thread.start()
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def running_worker_count(self) -> int:
        """Number of workers that are running."""
        return len(self._worker_threads)

    def stop_accepting(self) -> None:
        """Start no invocation any more, and let the poller end after its long poll."""
        self._stop_event.set()
        if self._tick_context is not None:
            self._tick_context.expire()

    def stop(self, timeout: timedelta = timedelta(minutes=1)) -> bool:
        """Start nothing more; return True if all invocations ended within `timeout`.

        Those that still run end with this process.
        """
        self.stop_accepting()
        # Threads end in real time, whatever the clock of the handlers says.
        end = time.monotonic() + timeout.total_seconds()
        for thread in self._loop_threads:
            thread.join(max(0.0, end - time.monotonic()))
        free = [
            self._worker_slots.acquire(timeout=max(0.0, end - time.monotonic()))
            for _ in range(self._options.concurrency)
        ]
        for _ in filter(None, free):
            self._worker_slots.release()
        return all(free) and not any(thread.is_alive() for thread in self._loop_threads)

    def _run_poller_loop(self) -> None:
        """Invoke the poller at each due tick until the scheduler stops."""
        due, failures = self._clock.monotonic(), 0
        while not self._stop_event.is_set():
            context = self._tick_context = self._poller.context(self._clock)
            event = schedule_event(self._clock.now(), self._poller.name)
            invocation = invoke(self._poller, event, context)
            self._report_invocation(invocation)
            failures = 0 if invocation.error is None else failures + 1
            current_time, tick = (
                self._clock.monotonic(),
                self._options.poll_interval.total_seconds(),
            )
            due = (
                max(due + tick, current_time)
                if not failures
                else current_time + min(tick, 2.0 ** (failures - 1))
            )
            self._clock.wait(self._stop_event, timedelta(seconds=due - current_time))

    def _run_dispatch_loop(self) -> None:
        """Start a worker for each message until the scheduler stops.

        A message is received only while a worker slot is free and there is capacity.
        """
        while not self._stop_event.is_set():
            if not self._options.has_capacity(len(self._worker_threads) + 1):
                self._options.on_backlog(len(self._worker_threads))
                self._clock.wait(self._stop_event, self._options.receive_wait)
                continue
            if not self._worker_slots.acquire(timeout=self._options.receive_wait.total_seconds()):
                self._options.on_backlog(self._options.concurrency)
                continue
            message = None if self._stop_event.is_set() else self._receive_message()
            if message is not None:
                thread = threading.Thread(
                    target=self._process_message, args=(message,), daemon=True
                )
                self._worker_threads.add(thread)
                thread.start()
            else:
                self._worker_slots.release()

    def _receive_message(self) -> Message | None:
        """Return the next message; None if there is none or the queue fails."""
        try:
            return self._queue.receive_message(self._options.receive_wait)
        except StoreError as error:
            logger.warning("The queue failed: %s", error)
            self._clock.wait(self._stop_event, self._options.receive_wait)
            return None

    def _process_message(self, message: Message) -> None:
        """Invoke the worker with a message and settle it, then free the slot."""
        try:
            context = self._worker.context(self._clock)
            event = sqs_event([message], self._clock.now())
            invocation = invoke(self._worker, event, context)
            self._delete_if_processed(message, invocation)
            self._report_invocation(invocation)
        finally:
            self._worker_threads.discard(threading.current_thread())
            self._worker_slots.release()

    def _delete_if_processed(self, message: Message, invocation: InvocationResult) -> None:
        """Delete the message if it was processed; otherwise the queue delivers it again later."""
        if invocation.error or failed_message_ids(invocation.response, [message.message_id]):
            return
        try:
            self._queue.delete(message)
        except StoreError as error:
            logger.warning("A message will be delivered again: %s", error)

    def _report_invocation(self, invocation: InvocationResult) -> None:
        if invocation.error is not None:
            logger.error("%s failed: %s", invocation.function, invocation.error)
        self._options.on_invocation(invocation)
