"""A function on this machine: the events and the context that it is given, and its answers."""

import hashlib
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from aws_lambda_powertools.utilities.typing import LambdaContext as PowertoolsContext

from cardsharp.core.clock import Clock
from cardsharp.core.queue import Message

ACCOUNT = "000000000000"
REGION = "us-east-1"
API_REQUEST_TIMEOUT = timedelta(seconds=29)  # of a function behind an API, as the templates set it

Event = dict[str, object]


def schedule_event(sent_at: datetime, schedule: str = "poller") -> Event:
    """Return the event that EventBridge Scheduler sends to a Lambda target without an input."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": ACCOUNT,
        "time": sent_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/{schedule}"],
        "detail": "{}",
    }


def sqs_event(messages: Sequence[Message], received_at: datetime) -> Event:
    """Return the event of an event source mapping with messages received at `received_at`."""
    return {"Records": [_build_sqs_record(message, received_at) for message in messages]}


def _build_sqs_record(message: Message, at: datetime) -> Event:
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": str(message.receive_count),
            "SentTimestamp": _to_epoch_millis(message.sent_at),
            "SenderId": ACCOUNT,
            "ApproximateFirstReceiveTimestamp": _to_epoch_millis(at),
        },
        "messageAttributes": {},
        "md5OfBody": hashlib.md5(message.body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:matches",
        "awsRegion": REGION,
    }


def _to_epoch_millis(timestamp: datetime) -> str:
    return str(int(timestamp.timestamp() * 1000))


def failed_message_ids(response: object, sent_ids: Sequence[str]) -> set[str]:
    """Return those of the sent message ids that a worker's answer reports as failed.

    By the rules of the event source mapping no answer or an empty list of failures is a success
    of all messages. Anything unreadable or an unknown id is a failure of all messages.
    """
    failures = response.get("batchItemFailures") if isinstance(response, dict) else response
    if failures is None:
        return set()
    failed_items = failures if isinstance(response, dict) and isinstance(failures, list) else [None]
    failed_ids = [
        item.get("itemIdentifier") if isinstance(item, dict) else None for item in failed_items
    ]
    return {
        str(name)
        for name in (
            failed_ids if all(message_id in sent_ids for message_id in failed_ids) else sent_ids
        )
    }


class LocalLambdaContext(PowertoolsContext):
    """Context that Lambda passes beside the event; its time limit runs from its creation."""

    def __init__(self, function_name: str, timeout: timedelta, clock: Clock) -> None:
        self._function_name = function_name
        self._function_version = "$LATEST"
        self._invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function_name}"
        self._memory_limit_in_mb = 512
        self._aws_request_id = str(uuid.uuid4())
        self._log_group_name = f"/aws/lambda/{function_name}"
        self._log_stream_name = "this-machine"
        self.clock = clock
        self._deadline = clock.monotonic() + timeout.total_seconds()

    # Powertools declares it static, Lambda's own is not.
    def get_remaining_time_in_millis(self) -> int:  # type: ignore[override]
        """The milliseconds until Lambda would kill the invocation, 0 when it is over."""
        return max(0, round((self._deadline - self.clock.monotonic()) * 1000))

    def expire(self) -> None:
        """Let the invocation's time run out now, so that its handler ends soon."""
        self._deadline = self.clock.monotonic()


LambdaHandler = Callable[[Event, LocalLambdaContext], object]  # in this process, or elsewhere


@dataclass(frozen=True, slots=True)
class LambdaFunction:
    """Lambda function as template.yaml deploys it."""

    name: str
    handler: LambdaHandler
    timeout: timedelta = timedelta(seconds=60)

    def context(self, clock: Clock) -> LocalLambdaContext:
        """The context of a new invocation."""
        return LocalLambdaContext(self.name, self.timeout, clock)


@dataclass(frozen=True, slots=True)
class InvocationResult:
    """Result of an invocation that has ended; `error` is a sentence, or None for a success."""

    function: str
    event: Event
    response: object
    error: str | None


Observer = Callable[[InvocationResult], None]


def failure_observer(notify: Callable[[str], None]) -> Observer:
    """Return an observer that reports each failed invocation."""

    def observe(invocation: InvocationResult) -> None:
        if invocation.error is not None:
            notify(f"The {invocation.function} failed and will run again: {invocation.error}")

    return observe


def invoke(function: LambdaFunction, event: Event, context: LocalLambdaContext) -> InvocationResult:
    """Invoke a function and return the outcome, whatever the function raised.

    The event and the response are converted to JSON and back, as in Lambda.
    """
    began = context.clock.monotonic()
    result, error = None, None
    try:
        payload: Event = json.loads(json.dumps(event))
        result = json.loads(json.dumps(function.handler(payload, context)))
    except Exception as failure:  # noqa: BLE001 - the boundary that Lambda itself is
        error = f"{type(failure).__name__}: {failure}"
    if error is None and context.clock.monotonic() - began > function.timeout.total_seconds():
        result, error = None, f"Task timed out after {function.timeout.total_seconds():.2f} seconds"
    return InvocationResult(function.name, event, result, error)
