"""Practice: plays the matches that an operator orders by hand, of any game that has a bot."""

import os
from typing import Any, TypeGuard

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.aws.telemetry import (
    install_retry_counter,
    logger,
    metrics_recorder,
    set_invocation_log_context,
)
from cardsharp.bot.bootstrap import warm_up_aws
from cardsharp.errors import InvalidInput
from cardsharp.play.catalog import all_games, get_game, invocation_context
from cardsharp.play.game import PlaceOrder

PLAY = "play"  # key of an order with the name of its game

install_retry_counter()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[str]]:
    """Create the practice matches of an order; return their ids.

    Raises `InvalidInput`, which names each fault, if the order cannot be used. Raises
    `ArenaError` if the arena rejected it, or failed after some matches were created.
    """
    set_invocation_log_context(context.aws_request_id)
    job = invocation_context(context, os.environ, metrics_recorder)
    order_handler = load_order_handler(event)
    payload = {k: v for k, v in event.items() if k != PLAY} if _is_object(event) else event
    try:
        ids = list(order_handler(payload, job))
    finally:
        metrics_recorder.flush()
    logger.info("ordered", extra={"match_ids": ids})
    return {"match_ids": ids}


def load_order_handler(event: object) -> PlaceOrder:
    """Return the function that places an order of the event's game.

    An event names its game under the key `play`, or is recognised by keys that only one game's
    orders have. Without either it is for the first game that can be ordered. Raises
    `InvalidInput` if there is no such game, or if nothing of it can be ordered.
    """
    fields = event if _is_object(event) else {}
    if PLAY in fields:
        game = get_game(fields[PLAY])
    else:
        able = [candidate for candidate in all_games() if candidate.place_order is not None]
        game = next(
            (candidate for candidate in able if candidate.order_keys & fields.keys()), able[0]
        )
    if game.place_order is None:
        raise InvalidInput(f"Matches of {game.title} cannot be ordered: the game has no bot.")
    return game.place_order.load()


def _is_object(event: object) -> TypeGuard[dict[str, Any]]:
    """Return True if the event is a JSON object, as every order must be.

    The game itself explains what is wrong with any other event.
    """
    return isinstance(event, dict)


# Lambda gives a function a whole processor while it starts and only a part of one afterwards. So
# slow imports belong here.
load_order_handler({})
warm_up_aws(os.environ)
