"""Practice: creates matches by hand for the bot to play, or has it join a game of Blef."""

import os
from typing import Any
from uuid import uuid4

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.cloud.settings import Settings, Workplace
from cardsharp.cloud.telemetry import logger, meter, watch_retries
from cardsharp.deadmansdraw.assembly import assemble
from cardsharp.deadmansdraw.practice import create, parse_order

watch_retries()


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, list[str]]:
    """Create the matches that the event orders; their ids.

    An event with a `game` orders a seat at Blef: its `url`, `game`, `nickname`, `strategy`.

    Raises:
        Malformed: the order cannot be used; the message names each fault.
        ArenaError: the arena refused, or failed after some matches were created.
    """
    del context
    if orders_seat(event):
        return {"match_ids": [_order_seat(event)]}
    order = parse_order(event)
    assembly = assemble(Settings.load(os.environ), meter)
    try:
        with assembly.scout() as scout:
            ids = list(create(order, assembly.player_id, scout))
    finally:
        meter.flush()
    logger.info("created", extra={"match_ids": ids})
    return {"match_ids": ids}


def orders_seat(event: object) -> bool:
    """Return whether an event orders a seat at Blef; no order of the first game names a game."""
    return isinstance(event, dict) and "game" in event


def _order_seat(event: dict[str, Any]) -> str:
    """Have the bot join the game of Blef that the event names; the seat's id."""
    # Practice is nearly always of the first game, and this would make its cold starts slower.
    from cardsharp.blef.bot import assemble as assemble_blef  # noqa: PLC0415
    from cardsharp.blef.seat import order_seat  # noqa: PLC0415
    from cardsharp.blef.seat import parse_order as parse_seat  # noqa: PLC0415

    order = parse_seat(event)
    assembly = assemble_blef(Workplace.load(os.environ), meter)
    try:
        seat = order_seat(order, uuid4(), assembly.vault, assembly.offering)
    finally:
        meter.flush()
    logger.info("seat ordered", extra={"match_id": seat})
    return seat
