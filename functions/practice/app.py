"""Practice: has the bot play what an operator orders by hand, of any game that can be ordered."""

import os
from typing import Any, TypeGuard

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.cloud.adapters import prepare
from cardsharp.cloud.telemetry import begin, logger, meter, watch_retries
from cardsharp.errors import Malformed
from cardsharp.game import Order
from cardsharp.games import game, games, job_of

PLAY = "play"  # the key under which an order may name its game

watch_retries()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[str]]:
    """Have the bot play what the event orders; the ids of the matches.

    Raises `Malformed`, which names each fault, if the order cannot be used. Raises `ArenaError` if
    the arena refused, or failed after some matches were created.
    """
    begin(context.aws_request_id)
    job = job_of(context, os.environ, meter)
    order = ordering(event)
    wanted = {k: v for k, v in event.items() if k != PLAY} if _is_object(event) else event
    try:
        ids = list(order(wanted, job))
    finally:
        meter.flush()
    logger.info("ordered", extra={"match_ids": ids})
    return {"match_ids": ids}


def ordering(event: object) -> Order:
    """How the game is ordered that an event names, or else by whose keys it is known.

    An event without either is for the first game that can be ordered. Raises `Malformed` if there
    is no such game, or nothing of it can be ordered.
    """
    given = event if _is_object(event) else {}
    if PLAY in given:
        found = game(given[PLAY])
    else:
        able = [one for one in games() if one.order is not None]
        found = next((one for one in able if one.order_keys & given.keys()), able[0])
    if found.order is None:
        raise Malformed(f"Nothing of {found.title} can be ordered: the game has no bot.")
    return found.order.load()


def _is_object(event: object) -> TypeGuard[dict[str, Any]]:
    """Whether an operator sent what an order is; the game says what is wrong with anything else."""
    return isinstance(event, dict)


# A function starts with a whole processor, and works with a part of one.
ordering({})
prepare(os.environ)
