"""Contract tests of every queue: delivery, visibility, receive count, dead letters."""

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


EMULATOR_VISIBILITY = timedelta(minutes=10)
"""The visibility timeout on the emulator, whose clock is real: no busy machine makes a message come
back by itself before it is deleted."""
DELAY = timedelta(seconds=2)


class QueueBench(NamedTuple):
    """A queue with its dead letters; `receive_redelivered` gets messages that time out."""

    queue: Queue
    dead_letters: Queue
    receive_redelivered: Callable[[], Message | None]


def create_memory_queue() -> QueueBench:
    clock = FakeClock()
    dead_letters = MemoryQueue(clock, VISIBILITY)
    queue = MemoryQueue(clock, VISIBILITY, dead_letters, MAX_RECEIVES)

    def receive_redelivered() -> Message | None:
        clock.advance(VISIBILITY)
        return queue.receive_message(NO_DELAY)

    return QueueBench(queue, dead_letters, receive_redelivered)


class ReceiptTrackingQueue(SqsQueue):
    """SQS queue that can make all received messages visible again, as after their timeout."""

    def __init__(self, url: str, client: "SQSClient") -> None:
        super().__init__(url, client)
        self._receipts: list[str] = []

    def receive_message(self, wait_time: timedelta) -> Message | None:
        message = super().receive_message(wait_time)
        self._receipts += [] if message is None else [message.receipt]
        return message

    def receive_redelivered(self) -> Message | None:
        while self._receipts:
            self.change_visibility(self._receipts.pop(), NO_DELAY)
        return self.receive_message(timedelta(seconds=2))


def create_emulated_queue(emulator: Emulator) -> QueueBench:
    sqs, name = emulator.client("sqs"), str(uuid.uuid4())
    dead_letter_url = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    policy = {
        "deadLetterTargetArn": queue_arn(sqs, dead_letter_url),
        "maxReceiveCount": MAX_RECEIVES,
    }
    attributes = {
        "VisibilityTimeout": str(int(EMULATOR_VISIBILITY.total_seconds())),
        "RedrivePolicy": json.dumps(policy),
    }
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    queue = ReceiptTrackingQueue(url, sqs)
    return QueueBench(queue, SqsQueue(dead_letter_url, sqs), queue.receive_redelivered)


@pytest.fixture(params=["memory", "ministack"])
def bench(request: pytest.FixtureRequest) -> QueueBench:
    is_in_memory = request.param == "memory"
    return (
        create_memory_queue()
        if is_in_memory
        else create_emulated_queue(request.getfixturevalue("emulator"))
    )


def test_a_message_with_a_delay_is_received_after_it(bench: QueueBench) -> None:
    start_seconds = monotonic()
    bench.queue.send("later", DELAY)
    bench.queue.send("soon")
    message = receive_message(bench.queue)
    assert message.body == "soon"
    bench.queue.delete(message)
    delayed_message = bench.queue.receive_message(NO_DELAY)
    assert delayed_message is None or monotonic() - start_seconds >= DELAY.total_seconds()
    while delayed_message is None:
        delayed_message = bench.receive_redelivered()
    assert delayed_message.body == "later"


def test_a_message_is_received_unchanged_and_never_redelivered_once_deleted(
    bench: QueueBench,
) -> None:
    """A receiver that waits for the message gets it unchanged."""
    body = '{"match": "ünï☃"}'
    with ThreadPoolExecutor(1) as pool:
        receive_task = pool.submit(bench.queue.receive_message, timedelta(seconds=10))
        bench.queue.send(body)
        message = receive_task.result(timeout=HANG_SECONDS)
    assert (message.body, message.receive_count) == (body, 1)
    assert message.message_id
    assert message.sent_at.utcoffset() == NO_DELAY
    bench.queue.delete(message)
    bench.queue.delete(message)
    assert bench.receive_redelivered() is None


def test_a_message_is_redelivered_when_its_visibility_changes(bench: QueueBench) -> None:
    bench.queue.send("a")
    message = receive_message(bench.queue)
    bench.queue.change_visibility(message.receipt, timedelta(hours=1))
    assert bench.queue.receive_message(NO_DELAY) is None
    bench.queue.change_visibility(message.receipt, NO_DELAY)
    assert receive_message(bench.queue).receive_count == 2
    redelivered_message = bench.receive_redelivered()
    if redelivered_message is not None:
        bench.queue.delete(redelivered_message)
        bench.queue.change_visibility(redelivered_message.receipt, NO_DELAY)


def test_a_message_becomes_a_dead_letter_at_its_maximum_receive_count(bench: QueueBench) -> None:
    bench.queue.send("poison")
    counts = [receive_message(bench.queue).receive_count]
    assert bench.dead_letters.receive_message(NO_DELAY) is None
    while message := bench.receive_redelivered():
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

    received_bodies = (body for batch in run_concurrently(8, drain) for body in batch)
    assert sorted(received_bodies) == sorted(bodies)


def test_a_receipt_of_an_earlier_delivery_deletes_nothing() -> None:
    bench = create_memory_queue()
    bench.queue.send("a")
    first_delivery = receive_message(bench.queue)
    second_delivery = bench.receive_redelivered()
    bench.queue.delete(first_delivery)
    assert second_delivery is not None
    assert bench.receive_redelivered() is None, "it was delivered twice and is a dead letter now"
    assert receive_message(bench.dead_letters).body == "a"


def test_the_memory_queue_behaves_as_the_template_says() -> None:
    properties = all_template_resources()["MatchQueue"]["Properties"]
    assert properties["VisibilityTimeout"] == USUAL_VISIBILITY.total_seconds()
    assert properties["RedrivePolicy"]["maxReceiveCount"] == USUAL_RECEIVES
