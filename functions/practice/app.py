"""Practice: creates matches against ourselves or the dummy, by hand, for the bot to play."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.cloud.settings import Settings
from cardsharp.cloud.telemetry import logger, meter, watch_retries
from cardsharp.deadmansdraw.assembly import assemble
from cardsharp.deadmansdraw.practice import create, parse_order

watch_retries()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[str]]:
    """Create the matches that the event orders; their ids.

    Raises:
        Malformed: the order cannot be used; the message names each fault.
        ArenaError: the arena refused, or failed after some matches were created.
    """
    del context
    order = parse_order(event)
    assembly = assemble(Settings.load(os.environ), meter)
    try:
        with assembly.scout() as scout:
            ids = list(create(order, assembly.player_id, scout))
    finally:
        meter.flush()
    logger.info("created", extra={"match_ids": ids})
    return {"match_ids": ids}
