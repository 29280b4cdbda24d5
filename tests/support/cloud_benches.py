"""The adapters that the contract suite runs against, each behind the same few handles."""

import json
import os
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from cardsharp.cloud import aws
from cardsharp.cloud.dynamodb import DynamoLog
from cardsharp.cloud.memory import MemoryQueue, Redrive
from cardsharp.cloud.metrics import Meter, Metric
from cardsharp.cloud.ports import Lease, MatchLog, MatchRecord, Message, Queue
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.sqs import SqsQueue
from support.cloud_clock import FakeClock
from support.game_stores import Bench, in_file, in_table
from workbench.cloud.emulator import Emulator, queue_arn

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

VISIBILITY = timedelta(seconds=1)
MAX_RECEIVES = 2
TTL = timedelta(seconds=3)


class LogBench(Bench[MatchLog]):
    """A match log, its clock, and `reopen` as another process would open it."""

    @property
    def log(self) -> MatchLog:
        return self.store


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


@dataclass(frozen=True)
class QueueBench:
    """A queue with its dead letters; `later` receives what the visibility timeout brings back."""

    queue: Queue
    dead_letters: Queue
    later: Callable[[], Message | None]


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
    with mock.patch.dict(os.environ, values):
        yield


@contextmanager
def sqlite_log(folder: Path) -> Iterator[LogBench]:
    with in_file(lambda path, clock: SqliteLog(Path(path), clock), folder) as made:
        yield LogBench(made.store, made.clock, made.reopen)


@contextmanager
def dynamo_log(client: "DynamoDBClient") -> Iterator[LogBench]:
    with in_table(DynamoLog, "Matches", client) as made:
        yield LogBench(made.store, made.clock, made.reopen)


@contextmanager
def moto_client() -> Iterator["DynamoDBClient"]:
    # Here, for it takes a second to import.
    from boto3.session import Session  # noqa: PLC0415
    from moto import mock_aws  # noqa: PLC0415

    with environment({"AWS_REGION": "us-east-1"}), mock_aws():
        # The emulator of other tests may still be in the environment.
        os.environ.pop("AWS_ENDPOINT_URL", None)
        # Sessions and clients that were made before would ask AWS itself.
        aws.session.cache_clear()
        aws._prepared.clear()
        yield Session(region_name="us-east-1").client("dynamodb")
    aws.session.cache_clear()


@contextmanager
def memory_queue() -> Iterator[QueueBench]:
    clock = FakeClock()
    dead = MemoryQueue(clock, VISIBILITY)
    queue = MemoryQueue(clock, VISIBILITY, Redrive(MAX_RECEIVES, dead))

    def later() -> Message | None:
        clock.advance(VISIBILITY)
        return queue.receive(timedelta(0))

    yield QueueBench(queue, dead, later)


@contextmanager
def sqs_queue(emulator: Emulator) -> Iterator[QueueBench]:
    sqs = emulator.client("sqs")
    name = str(uuid.uuid4())
    dead = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    policy = {"deadLetterTargetArn": queue_arn(sqs, dead), "maxReceiveCount": MAX_RECEIVES}
    attributes = {
        "VisibilityTimeout": str(int(VISIBILITY.total_seconds())),
        "RedrivePolicy": json.dumps(policy),
    }
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    queue = SqsQueue(url, sqs)
    yield QueueBench(queue, SqsQueue(dead, sqs), lambda: queue.receive(VISIBILITY * 2))
