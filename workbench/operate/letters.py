"""Dead letters: messages that failed for good, looked at, sent once more, or dropped.

Looking takes a message and gives it back at once, so a letter may be missing from a list while
somebody else looks. Replaying is safe at any time: the message names a match, and the worker
finds at the arena what is left to do.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from cardsharp.cloud.aws import Unmet, call
from cardsharp.errors import ConfigError
from workbench.operate.stack import Client, Stack

_HIDDEN = 120
"""Seconds that a letter is invisible to others while we look; given back before."""

_BATCH = 10


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter; `receipt` is good for a short while."""

    letter_id: str
    body: str
    sent_at: datetime
    receives: int
    receipt: str

    @property
    def match_id(self) -> str | None:
        """The match that the letter is about, None for what is no message of ours."""
        try:
            told = json.loads(self.body)
        except ValueError:
            return None
        return told.get("match_id") if isinstance(told, dict) else None

    def document(self) -> dict[str, object]:
        """The letter as a JSON document."""
        return {
            "id": self.letter_id,
            "match": self.match_id,
            "sentAt": self.sent_at.isoformat(),
            "receives": self.receives,
            "body": self.body,
        }


def list_letters(stack: Stack, *, ticks: bool = False) -> list[Letter]:
    """All letters of the worker, or of the poller's failed ticks; the oldest first."""
    with _held(stack, _url(ticks=ticks)) as letters:
        return sorted(letters, key=lambda letter: letter.sent_at)


def find_letter(stack: Stack, letter_id: str, *, ticks: bool = False) -> Letter:
    """The letter of that id, or of that beginning of one.

    Raises:
        ConfigError: there is none, or several.
    """
    return _the_one(list_letters(stack, ticks=ticks), letter_id)


def replay(stack: Stack, wanted: str | None) -> list[Letter]:
    """Send letters to the match queue again and delete them: the one of an id, or all for None.

    What is no message of ours stays where it is. A crash in between repeats a message, which
    changes nothing.

    Raises:
        ConfigError: there is no such letter.
    """
    sqs, target = stack.client("sqs"), stack.output("MatchQueueUrl")
    with _held(stack, _url(ticks=False)) as letters:
        sent = [one for one in _chosen(letters, wanted) if one.match_id is not None]
        for letter in sent:
            call("match queue", sqs.send_message, QueueUrl=target, MessageBody=letter.body)
            _delete(stack, letter, _url(ticks=False))
    return sent


def drop(stack: Stack, wanted: str | None, *, ticks: bool = False) -> list[Letter]:
    """Delete letters: the one of an id or the beginning of one, or all for None.

    Raises:
        ConfigError: there is no such letter, or there are several.
    """
    with _held(stack, _url(ticks=ticks)) as letters:
        dropped = _chosen(letters, wanted)
        for letter in dropped:
            _delete(stack, letter, _url(ticks=ticks))
    return dropped


def _chosen(letters: list[Letter], wanted: str | None) -> list[Letter]:
    return letters if wanted is None else [_the_one(letters, wanted)]


def _the_one(letters: list[Letter], letter_id: str) -> Letter:
    found = [one for one in letters if one.letter_id.startswith(letter_id)]
    if len(found) != 1:
        many = "several letters begin" if found else "no letter begins"
        raise ConfigError(f"There {many} with {letter_id}; see `cardsharp cloud dlq list`.")
    return found[0]


def _delete(stack: Stack, letter: Letter, output: str) -> None:
    delete = stack.client("sqs").delete_message
    call("dead letters", delete, QueueUrl=stack.output(output), ReceiptHandle=letter.receipt)


def _url(*, ticks: bool) -> str:
    return "PollerDeadLetterUrl" if ticks else "DeadLetterUrl"


@contextlib.contextmanager
def _held(stack: Stack, output: str) -> Iterator[list[Letter]]:
    """Yield all letters of a queue; those that are not deleted meanwhile are given back."""
    sqs, url = stack.client("sqs"), stack.output(output)
    letters = list(_received(sqs, url).values())
    try:
        yield letters
    finally:
        for letter in letters:
            # Unmet: it was deleted.
            with contextlib.suppress(Unmet):
                call(
                    "dead letters",
                    sqs.change_message_visibility,
                    QueueUrl=url,
                    ReceiptHandle=letter.receipt,
                    VisibilityTimeout=0,
                )


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
