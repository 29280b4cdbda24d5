"""The poller: a scheduled function that listens for matches and puts them on the queue."""

import os
from datetime import timedelta
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.cloud.settings import Settings
from cardsharp.cloud.telemetry import logger, meter, watch_retries
from cardsharp.deadmansdraw.assembly import assemble

watch_retries()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Listen until the time is nearly up; how many matches were offered to workers.

    The event of the schedule says only that it is time, so nothing of it is read.
    """
    del event
    assembly = assemble(Settings.load(os.environ), meter)

    def remaining() -> timedelta:
        return timedelta(milliseconds=context.get_remaining_time_in_millis())

    try:
        with assembly.scout() as scout:
            offered = scout.listen(remaining)
    finally:
        meter.flush()
    logger.info("listened", extra={"offered": offered})
    return {"offered": offered}
