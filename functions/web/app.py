"""A game's HTTP service: answers the requests of the game that CARDSHARP_GAME names.

Where the game's own variable names no store, it is the one that CARDSHARP_STORE names: the
template has one block for all games, and in it no variable of a game's own.
"""

import os
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.cloud.adapters import in_lambda, prepare
from cardsharp.cloud.telemetry import begin, meter, watch_retries
from cardsharp.errors import ConfigError, Malformed
from cardsharp.games import game
from cardsharp.web.events import Event, Handler, Response

if TYPE_CHECKING:  # each kind of service is slow to import, and a function has one
    from cardsharp.web.asgi import AsgiService
    from cardsharp.web.service import Service

GAME = "CARDSHARP_GAME"
STORE = "CARDSHARP_STORE"

watch_retries()


@cache
def service(name: str) -> "Service[Any] | AsgiService":
    """The service of the game of that name."""
    try:
        part = game(name).service
    except Malformed as error:
        raise ConfigError(f"{GAME} must name a game. {error}") from None
    if part is None:
        raise ConfigError(f"{GAME} must name a game with an HTTP service; '{name}' has none.")
    return part.load()


@cache
def api(name: str) -> Handler:
    """The handler of that game, as the environment describes it; made at the first request."""
    told = service(name)
    return told.build({told.store: os.environ.get(STORE, ""), **os.environ})


def handler(event: Event, context: LambdaContext) -> Response:
    """Answer one request, an event of format 2.0 of an HTTP API.

    Raises `ConfigError` if CARDSHARP_GAME, or what the game itself is told, cannot be used.
    """
    begin(context.aws_request_id)
    try:
        return api(os.environ.get(GAME, ""))(event, context)
    finally:
        meter.flush()


# A function starts with a whole processor, and answers with a part of one.
if GAME in os.environ:
    service(os.environ[GAME])
prepare(os.environ)
if GAME in os.environ and in_lambda(os.environ):
    with suppress(ConfigError):  # the first request is told
        api(os.environ[GAME])
