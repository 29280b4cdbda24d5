"""One contract for every queue: at least once, visibility, receive count, dead letters."""

import json
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import pytest
from support.store_fixtures import FakeClock, receive_message, run_concurrently
from support.waiting import HANG_SECONDS

from cardsharp.aws.sqs_queue import SqsQueue
from cardsharp.bot.queueing.memory_queue import MAX_RECEIVES as USUAL_RECEIVES
from cardsharp.bot.queueing.memory_queue import VISIBILITY_TIMEOUT as USUAL_VISIBILITY
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.core.queue import Message, Queue
from cardsharp_tools.local_cloud.emulator import Emulator, queue_arn
from cardsharp_tools.local_cloud.template_files import all_template_resources

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient

NO_DELAY = timedelta(0)
VISIBILITY = timedelta(seconds=1)
MAX_RECEIVES = 2


LONG = timedelta(minutes=10)
"""The visibility timeout on the emulator, whose clock is real: no busy machine makes a message come
back by itself before it is deleted."""
DELAY = timedelta(seconds=2)


class QueueBench(NamedTuple):
    """A queue with its dead letters; `later` receives what the visibility timeout brings back."""

    queue: Queue
    dead_letters: Queue
    later: Callable[[], Message | None]


def in_memory() -> QueueBench:
    clock = FakeClock()
    dead = MemoryQueue(clock, VISIBILITY)
    queue = MemoryQueue(clock, VISIBILITY, dead, MAX_RECEIVES)

    def later() -> Message | None:
        clock.advance(VISIBILITY)
        return queue.receive_message(NO_DELAY)

    return QueueBench(queue, dead, later)


class NotedReceipts(SqsQueue):
    """A queue that can have all that was received come back, as when its time was over."""

    def __init__(self, url: str, client: "SQSClient") -> None:
        super().__init__(url, client)
        self._receipts: list[str] = []

    def receive_message(self, wait_time: timedelta) -> Message | None:
        message = super().receive_message(wait_time)
        self._receipts += [] if message is None else [message.receipt]
        return message

    def later(self) -> Message | None:
        while self._receipts:
            self.change_visibility(self._receipts.pop(), NO_DELAY)
        return self.receive_message(timedelta(seconds=2))


def emulated(emulator: Emulator) -> QueueBench:
    sqs, name = emulator.client("sqs"), str(uuid.uuid4())
    dead = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    policy = {"deadLetterTargetArn": queue_arn(sqs, dead), "maxReceiveCount": MAX_RECEIVES}
    attributes = {
        "VisibilityTimeout": str(int(LONG.total_seconds())),
        "RedrivePolicy": json.dumps(policy),
    }
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    queue = NotedReceipts(url, sqs)
    return QueueBench(queue, SqsQueue(dead, sqs), queue.later)


@pytest.fixture(params=["memory", "ministack"])
def bench(request: pytest.FixtureRequest) -> QueueBench:
    at_home = request.param == "memory"
    return in_memory() if at_home else emulated(request.getfixturevalue("emulator"))


def test_a_message_with_a_delay_is_received_after_it(bench: QueueBench) -> None:
    began = monotonic()
    bench.queue.send("later", DELAY)
    bench.queue.send("soon")
    message = receive_message(bench.queue)
    assert message.body == "soon"
    bench.queue.delete(message)
    late = bench.queue.receive_message(NO_DELAY)
    assert late is None or monotonic() - began >= DELAY.total_seconds()
    while late is None:
        late = bench.later()
    assert late.body == "later"


def test_a_message_is_received_unchanged_and_never_redelivered_once_deleted(
    bench: QueueBench,
) -> None:
    """Also by a receiver that has waited for it."""
    body = '{"match": "ünï☃"}'
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(bench.queue.receive_message, timedelta(seconds=10))
        bench.queue.send(body)
        message = waiting.result(timeout=HANG_SECONDS)
    assert (message.body, message.receive_count) == (body, 1)
    assert message.message_id
    assert message.sent_at.utcoffset() == NO_DELAY
    bench.queue.delete(message)
    bench.queue.delete(message)
    assert bench.later() is None


def test_a_postponed_message_comes_back_when_it_was_postponed_to(bench: QueueBench) -> None:
    bench.queue.send("a")
    message = receive_message(bench.queue)
    bench.queue.change_visibility(message.receipt, timedelta(hours=1))
    assert bench.queue.receive_message(NO_DELAY) is None
    bench.queue.change_visibility(message.receipt, NO_DELAY)
    assert receive_message(bench.queue).receive_count == 2
    gone = bench.later()
    if gone is not None:
        bench.queue.delete(gone)
        bench.queue.change_visibility(gone.receipt, NO_DELAY)


def test_a_message_becomes_a_dead_letter_at_its_maximum_receive_count(bench: QueueBench) -> None:
    bench.queue.send("poison")
    counts = [receive_message(bench.queue).receive_count]
    assert bench.dead_letters.receive_message(NO_DELAY) is None
    while message := bench.later():
        counts.append(message.receive_count)
    assert counts == list(range(1, MAX_RECEIVES + 1))
    assert receive_message(bench.dead_letters).body == "poison"


def test_parallel_consumers_receive_every_message_exactly_once(bench: QueueBench) -> None:
    bodies = [str(number) for number in range(40)]
    for body in bodies:
        bench.queue.send(body)

    def drain(_number: int) -> list[str]:
        drained = []
        while message := bench.queue.receive_message(NO_DELAY):
            bench.queue.delete(message)
            drained.append(message.body)
        return drained

    received = (body for batch in run_concurrently(8, drain) for body in batch)
    assert sorted(received) == sorted(bodies)


def test_a_receipt_of_an_earlier_delivery_deletes_nothing() -> None:
    bench = in_memory()
    bench.queue.send("a")
    first = receive_message(bench.queue)
    second = bench.later()
    bench.queue.delete(first)
    assert second is not None
    assert bench.later() is None, "it was delivered twice and is a dead letter now"
    assert receive_message(bench.dead_letters).body == "a"


def test_the_memory_queue_behaves_as_the_template_says() -> None:
    properties = all_template_resources()["MatchQueue"]["Properties"]
    assert properties["VisibilityTimeout"] == USUAL_VISIBILITY.total_seconds()
    assert properties["RedrivePolicy"]["maxReceiveCount"] == USUAL_RECEIVES
