"""A game's HTTP service: answers the requests of the game that CARDSHARP_GAME names.

If the game's own variable names no store, the store of CARDSHARP_STORE is used. The template has
one block for all games and sets no game's own variables.
"""

import os
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.aws.telemetry import (
    install_retry_counter,
    metrics_recorder,
    set_invocation_log_context,
)
from cardsharp.bot.bootstrap import in_lambda, warm_up_aws
from cardsharp.errors import ConfigError, InvalidInput
from cardsharp.play.catalog import get_game
from cardsharp.server.gateway_events import GatewayEvent, GatewayResponse, LambdaHandler

if TYPE_CHECKING:  # each kind of service is slow to import, and a function has one
    from cardsharp.server.http_service import HttpService

GAME_SETTING = "CARDSHARP_GAME"
STORE_SETTING = "CARDSHARP_STORE"

install_retry_counter()


@cache  # an entry for each game
def load_service(name: str) -> "HttpService":
    """Return the HTTP service of the game; raise `ConfigError` if it has none."""
    try:
        lazy_import = get_game(name).http_service
    except InvalidInput as error:
        raise ConfigError(f"{GAME_SETTING} must name a game. {error}") from None
    if lazy_import is None:
        raise ConfigError(
            f"{GAME_SETTING} must name a game with an HTTP service, but '{name}' has none."
        )
    return lazy_import.load()


@cache  # an entry for each game
def build_handler(name: str) -> LambdaHandler:
    """Return the handler of that game, built from the environment at the first request."""
    service = load_service(name)
    return service.build_handler(
        {service.store_setting: os.environ.get(STORE_SETTING, ""), **os.environ}
    )


def handler(event: GatewayEvent, context: LambdaContext) -> GatewayResponse:
    """Answer one request, an event of format 2.0 of an HTTP API.

    Raises `ConfigError` if CARDSHARP_GAME or the game's settings cannot be used.
    """
    set_invocation_log_context(context.aws_request_id)
    try:
        return build_handler(os.environ.get(GAME_SETTING, ""))(event, context)
    finally:
        metrics_recorder.flush()


# Lambda gives a function a whole processor while it starts and only a part of one afterwards. So
# slow imports belong here.
if GAME_SETTING in os.environ:
    load_service(os.environ[GAME_SETTING])
warm_up_aws(os.environ)
if GAME_SETTING in os.environ and in_lambda(os.environ):
    with suppress(ConfigError):  # the first request raises it again
        build_handler(os.environ[GAME_SETTING])
