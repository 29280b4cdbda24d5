"""A queue in this process's memory, with the visibility and dead letters of SQS.

Losing it loses nothing: the poller finds every match that nobody attends again.
"""

import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cardsharp.cloud.ports import NOW, Clock, Message

VISIBILITY = timedelta(minutes=30)  # six times the worker's timeout, as in template.yaml
MAX_RECEIVES = 5  # deliveries before a message is a dead letter, as in template.yaml


@dataclass(frozen=True, slots=True)
class Redrive:
    """Where messages go after `max_receives` deliveries without a delete."""

    max_receives: int
    dead_letters: "MemoryQueue"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A message in the queue; visible from the monotonic second `visible_at` on."""

    body: str
    message_id: str
    sent_at: datetime
    visible_at: float
    receipt: str = ""
    receives: int = 0


class MemoryQueue:
    """A thread-safe `Queue`; without `redrive` a message comes back for ever."""

    def __init__(
        self, clock: Clock, visibility: timedelta = VISIBILITY, redrive: Redrive | None = None
    ) -> None:
        self._clock = clock
        self._visibility = visibility.total_seconds()
        self._redrive = redrive
        self._changed = threading.Condition()
        self._entries: dict[str, _Entry] = {}

    def __len__(self) -> int:
        with self._changed:
            return len(self._entries)

    @property
    def visible(self) -> int:
        """How many messages anybody could receive now; the others are in flight."""
        with self._changed:
            now = self._clock.monotonic()
            return sum(entry.visible_at <= now for entry in self._entries.values())

    def send(self, body: str, delay: timedelta = NOW) -> None:
        """Put a message at the end of the queue and wake one receiver."""
        visible_at = self._clock.monotonic() + delay.total_seconds()
        entry = _Entry(body, str(uuid.uuid4()), self._clock.now(), visible_at)
        with self._changed:
            self._entries[entry.message_id] = entry
            self._changed.notify()

    def send_all(self, messages: Sequence[tuple[str, timedelta]]) -> None:
        """Put bodies with their delays on the queue."""
        for body, delay in messages:
            self.send(body, delay)

    def receive(self, wait: timedelta) -> Message | None:
        """Receive a visible message, waiting at most `wait` for one to be sent or to come back."""
        deadline = self._clock.monotonic() + wait.total_seconds()
        with self._changed:
            while (message := self._take()) is None:
                now = self._clock.monotonic()
                if now >= deadline:
                    return None
                due = min([deadline, *(entry.visible_at for entry in self._entries.values())])
                self._clock.wait(self._changed, timedelta(seconds=max(0.0, due - now)))
            return message

    def postpone(self, receipt: str, delay: timedelta) -> None:
        """Have the message of this receipt visible again after `delay`; quiet if it is gone."""
        with self._changed:
            visible_at = self._clock.monotonic() + delay.total_seconds()
            for name, entry in self._entries.items():
                if entry.receipt == receipt:
                    self._entries[name] = replace(entry, visible_at=visible_at)
            self._changed.notify()

    def delete(self, message: Message) -> None:
        """Remove the message if this receipt is its latest, as SQS does; quiet otherwise."""
        with self._changed:
            entry = self._entries.get(message.message_id)
            if entry is not None and entry.receipt == message.receipt:
                del self._entries[message.message_id]

    def _take(self) -> Message | None:
        """Take the first visible entry as newly delivered; the lock is held."""
        now = self._clock.monotonic()
        for entry in [entry for entry in self._entries.values() if entry.visible_at <= now]:
            if self._redrive is not None and entry.receives >= self._redrive.max_receives:
                del self._entries[entry.message_id]
                self._redrive.dead_letters.send(entry.body)
                continue
            receipt, receives = str(uuid.uuid4()), entry.receives + 1
            until = now + self._visibility
            self._entries[entry.message_id] = replace(
                entry, receives=receives, receipt=receipt, visible_at=until
            )
            return Message(entry.body, entry.message_id, receipt, receives, entry.sent_at)
        return None


_queues: dict[str, MemoryQueue] = {}
_queues_lock = threading.Lock()


def named(name: str, clock: Clock) -> MemoryQueue:
    """This process's queue of that name and NAME-dead; the first caller's clock stays its clock."""
    with _queues_lock:
        dead = _queues.setdefault(f"{name}-dead", MemoryQueue(clock))
        made = MemoryQueue(clock, redrive=Redrive(MAX_RECEIVES, dead))
        return _queues.setdefault(name, made)


def register(name: str, queue: MemoryQueue) -> None:
    """Make `queue` the one that `named` returns, for a home or a test with other timings."""
    with _queues_lock:
        _queues[name] = queue
