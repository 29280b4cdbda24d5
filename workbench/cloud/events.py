"""The events that AWS sends to our functions, and how it reads their answers."""

import hashlib
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from cardsharp.cloud.ports import Message

ACCOUNT = "000000000000"
REGION = "us-east-1"

Event = dict[str, object]


def schedule_event(at: datetime, schedule: str = "poller") -> Event:
    """What EventBridge Scheduler sends to a Lambda target without an input of its own."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": ACCOUNT,
        "time": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/{schedule}"],
        "detail": "{}",
    }


def sqs_event(messages: Sequence[Message], at: datetime) -> Event:
    """What an event source mapping sends for messages received at `at`."""
    return {"Records": [_record(message, at) for message in messages]}


def _record(message: Message, at: datetime) -> Event:
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": str(message.receive_count),
            "SentTimestamp": _millis(message.sent_at),
            "SenderId": ACCOUNT,
            "ApproximateFirstReceiveTimestamp": _millis(at),
        },
        "messageAttributes": {},
        "md5OfBody": hashlib.md5(message.body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:matches",
        "awsRegion": REGION,
    }


def _millis(at: datetime) -> str:
    return str(int(at.timestamp() * 1000))


def failed_ids(answer: object, sent: Sequence[str]) -> set[str]:
    """Which of the sent message ids a worker's answer reports as failed.

    By the rules of the event source mapping: no answer or an empty list of failures is a
    success of all, and anything unreadable or an unknown id is a failure of all.
    """
    failures = answer.get("batchItemFailures") if isinstance(answer, dict) else answer
    if failures is None:
        return set()
    found = failures if isinstance(answer, dict) and isinstance(failures, list) else [None]
    named = [one.get("itemIdentifier") if isinstance(one, dict) else None for one in found]
    return {str(name) for name in (named if all(one in sent for one in named) else sent)}
