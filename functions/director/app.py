"""The director: at each tick it ends overdue turns of an arena and advances its contests.

Ticks are messages of its queue, and each tick sends the next one. A schedule restarts this chain
if it has stopped.
"""

import os
from typing import Any

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.aws.telemetry import install_retry_counter, logger, set_invocation_log_context
from cardsharp.bot.bootstrap import warm_up_aws
from cardsharp.bot.queueing.messages import records_in_queue_event
from cardsharp.errors import InvalidInput
from cardsharp.play.catalog import all_games
from cardsharp.play.game import RunDirector

STORE_SETTING = "CARDSHARP_STORE"

install_retry_counter()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, bool]:
    """Process the ticks of a queue event, or the schedule's tick; return if more follow.

    A failed tick is retried by the queue. Raises `InvalidInput` if the event is no object or a
    message is no tick, and `StoreError` if the table or the queue failed.
    """
    set_invocation_log_context(context.aws_request_id)
    if not isinstance(event, dict):
        raise InvalidInput("This function expects an object: an event of its queue or schedule.")
    direct = load_director()
    if "Records" in event:
        records = [SQSRecord(record) for record in records_in_queue_event(event)]
        follows = True in [direct(os.environ, record.body, record.message_id) for record in records]
    else:
        follows = direct(os.environ, None, context.aws_request_id)
    logger.info("ticked", extra={"follows": follows})
    return {"follows": follows}


def load_director() -> RunDirector:
    """Return the function that directs the game with contests."""
    return next(game.run_director for game in all_games() if game.run_director is not None).load()


# Lambda gives a function a whole processor while it starts and only a part of one afterwards. So
# slow imports belong here.
if STORE_SETTING in os.environ:
    load_director()
warm_up_aws(os.environ)
