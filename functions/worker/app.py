"""The worker: plays the matches that the queue names, each until it ends or time is up.

A message may also request one poll of the arena, which takes a moment.
"""

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

from cardsharp.aws.telemetry import count_retries, logger, metrics_recorder, start_invocation
from cardsharp.bot.bootstrap import build_queue, warm_up_aws
from cardsharp.bot.queueing.messages import (
    PollMessage,
    parse_match_message,
    parse_poll_message,
    queue_records,
)
from cardsharp.bot.settings import WorkerSettings
from cardsharp.core.clock import SystemClock
from cardsharp.core.metrics import Metrics
from cardsharp.errors import CardsharpError, ConfigError, InvalidInput
from cardsharp.play.catalog import all_games, get_game, invocation_context
from cardsharp.play.game import RunSession

RETRY_DELAY = timedelta(seconds=45)  # until a failed message is received again

_UNHEARD = Metrics()

count_retries()


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Play the match of each record; return the ids of the failed ones to the queue.

    Raises `InvalidInput` if the event is not one of SQS. Raises `ConfigError` if a setting
    cannot be used, so that no match can be played: Lambda counts the error.
    """
    start_invocation(context.aws_request_id)
    if not queue_records(event):
        return {"batchItemFailures": []}
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    try:
        answer = process_partial_response(
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
    return answer


def process_record(record: SQSRecord, context: LambdaContext) -> str:
    """Play the match that a record names, or poll the arena if it asks for that.

    Return how that ended. A failure is logged, because the batch response itself has only an
    id. Raises `InvalidInput` if the record names no match or `load_session_runner` raises it,
    else `CardsharpError` if the match could not be played.
    """
    about = {"message_id": record.message_id}
    try:
        if (due := parse_poll_message(record.body)) is not None:
            return poll_arena_once(due, context)
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


def poll_arena_once(message: PollMessage, context: LambdaContext) -> str:
    """Poll the arena once and return the result.

    A failed poll is not repeated, because another one follows. Its metrics are dropped: the
    poller reports those of each minute, and every metric line costs money.
    """
    job = invocation_context(context, os.environ, metrics_recorder)._replace(metrics=_UNHEARD)
    looking = next(game.poll_once for game in all_games() if game.poll_once is not None).load()
    try:
        return f"offered {looking(message, job)}"
    except ConfigError:
        raise
    except CardsharpError as error:
        logger.warning("a poll of the arena failed: %s", error)
        return "failed"


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
