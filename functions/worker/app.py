"""The worker: plays the matches that the queue names, each until it ends or time is up.

A message may also say that a look at the arena is due, which costs a moment.
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

from cardsharp.cloud.adapters import build_queue, prepare
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.messages import LookMessage, parse_look, parse_message, records_of
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.telemetry import begin, logger, meter, watch_retries
from cardsharp.errors import CardsharpError, ConfigError, Malformed
from cardsharp.game import Attend
from cardsharp.games import game, games, job_of

AGAIN = timedelta(seconds=45)  # how long a message that failed is out of sight

_UNHEARD = Meter()

watch_retries()


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Play the match of each record; the ids of those that failed go back to the queue.

    Raises `Malformed` if the event is not one of SQS. Raises `ConfigError` if a setting cannot be
    used, so that no match can be played: Lambda counts the error.
    """
    begin(context.aws_request_id)
    if not records_of(event):
        return {"batchItemFailures": []}
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    try:
        answer = process_partial_response(
            event=event,
            record_handler=lambda record: attempt(record, context),
            processor=processor,
            context=context,
        )
    finally:
        meter.flush()
    for _, error, _ in processor.exceptions:
        if isinstance(error, ConfigError):
            raise error
    return answer


def attempt(record: SQSRecord, context: LambdaContext) -> str:
    """Attend the match that a record names, or look where one is due; how that ended.

    A failure is logged, for the batch answer itself tells only an id. Raises `Malformed` if the
    record names no match or as `attending`, else `CardsharpError` if it could not be attended.
    """
    about = {"message_id": record.message_id}
    try:
        if (due := parse_look(record.body)) is not None:
            return look(due, context)
        message = parse_message(record.body)
        about["match_id"] = message.match_id
        job = job_of(context, os.environ, meter)
        attended = attending(message.game)(message.match_id, job)
    except CardsharpError:
        logger.exception("a message failed", extra=about)
        postpone(record, context)
        raise
    logger.info("attended", extra={"match_id": message.match_id, "attended": attended})
    return attended


def postpone(record: SQSRecord, context: LambdaContext) -> None:
    """Have a message that failed received again soon, long before its worker would time out."""
    with suppress(CardsharpError):  # it comes back by itself, only later
        queue = job_of(context, os.environ, meter).settings(Workplace).queue
        build_queue(queue, SystemClock()).postpone(record.receipt_handle, AGAIN)


def look(due: LookMessage, context: LambdaContext) -> str:
    """Look at the arena once; what came of it. A look that failed is not repeated: another follows.

    Its figures are left out: the poller tells those of a minute, and each is paid for by the line.
    """
    job = job_of(context, os.environ, meter)._replace(meter=_UNHEARD)
    looking = next(one.look for one in games() if one.look is not None).load()
    try:
        return f"offered {looking(due, job)}"
    except ConfigError:
        raise
    except CardsharpError as error:
        logger.warning("a look failed: %s", error)
        return "failed"


def attending(name: str | None) -> Attend:
    """How a match of the game of that name is attended; None is the first game.

    Raises `Malformed` if there is no such game, or its matches cannot be attended.
    """
    found = game(name)
    if found.attend is None:
        raise Malformed(f"Matches of {found.title} cannot be attended: the game has no bot.")
    return found.attend.load()


# A function starts with a whole processor, and works with a part of one.
attending(None)
prepare(os.environ)
