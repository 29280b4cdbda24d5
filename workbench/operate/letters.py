"""Dead letters: messages that failed for good, looked at, sent once more, or dropped.

Looking takes a message and gives it back at once, so a letter may be missing from a list while
somebody else looks. Replaying is safe at any time: the message names a match, and the worker
finds at the arena what is left to do.
"""

import contextlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum

from pydantic import Field, computed_field

from cardsharp.cloud.aws import Unmet, call
from cardsharp.deadmansdraw.arena.ticks import Tick
from cardsharp.errors import ConfigError, Malformed
from workbench.operate.stack import Client, Moment, OperatorView, Stack

_HIDDEN = 120  # seconds that a letter is invisible to others while we look; given back before

_BATCH = 10


class LetterBox(Enum):
    """Whose dead letters; the value is the output that tells their queue."""

    WORKER = "DeadLetterUrl"
    POLLER = "PollerDeadLetterUrl"
    DIRECTOR = "TickLetterUrl"

    def letters(self, stack: Stack) -> str:
        """The URL of their queue; raises `ConfigError` where the stack has none."""
        if self is LetterBox.DIRECTOR and not stack.has_director:
            raise ConfigError(f"The stack {stack.name} has no arena, so no director.")
        return stack.output(self.value)

    def target(self, stack: Stack) -> str:
        """The URL of the queue that they came from; raises `ConfigError` where there is none."""
        if self is LetterBox.POLLER:
            raise ConfigError("A tick of the poller is not sent again: the next has long come.")
        return stack.ids["Ticks"] if self is LetterBox.DIRECTOR else stack.output("MatchQueueUrl")


class Letter(OperatorView):
    """One dead letter; `receipt` is good for a short while."""

    letter_id: str = Field(serialization_alias="id")
    body: str
    sent_at: Moment
    receives: int
    receipt: str = Field(exclude=True)

    @computed_field(alias="match")  # type: ignore[prop-decorator]
    @property
    def match_id(self) -> str | None:
        """The match that the letter is about, None for what is no message of ours."""
        try:
            told = json.loads(self.body)
        except ValueError:
            return None
        return told.get("match_id") if isinstance(told, dict) else None

    @property
    def ticket(self) -> int | None:
        """The ticket of a director's tick, None for what is no tick."""
        try:
            return Tick.parse(self.body).ticket
        except Malformed:
            return None

    def __str__(self) -> str:
        if self.match_id:
            return f"match {self.match_id}"
        tick = f"tick {self.ticket} of the director"
        return "no message of ours" if self.ticket is None else tick


def list_letters(
    stack: Stack, wanted: str | None = None, box: LetterBox = LetterBox.WORKER
) -> list[Letter]:
    """The letter of an id or its beginning, all for None, the oldest first; or `ConfigError`."""
    with _held(stack, box.letters(stack), wanted) as letters:
        return sorted(letters, key=lambda letter: letter.sent_at)


def replay(stack: Stack, wanted: str | None, box: LetterBox = LetterBox.WORKER) -> list[Letter]:
    """Send letters to the queue that they came from and delete them: one by its id, all for None.

    What is no message of ours stays where it is. A crash in between repeats a message, which
    changes nothing: a match is looked at anew, and an old tick finds its ticket gone. Raises
    `ConfigError` if there is no such letter, or nothing of this box is sent again.
    """
    sqs, target, url = stack.client("sqs"), box.target(stack), box.letters(stack)
    with _held(stack, url, wanted) as letters:
        named = "ticket" if box is LetterBox.DIRECTOR else "match_id"
        ours = [one for one in letters if getattr(one, named) is not None]
        for letter in ours:
            call("queue", sqs.send_message, QueueUrl=target, MessageBody=letter.body)
            _delete(stack, letter, url)
    return ours


def drop(stack: Stack, wanted: str | None, box: LetterBox = LetterBox.WORKER) -> list[Letter]:
    """Delete letters, one by an id or its beginning, all for None; raises `ConfigError`."""
    with _held(stack, box.letters(stack), wanted) as letters:
        for letter in letters:
            _delete(stack, letter, box.letters(stack))
    return letters


def _delete(stack: Stack, letter: Letter, url: str) -> None:
    delete = stack.client("sqs").delete_message
    call("dead letters", delete, QueueUrl=url, ReceiptHandle=letter.receipt)


@contextlib.contextmanager
def _held(stack: Stack, url: str, wanted: str | None) -> Iterator[list[Letter]]:
    """Yield the letter that is wanted, all for None; what is not deleted is given back."""
    sqs = stack.client("sqs")
    letters = list(_received(sqs, url).values())
    found = [one for one in letters if one.letter_id.startswith(wanted or "")]
    try:
        if wanted is not None and len(found) != 1:
            many = "several letters begin" if found else "no letter begins"
            raise ConfigError(f"There {many} with {wanted}; see `cardsharp cloud dlq list`.")
        yield found
    finally:
        for letter in letters:
            told = {"QueueUrl": url, "ReceiptHandle": letter.receipt, "VisibilityTimeout": 0}
            with contextlib.suppress(Unmet):  # it was deleted
                call("dead letters", sqs.change_message_visibility, **told)


def _received(sqs: Client, url: str) -> dict[str, Letter]:
    """All letters by their ids: received until nothing new comes."""
    found: dict[str, Letter] = {}
    while True:
        known = len(found)
        answer = call(
            "dead letters",
            sqs.receive_message,
            QueueUrl=url,
            MaxNumberOfMessages=_BATCH,
            VisibilityTimeout=_HIDDEN,
            WaitTimeSeconds=1,
            MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
        )
        for message in answer.get("Messages", []):
            told = message["Attributes"]
            found[message["MessageId"]] = Letter(
                letter_id=message["MessageId"],
                body=message["Body"],
                sent_at=datetime.fromtimestamp(int(told["SentTimestamp"]) / 1000, UTC),
                receives=int(told["ApproximateReceiveCount"]),
                receipt=message["ReceiptHandle"],
            )
        if len(found) == known:
            return found
