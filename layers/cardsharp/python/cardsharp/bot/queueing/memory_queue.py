"""A queue in this process's memory, with the visibility and dead letters of SQS.

Losing it loses nothing: the poller finds every match that nobody attends again.
"""

import threading
import uuid
from dataclasses import replace
from datetime import timedelta

from cardsharp.core.clock import Clock
from cardsharp.core.queue import NO_DELAY, Message

VISIBILITY_TIMEOUT = timedelta(minutes=30)  # six times the worker's timeout, as in template.yaml
MAX_RECEIVES = 5  # deliveries before a message is a dead letter, as in template.yaml


class MemoryQueue:
    """A thread-safe `Queue`; messages received too often become dead letters.

    After `max_receive_count` deliveries without a delete a message moves to
    `dead_letter_queue`. Without such a queue it comes back for ever.
    """

    def __init__(
        self,
        clock: Clock,
        visibility_timeout: timedelta = VISIBILITY_TIMEOUT,
        dead_letter_queue: "MemoryQueue | None" = None,
        max_receive_count: int = MAX_RECEIVES,
    ) -> None:
        self._clock = clock
        self._visibility_seconds = visibility_timeout.total_seconds()
        self._dead_letters, self._max_receives = dead_letter_queue, max_receive_count
        self._condition = threading.Condition()
        self._entries: dict[str, tuple[Message, float]] = {}
        """With the monotonic second from which on each message is visible."""

    def __len__(self) -> int:
        with self._condition:
            return len(self._entries)

    @property
    def visible_count(self) -> int:
        """Number of messages that can be received at the moment; all others are in flight."""
        with self._condition:
            current_time = self._clock.monotonic()
            return sum(visible_at <= current_time for _, visible_at in self._entries.values())

    def send(self, body: str, delay: timedelta = NO_DELAY) -> None:
        """Put a message at the end of the queue and wake one receiver."""
        visible_at = self._clock.monotonic() + delay.total_seconds()
        message = Message(body, str(uuid.uuid4()), "", 0, self._clock.now())
        with self._condition:
            self._entries[message.message_id] = message, visible_at
            self._condition.notify()

    def receive_message(self, wait_time: timedelta) -> Message | None:
        """Receive a visible message, waiting at most `wait_time` for one to arrive or return."""
        deadline = self._clock.monotonic() + wait_time.total_seconds()
        with self._condition:
            while (message := self._deliver_next()) is None:
                current_time = self._clock.monotonic()
                if current_time >= deadline:
                    return None
                due = min([deadline, *(visible_at for _, visible_at in self._entries.values())])
                self._clock.wait(self._condition, timedelta(seconds=max(0.0, due - current_time)))
            return message

    def change_visibility(self, receipt: str, delay: timedelta) -> None:
        """Have the message of this receipt visible again after `delay`; quiet if it is gone."""
        with self._condition:
            visible_at = self._clock.monotonic() + delay.total_seconds()
            for name, (message, _) in self._entries.items():
                if message.receipt == receipt:
                    self._entries[name] = message, visible_at
            self._condition.notify()

    def delete(self, message: Message) -> None:
        """Remove the message if this receipt is its latest, as SQS does; quiet otherwise."""
        with self._condition:
            entry = self._entries.get(message.message_id)
            if entry is not None and entry[0].receipt == message.receipt:
                del self._entries[message.message_id]

    def _deliver_next(self) -> Message | None:
        """Mark the first visible entry as delivered and return it; the caller holds the lock."""
        current_time = self._clock.monotonic()
        for message in [
            candidate
            for candidate, visible_at in self._entries.values()
            if visible_at <= current_time
        ]:
            name, receives = message.message_id, message.receive_count
            if self._dead_letters is not None and receives >= self._max_receives:
                del self._entries[name]
                self._dead_letters.send(message.body)
                continue
            delivered = replace(message, receive_count=receives + 1, receipt=str(uuid.uuid4()))
            self._entries[name] = delivered, current_time + self._visibility_seconds
            return delivered
        return None


_queues: dict[str, MemoryQueue] = {}
_queues_lock = threading.Lock()


def get_queue(name: str, clock: Clock) -> MemoryQueue:
    """This process's queue of that name and NAME-dead; the first caller's clock stays its clock."""
    with _queues_lock:
        dead_letters = _queues.setdefault(f"{name}-dead", MemoryQueue(clock))
        return _queues.setdefault(name, MemoryQueue(clock, dead_letter_queue=dead_letters))


def register_queue(name: str, queue: MemoryQueue) -> None:
    """Make `get_queue` return `queue`, for a local run or a test with other timings."""
    with _queues_lock:
        _queues[name] = queue
