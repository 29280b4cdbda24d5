"""The poller: a scheduled function that listens for matches and puts them on the queue."""

import os
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.aws.telemetry import (
    install_retry_counter,
    logger,
    metrics_recorder,
    set_invocation_log_context,
)
from cardsharp.bot.bootstrap import warm_up_aws
from cardsharp.play.catalog import all_games, invocation_context
from cardsharp.play.game import RunPoller

install_retry_counter()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Poll until the time is nearly up; return how many matches were offered to workers.

    The schedule's event has no information besides being due, so it is not read.
    """
    set_invocation_log_context(context.aws_request_id)
    del event
    job = invocation_context(context, os.environ, metrics_recorder)
    try:
        offered = load_poller()(job)
    finally:
        metrics_recorder.flush()
    logger.info("listened", extra={"offered": offered})
    return {"offered": offered}


def load_poller() -> RunPoller:
    """Return the function that polls the arena of the game that has a poller."""
    return next(game.run_poller for game in all_games() if game.run_poller is not None).load()


# Lambda gives a function a whole processor while it starts and only a part of one afterwards. So
# slow imports belong here.
load_poller()
warm_up_aws(os.environ)
