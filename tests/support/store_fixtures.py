"""Stores that tests run against, each with its clock, and small helpers for stores."""

import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar
from unittest import mock

from fault_simulation.virtual_clock import START, VirtualClock

from cardsharp.aws import client as aws
from cardsharp.core.clock import Clock, Waitable
from cardsharp.core.metrics import MetricName, Metrics
from cardsharp.core.queue import Message, Queue
from cardsharp.store.dynamodb_match_log import DynamoMatchLog
from cardsharp.store.match_log import Lease, MatchLog, MatchRecord
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.local_cloud.template_files import create_table
from support.waiting import HANG_SECONDS

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


REAL_WAIT_SECONDS = 0.002  # real seconds, only to look at the fake clock again


class FakeClock(VirtualClock):
    """Virtual clock for several real threads; only `advance` and sleeping advance the time.

    A waiter returns when its event is set, or when the clock has passed its timeout.
    """

    def __init__(self, start: datetime = START) -> None:
        super().__init__()
        self.elapsed = start - START
        self._lock = threading.Lock()
        self._wait_count = threading.Semaphore(0)

    def sleep(self, duration: timedelta) -> None:
        self.advance(max(duration, timedelta(0)))

    def wait(self, event: Waitable, timeout: timedelta) -> bool:
        if timeout <= timedelta(0):
            return event.wait(0)
        if isinstance(event, threading.Condition):
            return event.wait(REAL_WAIT_SECONDS)  # who waits for one looks again by itself
        deadline = self.now() + timeout
        self._wait_count.release()
        while self.now() < deadline:
            if event.wait(REAL_WAIT_SECONDS):
                return True
        return False

    def advance(self, duration: timedelta) -> None:
        """Advance the time by `duration`, which may be negative."""
        with self._lock:
            self.elapsed += duration

    def wait_for_waiter(self) -> None:
        """Return when another wait on the clock has begun; each call counts one wait."""
        assert self._wait_count.acquire(timeout=HANG_SECONDS), (
            "nobody waited on the clock within 10 s"
        )


S = TypeVar("S")


def run_concurrently(count: int, function: Callable[[int], S]) -> list[S]:
    """Return the results of `function(0)` to `function(count - 1)`, started together."""
    barrier = threading.Barrier(count, timeout=HANG_SECONDS)

    def start(number: int) -> S:
        barrier.wait()
        return function(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))


@dataclass(frozen=True)
class StoreFixture(Generic[S]):
    """Store, its clock, and a function that opens it again, as another process would."""

    store: S
    clock: FakeClock
    reopen: Callable[[], S]

    @property
    def log(self) -> S:
        """Store of the fixture, if it is a match log."""
        return self.store


MatchLogFixture = StoreFixture[MatchLog]


@contextmanager
def new_file_store(
    store_factory: Callable[[str, Clock], S], folder: Path
) -> Iterator[StoreFixture[S]]:
    """Yield a store in a new file."""
    clock = FakeClock()
    with ExitStack() as stack:

        def reopen() -> S:
            return stack.enter_context(
                closing(store_factory(str(folder / "deep" / "store.db"), clock))
            )

        yield StoreFixture(reopen(), clock, reopen)


@contextmanager
def new_dynamodb_store(
    store_factory: Callable[..., S], table: str, client: "DynamoDBClient"
) -> Iterator[StoreFixture[S]]:
    """Yield a store in a new table of DynamoDB."""
    clock, name = FakeClock(), create_table(client, table)
    try:
        yield StoreFixture(
            store_factory(name, clock, client), clock, lambda: store_factory(name, clock, client)
        )
    finally:
        client.delete_table(TableName=name)


TTL = timedelta(seconds=3)


def require_match(log: MatchLog, match_id: str = "m") -> MatchRecord:
    """Return a match that the log must have."""
    match = log.match(match_id)
    assert match is not None
    return match


class RecordingMeter(Metrics):
    """Metrics that store all counts, by metric and dimensions, and all durations."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.durations = defaultdict[MetricName, list[timedelta]](list)

    def count(self, metric: MetricName, amount: int = 1, **dimensions: str) -> None:
        self.counts["/".join((metric, *dimensions.values()))] += amount

    def record_duration(self, metric: MetricName, duration: timedelta, **_dimensions: str) -> None:
        self.durations[metric].append(duration)


def acquire_lease(
    log: MatchLog, owner: str = "ann", name: str = "m", ttl: timedelta = TTL
) -> Lease:
    """Return a lease, which must be granted."""
    lease = log.acquire_lease(name, owner, ttl, {"game": "deadmansdraw"})
    assert lease is not None
    return lease


def receive_message(queue: Queue, wait: timedelta = timedelta(0)) -> Message:
    """Return the next message, which must be there."""
    message = queue.receive_message(wait)
    assert message is not None
    return message


set_environment = partial(mock.patch.dict, os.environ)  # sets these variables for a while


def new_sqlite_log(folder: Path) -> AbstractContextManager[MatchLogFixture]:
    return new_file_store(lambda path, clock: SqliteMatchLog(Path(path), clock), folder)


def new_dynamodb_log(client: "DynamoDBClient") -> AbstractContextManager[MatchLogFixture]:
    return new_dynamodb_store(DynamoMatchLog, "Matches", client)


@contextmanager
def moto_client() -> Iterator["DynamoDBClient"]:
    # Here, for it takes a second to import.
    from boto3.session import Session  # noqa: PLC0415
    from moto import mock_aws  # noqa: PLC0415

    region_variables = dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), "us-east-1")
    with set_environment(region_variables), mock_aws():
        # The emulator of other tests may still be in the environment.
        os.environ.pop("AWS_ENDPOINT_URL", None)
        # Sessions and clients that were made before would ask AWS itself.
        aws.shared_session.cache_clear()
        aws._client_cache.clear()
        yield Session(region_name="us-east-1").client("dynamodb")
    aws.shared_session.cache_clear()
