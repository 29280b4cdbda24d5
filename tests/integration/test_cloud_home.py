"""The home: schedule ticks for the poller, the queue's messages for the worker."""

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
class Watched:
    """A scheduler, and each of its invocations as it ends."""

    home: LambdaScheduler
    invocations: queue.Queue[InvocationResult]

    def next(self, function: str) -> InvocationResult:
        """The next invocation of a function that ends."""
        while (invocation := self.invocations.get(timeout=HANG_SECONDS)).function != function:
            pass
        return invocation


def matches(visibility: timedelta = timedelta(milliseconds=50)) -> MemoryQueue:
    """A queue that gives a message twice."""
    return MemoryQueue(SystemClock(), visibility, MemoryQueue(SystemClock()), 2)


Handler = Callable[[dict[str, Any], LocalLambdaContext], object]


@contextmanager
def running(
    worker: Handler = lambda _event, _context: None,
    poller: Handler = lambda _event, _context: None,
    source: MemoryQueue | None = None,
    clock: Clock | None = None,
    **options: Any,  # noqa: ANN401 - of a home
) -> Iterator[Watched]:
    """Run a home, and see that it stops."""
    invocations = queue.Queue[InvocationResult]()
    scheduler_options = LambdaSchedulerOptions(
        receive_wait=timedelta(milliseconds=20), on_invocation=invocations.put, **options
    )
    functions = (
        LambdaFunction("poller", poller, timedelta(seconds=100)),
        LambdaFunction("worker", worker),
    )
    with LambdaScheduler(
        *functions, source or matches(), clock or SystemClock(), scheduler_options
    ) as home:
        yield Watched(home, invocations)
        assert home.stop(LIMIT)


def keys(sample: object) -> object:
    """Return the shape of a JSON value: its keys and types."""
    if isinstance(sample, dict):
        return {name: keys(value) for name, value in sample.items()}
    if isinstance(sample, list):
        return [keys(value) for value in sample]
    return type(sample)


def test_functions_get_the_events_of_schedule_and_queue_mapping() -> None:
    source = matches()
    source.send('{"match_id": "m"}')
    events: dict[str, object] = {}
    with running(source=source) as watched:
        while len(events) < 2:
            invocation = watched.invocations.get(timeout=HANG_SECONDS)
            events[invocation.function] = keys(invocation.event)
    for function, sample in (("worker", "worker_one"), ("poller", "poller_schedule")):
        assert events[function] == keys(json.loads((EVENTS / f"{sample}.json").read_text()))


@pytest.mark.parametrize(
    ("takes", "waits", "began"),
    [
        (0, [60, 60, 60], [0, 60, 120, 180]),
        (70, [], [0, 70, 140, 210]),
        (None, [1, 2, 4, 8, 16, 32, 60, 60], [0, 1, 3, 7, 15, 31, 63, 123, 183]),
    ],
    ids=["at once and with every tick", "at once after one that took longer", "later if it fails"],
)
def test_r29_the_poller_begins(
    takes: int | None, waits: list[int], began: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    """Ever later where it fails, and never before its time."""
    clock, times = FakeClock(), list[float]()

    def listen(_event: object, _context: object) -> None:
        times.append(clock.monotonic())
        if takes is None:
            raise ConnectionError("arena down")
        if len(times) < 4:
            clock.advance(timedelta(seconds=takes))

    with caplog.at_level(logging.ERROR), running(poller=listen, clock=clock) as watched:
        for seconds in waits:
            error = watched.next("poller").error
            assert error == (None if takes is not None else "ConnectionError: arena down")
            clock.wait_for_waiter()
            clock.advance(timedelta(seconds=seconds - 0.5))
            with pytest.raises(queue.Empty):
                watched.invocations.get(timeout=5 * REAL_WAIT_SECONDS)
            clock.advance(timedelta(seconds=0.5))
        clock.wait_for_waiter()
        assert times == began
    assert ("poller failed: ConnectionError: arena down" in caplog.messages) is (takes is None)


def test_stopping_lets_running_workers_finish_and_starts_no_more() -> None:
    source = matches(visibility=timedelta(minutes=1))
    begun, finish = threading.Event(), threading.Event()

    def work(_event: object, context: LocalLambdaContext) -> dict[str, int]:
        begun.set()
        assert finish.wait(HANG_SECONDS)
        return {"left": context.get_remaining_time_in_millis()}

    source.send("running")
    with running(work, source=source, concurrency=1) as watched:
        assert begun.wait(HANG_SECONDS)
        source.send("late")
        assert not watched.home.stop(timedelta(milliseconds=10)), "it still runs"
        finish.set()
        assert watched.home.stop(LIMIT)
        assert watched.next("worker").response["left"] > 0, "its time is its own"
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
    source, borne, capacity_checks = matches(), threading.Event(), threading.Semaphore(0)
    source.send("{}")

    def bears(workers: int) -> bool:
        capacity_checks.release()
        return borne.is_set() and workers == 1

    with running(source=source, has_capacity=bears) as watched:
        for _ in range(3):
            assert capacity_checks.acquire(timeout=HANG_SECONDS)
        assert receive_message(source).receive_count == 1
        borne.set()
        assert watched.next("worker").error is None


def test_a_backlog_is_reported_while_all_workers_are_busy() -> None:
    backlog_sizes: queue.Queue[int] = queue.Queue()
    done = threading.Event()
    source = matches(timedelta(minutes=1))
    source.send('{"match_id": "one"}')
    source.send('{"match_id": "two"}')

    with running(
        lambda *_: done.wait(HANG_SECONDS),
        source=source,
        concurrency=1,
        on_backlog=backlog_sizes.put,
    ) as watched:
        assert backlog_sizes.get(timeout=HANG_SECONDS) == 1
        assert source.visible_count == 1
        done.set()
        watched.next("worker")
        watched.next("worker")
