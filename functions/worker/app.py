"""The worker: plays the matches that the queue names, each until it ends or time is up."""

import os
from datetime import timedelta
from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.cloud.settings import Settings
from cardsharp.cloud.telemetry import logger, meter, watch_retries
from cardsharp.deadmansdraw.assembly import assemble
from cardsharp.deadmansdraw.bot import Attended
from cardsharp.deadmansdraw.messages import parse_message, records_of
from cardsharp.errors import CardsharpError

watch_retries()


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Play the match of each record; the ids of those that failed go back to the queue.

    Raises:
        Malformed: the event is not one of SQS.
    """
    if not records_of(event):
        return {"batchItemFailures": []}
    try:
        return process_partial_response(
            event=event,
            record_handler=lambda record: attempt(record, context),
            processor=BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False),
            context=context,
        )
    finally:
        meter.flush()


def attempt(record: SQSRecord, context: LambdaContext) -> str:
    """`play`, with a log line where it fails: the batch answer itself tells only an id."""
    try:
        return play(record, context)
    except CardsharpError:
        logger.exception("a message failed", extra={"message_id": record.message_id})
        raise


def play(record: SQSRecord, context: LambdaContext) -> str:
    """Attend the match that a record names; how that ended.

    Raises:
        Malformed: the record names no match.
        CardsharpError: the match could not be attended.
    """
    match_id = parse_message(record.body).match_id
    assembly = assemble(Settings.load(os.environ), meter)

    def remaining() -> timedelta:
        return timedelta(milliseconds=context.get_remaining_time_in_millis())

    with assembly.bot(context.aws_request_id) as bot:
        attended = bot.attend(match_id, remaining)
    logger.info("attended", extra={"match_id": match_id, "attended": attended})
    if attended is Attended.HANDED_ON:
        with assembly.scout() as scout:
            scout.offer_one(match_id)
    return attended
