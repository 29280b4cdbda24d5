"""The worker: plays the matches that the queue names, each until it ends or time is up."""

import os
from contextlib import suppress
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

from cardsharp.aws.telemetry import (
    install_retry_counter,
    logger,
    metrics_recorder,
    set_invocation_log_context,
)
from cardsharp.bot.bootstrap import build_queue, warm_up_aws
from cardsharp.bot.queueing.messages import (
    is_retired_poll,
    parse_match_message,
    records_in_queue_event,
)
from cardsharp.bot.settings import WorkerSettings
from cardsharp.core.clock import SystemClock
from cardsharp.errors import CardsharpError, ConfigError, InvalidInput
from cardsharp.play.catalog import get_game, invocation_context
from cardsharp.play.game import RunSession

RETRY_DELAY = timedelta(seconds=45)  # until a failed message is received again

install_retry_counter()


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Play the match of each record; return the ids of the failed ones to the queue.

    Raises `InvalidInput` if the event is not one of SQS. Raises `ConfigError` if a setting
    cannot be used, so that no match can be played: Lambda counts the error.
    """
    set_invocation_log_context(context.aws_request_id)
    if not records_in_queue_event(event):
        return {"batchItemFailures": []}
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    try:
        response = process_partial_response(
            event=event,
            record_handler=lambda record: process_record(record, context),
            processor=processor,
            context=context,
        )
    finally:
        metrics_recorder.flush()
    for _, error, _ in processor.exceptions:
        if isinstance(error, ConfigError):
            raise error
    return response


def process_record(record: SQSRecord, context: LambdaContext) -> str:
    """Play the match that a record names and return how that ended.

    A failure is logged, because the batch response itself has only an
    id. Raises `InvalidInput` if the record names no match or `load_session_runner` raises it,
    else `CardsharpError` if the match could not be played.
    """
    about = {"message_id": record.message_id}
    try:
        if is_retired_poll(record.body):
            return "dropped"
        message = parse_match_message(record.body)
        about["match_id"] = message.match_id
        job = invocation_context(context, os.environ, metrics_recorder)
        result = load_session_runner(message.game)(message.match_id, job)
    except CardsharpError:
        logger.exception("a message failed", extra=about)
        return_to_queue(record, context)
        raise
    logger.info("attended", extra={"match_id": message.match_id, "attended": result})
    return result


def return_to_queue(record: SQSRecord, context: LambdaContext) -> None:
    """Make a failed message visible again soon, long before its visibility timeout."""
    with suppress(CardsharpError):  # otherwise it becomes visible by itself, only later
        queue = (
            invocation_context(context, os.environ, metrics_recorder)
            .load_settings(WorkerSettings)
            .queue
        )
        build_queue(queue, SystemClock()).change_visibility(record.receipt_handle, RETRY_DELAY)


def load_session_runner(name: str | None) -> RunSession:
    """Return the function that plays a match of the game with this name; None is the first game.

    Raises `InvalidInput` if there is no such game, or if the game has no bot for its matches.
    """
    game = get_game(name)
    if game.run_session is None:
        raise InvalidInput(f"Matches of {game.title} cannot be played: the game has no bot.")
    return game.run_session.load()


# Lambda gives a function a whole processor while it starts and only a part of one afterwards. So
# slow imports belong here.
load_session_runner(None)
warm_up_aws(os.environ)
