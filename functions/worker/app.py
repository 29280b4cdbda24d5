"""The worker: plays the matches that the queue names, each until it ends or time is up."""

import os
from collections.abc import Callable
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

from cardsharp.cloud.attended import Attended
from cardsharp.cloud.messages import parse_message, records_of
from cardsharp.cloud.settings import Settings, Workplace
from cardsharp.cloud.telemetry import logger, meter, watch_retries
from cardsharp.deadmansdraw.assembly import assemble
from cardsharp.errors import CardsharpError, Malformed

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
        Malformed: the record names no match, or a game that nobody plays here.
        CardsharpError: the match could not be attended.
    """
    message = parse_message(record.body)
    attend = GAMES.get(message.game or FIRST_GAME)
    if attend is None:
        raise Malformed(f"No game is called '{message.game}' here. There are: {', '.join(GAMES)}.")
    attended = attend(message.match_id, context)
    logger.info("attended", extra={"match_id": message.match_id, "attended": attended})
    return attended


def _deadmansdraw(match_id: str, context: LambdaContext) -> Attended:
    assembly = assemble(Settings.load(os.environ), meter)
    with assembly.bot(context.aws_request_id) as bot:
        attended = bot.attend(match_id, _remaining(context))
    if attended is Attended.HANDED_ON:
        with assembly.scout() as scout:
            scout.offer_one(match_id)
    return attended


def _blef(match_id: str, context: LambdaContext) -> Attended:
    # Most messages are of the first game, and this would make its cold starts slower.
    from cardsharp.blef.bot import assemble as assemble_blef  # noqa: PLC0415

    assembly = assemble_blef(Workplace.load(os.environ), meter)
    return assembly.attend(match_id, context.aws_request_id, _remaining(context))


def _remaining(context: LambdaContext) -> Callable[[], timedelta]:
    return lambda: timedelta(milliseconds=context.get_remaining_time_in_millis())


FIRST_GAME = "deadmansdraw"
"""The game whose arena names its matches itself, before anything is known of them."""

GAMES: dict[str, Callable[[str, LambdaContext], Attended]] = {
    FIRST_GAME: _deadmansdraw,
    "blef": _blef,
}
"""Who attends the matches of which game."""
