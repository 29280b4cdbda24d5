"""Dead letters, which are messages that failed for good: list, redrive, drop.

Looking takes a message and gives it back at once, so a letter may be missing from a list while
somebody else looks. Replaying is safe at any time: the message names a match, and the worker
finds at the arena what is left to do.
"""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum

from pydantic import Field, computed_field

from cardsharp.aws.client import ConditionFailed, call_with_retries
from cardsharp.bot.queueing.messages import parse_match_message
from cardsharp.errors import ConfigError, InvalidInput
from cardsharp.games.deadmansdraw.arena.director_ticks import TickMessage
from cardsharp_tools.operations.stack import CamelCaseModel, Client, Stack, Timestamp

_VISIBILITY_TIMEOUT_SECONDS = (
    120  # seconds that a letter is invisible to others while we look; given back before
)

_MAX_BATCH_SIZE = 10


class DeadLetterQueueKind(Enum):
    """Kind of dead-letter queue; the value is the name of the stack output with its URL."""

    WORKER = "DeadLetterUrl"
    POLLER = "PollerDeadLetterUrl"
    DIRECTOR = "TickLetterUrl"

    def queue_url(self, stack: Stack) -> str:
        """Return the URL of the dead-letter queue; raise `ConfigError` if there is none."""
        if self is DeadLetterQueueKind.DIRECTOR and not stack.has_director:
            raise ConfigError(f"The stack {stack.name} has no arena, so it has no director.")
        return stack.output(self.value)

    def source_queue_url(self, stack: Stack) -> str:
        """Return the URL of the queue from which the letters came; raise `ConfigError`."""
        if self is DeadLetterQueueKind.POLLER:
            raise ConfigError(
                "Ticks of the poller cannot be redriven, because later ticks have "
                "replaced them. "
                "Use `cardsharp cloud dlq drop --poller`."
            )
        return (
            stack.ids["Ticks"]
            if self is DeadLetterQueueKind.DIRECTOR
            else stack.output("MatchQueueUrl")
        )


class DeadLetter(CamelCaseModel):
    """Dead letter; its `receipt` is valid for a short time."""

    letter_id: str = Field(serialization_alias="id")
    body: str
    sent_at: Timestamp
    receives: int
    receipt: str = Field(exclude=True)

    @computed_field(alias="match")  # type: ignore[prop-decorator]
    @property
    def match_id(self) -> str | None:
        """Id of the match in the letter, or None if the letter is not one of our messages."""
        try:
            return parse_match_message(self.body).match_id
        except InvalidInput:
            return None

    @property
    def director_tick_ticket(self) -> int | None:
        """Ticket of a director's tick, or None for another letter."""
        try:
            return TickMessage.parse(self.body).ticket
        except InvalidInput:
            return None

    def __str__(self) -> str:
        if self.match_id:
            return f"match {self.match_id}"
        tick = f"tick {self.director_tick_ticket} of the director"
        return "not a message that can be read" if self.director_tick_ticket is None else tick

    def is_readable(self, queue: DeadLetterQueueKind) -> bool:
        """Return True if the function that the queue belongs to can read the letter."""
        content = (
            self.director_tick_ticket if queue is DeadLetterQueueKind.DIRECTOR else self.match_id
        )
        return content is not None


def list_dead_letters(
    stack: Stack,
    letter_id: str | None = None,
    queue: DeadLetterQueueKind = DeadLetterQueueKind.WORKER,
) -> list[DeadLetter]:
    """Return the letters whose id begins with `letter_id`, or all, the oldest first."""
    with _reserve_letters(stack, queue.queue_url(stack), letter_id) as letters:
        return sorted(letters, key=lambda letter: letter.sent_at)


def redrive(
    stack: Stack, letter_id: str | None, queue: DeadLetterQueueKind = DeadLetterQueueKind.WORKER
) -> list[DeadLetter]:
    """Send a letter by its id, or all, back to the source queue, and delete them here.

    What is no message of ours stays where it is. A crash in between repeats a message, which
    changes nothing: a match is looked at anew, and an old tick finds its ticket gone. Raises
    `ConfigError` if there is no such letter, or nothing of this box is sent again.
    """
    sqs, target, url = stack.client("sqs"), queue.source_queue_url(stack), queue.queue_url(stack)
    with _reserve_letters(stack, url, letter_id) as letters:
        redrivable = [letter for letter in letters if letter.is_readable(queue)]
        if letter_id is not None and not redrivable:
            raise ConfigError(
                f"No function can read the message {letters[0].letter_id}, so it would fail again. "
                "See it with `cardsharp cloud dlq show`, and delete it with `cardsharp cloud dlq "
                "drop`."
            )
        for letter in redrivable:
            call_with_retries("queue", sqs.send_message, QueueUrl=target, MessageBody=letter.body)
            _delete_letter(stack, letter, url)
    return redrivable


def drop(
    stack: Stack, letter_id: str | None, queue: DeadLetterQueueKind = DeadLetterQueueKind.WORKER
) -> list[DeadLetter]:
    """Delete letters by the beginning of an id, or all for None; raise `ConfigError`."""
    with _reserve_letters(stack, queue.queue_url(stack), letter_id) as letters:
        for letter in letters:
            _delete_letter(stack, letter, queue.queue_url(stack))
    return letters


def _delete_letter(stack: Stack, letter: DeadLetter, url: str) -> None:
    delete = stack.client("sqs").delete_message
    call_with_retries("dead letters", delete, QueueUrl=url, ReceiptHandle=letter.receipt)


@contextlib.contextmanager
def _reserve_letters(stack: Stack, url: str, letter_id: str | None) -> Iterator[list[DeadLetter]]:
    """Yield the letter with this id, or all letters for None.

    Letters that are not deleted in the block return to the queue.
    """
    sqs = stack.client("sqs")
    letters = list(_receive_all(sqs, url).values())
    matching = [letter for letter in letters if letter.letter_id.startswith(letter_id or "")]
    try:
        if letter_id is not None and len(matching) != 1:
            many = "Several dead letters have" if matching else "No dead letter has"
            raise ConfigError(
                f"{many} an id that begins with {letter_id}. See `cardsharp cloud dlq list`."
            )
        yield matching
    finally:
        for letter in letters:
            request = {"QueueUrl": url, "ReceiptHandle": letter.receipt, "VisibilityTimeout": 0}
            with contextlib.suppress(ConditionFailed):  # it was deleted
                call_with_retries("dead letters", sqs.change_message_visibility, **request)


def _receive_all(sqs: Client, url: str) -> dict[str, DeadLetter]:
    """Return all letters by their ids; receive until no new letter comes."""
    letters_by_id: dict[str, DeadLetter] = {}
    while True:
        previous_count = len(letters_by_id)
        response = call_with_retries(
            "dead letters",
            sqs.receive_message,
            QueueUrl=url,
            MaxNumberOfMessages=_MAX_BATCH_SIZE,
            VisibilityTimeout=_VISIBILITY_TIMEOUT_SECONDS,
            WaitTimeSeconds=1,
            MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
        )
        for message in response.get("Messages", []):
            attributes = message["Attributes"]
            letters_by_id[message["MessageId"]] = DeadLetter(
                letter_id=message["MessageId"],
                body=message["Body"],
                sent_at=datetime.fromtimestamp(int(attributes["SentTimestamp"]) / 1000, UTC),
                receives=int(attributes["ApproximateReceiveCount"]),
                receipt=message["ReceiptHandle"],
            )
        if len(letters_by_id) == previous_count:
            return letters_by_id
