"""Stores that tests run against, each with the same few handles, and their clock."""

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
    """A `VirtualClock` for several real threads; only `advance` and sleeping pass time.

    A waiter sees either its signal or that somebody advanced the clock past its timeout.
    """

    def __init__(self, start: datetime = START) -> None:
        super().__init__()
        self.elapsed = start - START
        self._lock = threading.Lock()
        self._waiting = threading.Semaphore(0)

    def sleep(self, duration: timedelta) -> None:
        self.advance(max(duration, timedelta(0)))

    def wait(self, event: Waitable, timeout: timedelta) -> bool:
        if timeout <= timedelta(0):
            return event.wait(0)
        if isinstance(event, threading.Condition):
            return event.wait(REAL_WAIT_SECONDS)  # who waits for one looks again by itself
        end = self.now() + timeout
        self._waiting.release()
        while self.now() < end:
            if event.wait(REAL_WAIT_SECONDS):
                return True
        return False

    def advance(self, duration: timedelta) -> None:
        """Let `duration` pass, or go back by a negative one."""
        with self._lock:
            self.elapsed += duration

    def wait_for_waiter(self) -> None:
        """Return when a thread has begun one more wait than was asked for so far."""
        assert self._waiting.acquire(timeout=HANG_SECONDS), "nobody waited on the clock within 10 s"


S = TypeVar("S")


def run_concurrently(count: int, function: Callable[[int], S]) -> list[S]:
    """Return what `work(0)` to `work(count - 1)` return when all begin together."""
    barrier = threading.Barrier(count, timeout=HANG_SECONDS)

    def start(number: int) -> S:
        barrier.wait()
        return function(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))


@dataclass(frozen=True)
class StoreFixture(Generic[S]):
    """A store, its clock, and `reopen` as another process would open it."""

    store: S
    clock: FakeClock
    reopen: Callable[[], S]

    @property
    def log(self) -> S:
        """The store, where it is a match log."""
        return self.store


LogBench = StoreFixture[MatchLog]


@contextmanager
def file_store(kind: Callable[[str, Clock], S], folder: Path) -> Iterator[StoreFixture[S]]:
    """A store in a file that is not there yet."""
    clock = FakeClock()
    with ExitStack() as stack:

        def reopen() -> S:
            return stack.enter_context(closing(kind(str(folder / "deep" / "store.db"), clock)))

        yield StoreFixture(reopen(), clock, reopen)


@contextmanager
def dynamodb_store(
    kind: Callable[..., S], table: str, client: "DynamoDBClient"
) -> Iterator[StoreFixture[S]]:
    """A store in a new table of DynamoDB."""
    clock, name = FakeClock(), create_table(client, table)
    try:
        yield StoreFixture(kind(name, clock, client), clock, lambda: kind(name, clock, client))
    finally:
        client.delete_table(TableName=name)


TTL = timedelta(seconds=3)


def require_match(log: MatchLog, match_id: str = "m") -> MatchRecord:
    """A match that the log must have."""
    match = log.match(match_id)
    assert match is not None
    return match


class RecordingMeter(Metrics):
    """Keeps what was counted, with a status also by that, and what was timed."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.durations = defaultdict[MetricName, list[timedelta]](list)

    def count(self, metric: MetricName, amount: int = 1, **dimensions: str) -> None:
        self.counts["/".join((metric, *dimensions.values()))] += amount

    def record_duration(self, metric: MetricName, duration: timedelta, **_dimensions: str) -> None:
        self.durations[metric].append(duration)


def take_lease(log: MatchLog, owner: str = "ann", name: str = "m", ttl: timedelta = TTL) -> Lease:
    """A lease that must be granted."""
    lease = log.acquire_lease(name, owner, ttl, {"game": "deadmansdraw"})
    assert lease is not None
    return lease


def receive_message(queue: Queue, wait: timedelta = timedelta(0)) -> Message:
    """A message that must be there."""
    message = queue.receive_message(wait)
    assert message is not None
    return message


environment = partial(mock.patch.dict, os.environ)  # sets these variables for a while


def sqlite_log(folder: Path) -> AbstractContextManager[LogBench]:
    return file_store(lambda path, clock: SqliteMatchLog(Path(path), clock), folder)


def dynamo_log(client: "DynamoDBClient") -> AbstractContextManager[LogBench]:
    return dynamodb_store(DynamoMatchLog, "Matches", client)


@contextmanager
def moto_client() -> Iterator["DynamoDBClient"]:
    # Here, for it takes a second to import.
    from boto3.session import Session  # noqa: PLC0415
    from moto import mock_aws  # noqa: PLC0415

    region_variables = dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), "us-east-1")
    with environment(region_variables), mock_aws():
        # The emulator of other tests may still be in the environment.
        os.environ.pop("AWS_ENDPOINT_URL", None)
        # Sessions and clients that were made before would ask AWS itself.
        aws.shared_session.cache_clear()
        aws._client_cache.clear()
        yield Session(region_name="us-east-1").client("dynamodb")
    aws.shared_session.cache_clear()
