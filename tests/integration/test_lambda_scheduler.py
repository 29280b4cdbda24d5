"""Tests of the local Lambda scheduler: ticks for the poller, messages for the worker."""

import json
import logging
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from support.lambda_events import EVENTS
from support.store_fixtures import REAL_WAIT_SECONDS, FakeClock, receive_message
from support.waiting import HANG_SECONDS

from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.core.clock import Clock, SystemClock
from cardsharp_tools.local_cloud.lambda_events import (
    InvocationResult,
    LambdaFunction,
    LocalLambdaContext,
    failed_message_ids,
)
from cardsharp_tools.local_cloud.lambda_scheduler import LambdaScheduler, LambdaSchedulerOptions

LIMIT = timedelta(seconds=HANG_SECONDS)


@dataclass
class ObservedScheduler:
    """A scheduler, and each of its invocations when it ends."""

    scheduler: LambdaScheduler
    invocations: queue.Queue[InvocationResult]

    def next_invocation(self, function: str) -> InvocationResult:
        """Return the next finished invocation of a function."""
        while (invocation := self.invocations.get(timeout=HANG_SECONDS)).function != function:
            pass
        return invocation


def create_match_queue(visibility: timedelta = timedelta(milliseconds=50)) -> MemoryQueue:
    """Create a queue that delivers each message at most twice."""
    return MemoryQueue(SystemClock(), visibility, MemoryQueue(SystemClock()), 2)


Handler = Callable[[dict[str, Any], LocalLambdaContext], object]


@contextmanager
def run_scheduler(
    worker: Handler = lambda _event, _context: None,
    poller: Handler = lambda _event, _context: None,
    source: MemoryQueue | None = None,
    clock: Clock | None = None,
    **options: Any,  # noqa: ANN401 - of a home
) -> Iterator[ObservedScheduler]:
    """Run a scheduler, and check that it stops."""
    invocations = queue.Queue[InvocationResult]()
    scheduler_options = LambdaSchedulerOptions(
        receive_wait=timedelta(milliseconds=20), on_invocation=invocations.put, **options
    )
    functions = (
        LambdaFunction("poller", poller, timedelta(seconds=100)),
        LambdaFunction("worker", worker),
    )
    with LambdaScheduler(
        *functions, source or create_match_queue(), clock or SystemClock(), scheduler_options
    ) as scheduler:
        yield ObservedScheduler(scheduler, invocations)
        assert scheduler.stop(LIMIT)


def shape_of(sample: object) -> object:
    """Return the shape of a JSON value: its keys and types."""
    if isinstance(sample, dict):
        return {name: shape_of(value) for name, value in sample.items()}
    if isinstance(sample, list):
        return [shape_of(value) for value in sample]
    return type(sample)


def test_functions_get_the_events_of_schedule_and_queue_mapping() -> None:
    source = create_match_queue()
    source.send('{"match_id": "m"}')
    events: dict[str, object] = {}
    with run_scheduler(source=source) as observed:
        while len(events) < 2:
            invocation = observed.invocations.get(timeout=HANG_SECONDS)
            events[invocation.function] = shape_of(invocation.event)
    for function, sample in (("worker", "worker_one"), ("poller", "poller_schedule")):
        assert events[function] == shape_of(json.loads((EVENTS / f"{sample}.json").read_text()))


