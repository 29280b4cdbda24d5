"""The director: at each tick of an arena it ends late turns and has its contests go on.

Ticks are messages of its queue, each of which sends the next; a schedule begins them again where
they stopped.
"""

import os
from typing import Any

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.cloud.adapters import prepare
from cardsharp.cloud.messages import records_of
from cardsharp.cloud.telemetry import begin, logger, watch_retries
from cardsharp.errors import Malformed
from cardsharp.game import Direct
from cardsharp.games import games

STORE = "CARDSHARP_STORE"

watch_retries()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, bool]:
    """Do what is due at the ticks of the event, or at the schedule's; whether more follow.

    A failure is the queue's to repeat. Raises `Malformed` if the event is no object or a message is
    no tick, and `StoreError` if the table or the queue failed.
    """
    begin(context.aws_request_id)
    if not isinstance(event, dict):
        raise Malformed("This function expects an event of its queue or schedule: an object.")
    direct = directing()
    if "Records" in event:
        records = [SQSRecord(record) for record in records_of(event)]
        follows = True in [direct(os.environ, one.body, one.message_id) for one in records]
    else:
        follows = direct(os.environ, None, context.aws_request_id)
    logger.info("ticked", extra={"follows": follows})
    return {"follows": follows}


def directing() -> Direct:
    """How the game is directed that has contests."""
    return next(one.direct for one in games() if one.direct is not None).load()


# A function starts with a whole processor, and works with a part of one.
if STORE in os.environ:
    directing()
prepare(os.environ)
