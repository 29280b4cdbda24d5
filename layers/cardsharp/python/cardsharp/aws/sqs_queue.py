"""The queue on SQS; visibility timeout and dead letters are properties of the queue there."""

import math
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from cardsharp.aws.client import (
    RESPONSE_TIMEOUT_SECONDS,
    ConditionFailed,
    call_with_retries,
    client,
)
from cardsharp.core.queue import NO_DELAY, Message

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient

_MAX_WAIT_SECONDS = 20  # limit of SQS


class SqsQueue:
    """A `Queue` on the standard SQS queue at `url`, in the region of AWS_DEFAULT_REGION.

    Without `client` one is made when it is first needed.
    """

    def __init__(self, url: str, client: "SQSClient | None" = None) -> None:
        self._url = url
        self._injected_client = client
        self._resource_name = f"SQS queue {url.rpartition('/')[2]}"

    @cached_property
    def _client(self) -> "SQSClient":
        return self._injected_client or client("sqs", RESPONSE_TIMEOUT_SECONDS)

    @cached_property
    def _long_poll_client(self) -> "SQSClient":
        return self._injected_client or client("sqs", _MAX_WAIT_SECONDS + RESPONSE_TIMEOUT_SECONDS)

    def send(self, body: str, delay: timedelta = NO_DELAY) -> None:
        """Put a message at the end of the queue, to be received after whole seconds up to 900."""
        call_with_retries(
            self._resource_name,
            self._client.send_message,
            QueueUrl=self._url,
            MessageBody=body,
            DelaySeconds=math.ceil(delay.total_seconds()),
        )

    def receive_message(self, wait_time: timedelta) -> Message | None:
        """Receive a visible message, waiting at most `wait_time`, in whole seconds up to 20."""
        seconds = min(math.ceil(wait_time.total_seconds()), _MAX_WAIT_SECONDS)
        response = call_with_retries(
            self._resource_name,
            self._long_poll_client.receive_message,
            QueueUrl=self._url,
            MaxNumberOfMessages=1,
            WaitTimeSeconds=seconds,
            MessageSystemAttributeNames=["ApproximateReceiveCount", "SentTimestamp"],
        )
        for message in response.get("Messages", []):
            attributes = message["Attributes"]
            return Message(
                body=message["Body"],
                message_id=message["MessageId"],
                receipt=message["ReceiptHandle"],
                receive_count=int(attributes["ApproximateReceiveCount"]),
                sent_at=datetime.fromtimestamp(int(attributes["SentTimestamp"]) / 1000, UTC),
            )
        return None

    def change_visibility(self, receipt: str, delay: timedelta) -> None:
        """Have a received message visible again after whole seconds; quiet if it is gone."""
        with suppress(ConditionFailed):
            call_with_retries(
                self._resource_name,
                self._client.change_message_visibility,
                QueueUrl=self._url,
                ReceiptHandle=receipt,
                VisibilityTimeout=math.ceil(delay.total_seconds()),
            )

    def delete(self, message: Message) -> None:
        """Remove a received message for good; quiet if it is already gone."""
        request = {"QueueUrl": self._url, "ReceiptHandle": message.receipt}
        with suppress(ConditionFailed):
            call_with_retries(self._resource_name, self._client.delete_message, **request)
