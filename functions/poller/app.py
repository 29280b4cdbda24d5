"""The poller: a scheduled function that listens for matches and puts them on the queue."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.cloud.adapters import prepare
from cardsharp.cloud.telemetry import begin, logger, meter, watch_retries
from cardsharp.game import Listen
from cardsharp.games import games, job_of

watch_retries()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Listen until the time is nearly up; how many matches were offered to workers.

    The event of the schedule says only that it is time, so nothing of it is read.
    """
    begin(context.aws_request_id)
    del event
    job = job_of(context, os.environ, meter)
    try:
        offered = listening()(job)
    finally:
        meter.flush()
    logger.info("listened", extra={"offered": offered})
    return {"offered": offered}


def listening() -> Listen:
    """How the game listens that has an arena which names its matches."""
    return next(one.listen for one in games() if one.listen is not None).load()


# A function starts with a whole processor, and works with a part of one.
listening()
prepare(os.environ)
