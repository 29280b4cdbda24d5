"""Stores that tests run against, each behind the same few handles, and their clock."""

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

from world.clock import START, StillClock

from cardsharp.cloud import aws
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.cloud.ports import Clock, Lease, MatchLog, MatchRecord, Message, Queue, Signal
from cardsharp.cloud.sqlite import SqliteLog
from support.waiting import HANG_SECONDS
from workbench.cloud.template import create_table

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


REAL = 0.002  # real seconds, only to look at the fake clock again


class FakeClock(StillClock):
    """A `StillClock` for several real threads; only `advance` and sleeping pass time.

    A waiter sees either its signal or that somebody advanced the clock past its timeout.
    """

    def __init__(self, start: datetime = START) -> None:
        super().__init__()
        self.passed = start - START
        self._lock = threading.Lock()
        self._waiting = threading.Semaphore(0)

    def wait(self, signal: Signal, timeout: timedelta) -> bool:
        if timeout <= timedelta(0):
            return signal.wait(0)
        if isinstance(signal, threading.Condition):
            return signal.wait(REAL)  # who waits for one looks again by itself
        end = self.now() + timeout
        self._waiting.release()
        while self.now() < end:
            if signal.wait(REAL):
                return True
        return False

    def advance(self, duration: timedelta) -> None:
        """Let `duration` pass, or go back by a negative one."""
        with self._lock:
            self.passed += duration

    def until_waiting(self) -> None:
        """Return when a thread has begun one more wait than was asked for so far."""
        assert self._waiting.acquire(timeout=HANG_SECONDS), "nobody waited on the clock within 10 s"


S = TypeVar("S")


def at_once(count: int, work: Callable[[int], S]) -> list[S]:
    """Return what `work(0)` to `work(count - 1)` return when all begin together."""
    barrier = threading.Barrier(count, timeout=HANG_SECONDS)

    def start(number: int) -> S:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))


@dataclass(frozen=True)
class Bench(Generic[S]):
    """A store, its clock, and `reopen` as another process would open it."""

    store: S
    clock: FakeClock
    reopen: Callable[[], S]

    @property
    def log(self) -> S:
        """The store, where it is a match log."""
        return self.store


LogBench = Bench[MatchLog]


@contextmanager
def in_file(kind: Callable[[str, Clock], S], folder: Path) -> Iterator[Bench[S]]:
    """A store in a file that is not there yet."""
    clock = FakeClock()
    with ExitStack() as stack:

        def reopen() -> S:
            return stack.enter_context(closing(kind(str(folder / "deep" / "store.db"), clock)))

        yield Bench(reopen(), clock, reopen)


@contextmanager
def in_table(kind: Callable[..., S], table: str, client: "DynamoDBClient") -> Iterator[Bench[S]]:
    """A store in a new table of DynamoDB."""
    clock, name = FakeClock(), create_table(client, table)
    try:
        yield Bench(kind(name, clock, client), clock, lambda: kind(name, clock, client))
    finally:
        client.delete_table(TableName=name)


TTL = timedelta(seconds=3)


def known(log: MatchLog, match_id: str = "m") -> MatchRecord:
    """A match that the log must have."""
    match = log.match(match_id)
    assert match is not None
    return match


class NotedMeter(Meter):
    """Keeps what was counted, with a status also by that, and what was timed."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.timed = defaultdict[Metric, list[timedelta]](list)

    def count(self, metric: Metric, amount: int = 1, **dimensions: str) -> None:
        self.counted["/".join((metric, *dimensions.values()))] += amount

    def time(self, metric: Metric, duration: timedelta, **_dimensions: str) -> None:
        self.timed[metric].append(duration)


def taken(log: MatchLog, owner: str = "ann", name: str = "m", ttl: timedelta = TTL) -> Lease:
    """A lease that must be granted."""
    lease = log.take(name, owner, ttl, {"game": "deadmansdraw"})
    assert lease is not None
    return lease


def received(queue: Queue, wait: timedelta = timedelta(0)) -> Message:
    """A message that must be there."""
    message = queue.receive(wait)
    assert message is not None
    return message


environment = partial(mock.patch.dict, os.environ)  # sets these variables for a while


def sqlite_log(folder: Path) -> AbstractContextManager[LogBench]:
    return in_file(lambda path, clock: SqliteLog(Path(path), clock), folder)


def dynamo_log(client: "DynamoDBClient") -> AbstractContextManager[LogBench]:
    return in_table(DynamoLog, "Matches", client)


@contextmanager
def moto_client() -> Iterator["DynamoDBClient"]:
    # Here, for it takes a second to import.
    from boto3.session import Session  # noqa: PLC0415
    from moto import mock_aws  # noqa: PLC0415

    here = dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), "us-east-1")
    with environment(here), mock_aws():
        # The emulator of other tests may still be in the environment.
        os.environ.pop("AWS_ENDPOINT_URL", None)
        # Sessions and clients that were made before would ask AWS itself.
        aws.session.cache_clear()
        aws._prepared.clear()
        yield Session(region_name="us-east-1").client("dynamodb")
    aws.session.cache_clear()
