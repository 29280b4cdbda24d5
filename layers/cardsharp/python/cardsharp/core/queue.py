"""Message queue: its messages, and the port that SQS and the queue in memory implement."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

NO_DELAY = timedelta()


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery of a queued body; `receipt` belongs to this delivery only."""

    body: str
    message_id: str
    receipt: str
    receive_count: int
    sent_at: datetime


class Queue(Protocol):
    """A standard queue: delivery at least once, in no guaranteed order.

    A received message is invisible to others for the queue's visibility timeout. Unless it is
    deleted, it is delivered again, and after too many deliveries it becomes a dead letter.
    """

    def send(self, body: str, delay: timedelta = NO_DELAY) -> None:
        """Put a message at the end of the queue, to be received after `delay`: whole seconds."""

    def receive_message(self, wait_time: timedelta) -> Message | None:
        """Receive a visible message, waiting at most `wait_time` for one."""

    def change_visibility(self, receipt: str, delay: timedelta) -> None:
        """Have a received message visible again after `delay`; quiet if it is already gone."""

    def delete(self, message: Message) -> None:
        """Remove a received message for good; quiet if it is already gone."""