@pytest.mark.parametrize(
    ("takes", "waits", "began"),
    [
        (0, [60, 60, 60], [0, 60, 120, 180]),
        (70, [], [0, 70, 140, 210]),
        (None, [1, 2, 4, 8, 16, 32, 60, 60], [0, 1, 3, 7, 15, 31, 63, 123, 183]),
    ],
    ids=["at once and with every tick", "at once after one that took longer", "later if it fails"],
)
def test_r29_the_poller_starts_at_the_scheduled_times(
    takes: int | None, waits: list[int], began: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    """After failures the poller starts at growing intervals, and never early."""
    clock, start_times = FakeClock(), list[float]()

    def listen(_event: object, _context: object) -> None:
        start_times.append(clock.monotonic())
        if takes is None:
            raise ConnectionError("arena down")
        if len(start_times) < 4:
            clock.advance(timedelta(seconds=takes))

    with caplog.at_level(logging.ERROR), run_scheduler(poller=listen, clock=clock) as observed:
        for seconds in waits:
            error = observed.next_invocation("poller").error
            assert error == (None if takes is not None else "ConnectionError: arena down")
            clock.wait_for_waiter()
            clock.advance(timedelta(seconds=seconds - 0.5))
            with pytest.raises(queue.Empty):
                observed.invocations.get(timeout=5 * REAL_WAIT_SECONDS)
            clock.advance(timedelta(seconds=0.5))
        clock.wait_for_waiter()
        assert start_times == began
    assert ("poller failed: ConnectionError: arena down" in caplog.messages) is (takes is None)


def test_stopping_lets_running_workers_finish_and_starts_no_more() -> None:
    source = create_match_queue(visibility=timedelta(minutes=1))
    has_started, may_finish = threading.Event(), threading.Event()

    def work(_event: object, context: LocalLambdaContext) -> dict[str, int]:
        has_started.set()
        assert may_finish.wait(HANG_SECONDS)
        return {"left": context.get_remaining_time_in_millis()}

    source.send("running")
    with run_scheduler(work, source=source, concurrency=1) as observed:
        assert has_started.wait(HANG_SECONDS)
        source.send("late")
        assert not observed.scheduler.stop(timedelta(milliseconds=10)), "it still runs"
        may_finish.set()
        assert observed.scheduler.stop(LIMIT)
        assert observed.next_invocation("worker").response["left"] > 0, "its time is its own"
    assert len(source) == 1


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (None, ""),
        ({}, ""),
        ({"batchItemFailures": []}, ""),
        ({"batchItemFailures": [{"itemIdentifier": "a"}]}, "a"),
        ({"batchItemFailures": [{"itemIdentifier": "a"}, {"itemIdentifier": "b"}]}, "ab"),
        ({"batchItemFailures": [{"itemIdentifier": "c"}]}, "ab"),
        ({"batchItemFailures": ["a"]}, "ab"),
        ({"batchItemFailures": "a"}, "ab"),
        ("done", "ab"),
    ],
)
def test_an_answer_is_read_as_the_queue_mapping_reads_it(answer: object, failed: str) -> None:
    assert failed_message_ids(answer, ["a", "b"]) == set(failed)


def test_messages_beyond_capacity_stay_on_the_queue() -> None:
    source, is_capacity_free, capacity_checks = (
        create_match_queue(),
        threading.Event(),
        threading.Semaphore(0),
    )
    source.send("{}")

    def has_capacity(workers: int) -> bool:
        capacity_checks.release()
        return is_capacity_free.is_set() and workers == 1

    with run_scheduler(source=source, has_capacity=has_capacity) as observed:
        for _ in range(3):
            assert capacity_checks.acquire(timeout=HANG_SECONDS)
        assert receive_message(source).receive_count == 1
        is_capacity_free.set()
        assert observed.next_invocation("worker").error is None


def test_a_backlog_is_reported_while_all_workers_are_busy() -> None:
    backlog_sizes: queue.Queue[int] = queue.Queue()
    may_finish = threading.Event()
    source = create_match_queue(timedelta(minutes=1))
    source.send('{"match_id": "one"}')
    source.send('{"match_id": "two"}')

    with run_scheduler(
        lambda *_: may_finish.wait(HANG_SECONDS),
        source=source,
        concurrency=1,
        on_backlog=backlog_sizes.put,
    ) as observed:
        assert backlog_sizes.get(timeout=HANG_SECONDS) == 1
        assert source.visible_count == 1
        may_finish.set()
        observed.next_invocation("worker")
        observed.next_invocation("worker")
