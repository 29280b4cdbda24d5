"""The Euchre service: answers the requests of its HTTP API."""

import os
from collections.abc import Callable
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.cloud.telemetry import meter, watch_retries
from cardsharp.euchre.api import Event, Response, build_api
from cardsharp.euchre.wiring import build_service

watch_retries()


@cache
def api() -> Callable[[Event], Response]:
    """The API over the store and strategy that the environment names, made at the first request."""
    return build_api(build_service(os.environ))


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, object]:
    """Answer one request, an event of format 2.0 of an HTTP API.

    Raises:
        ConfigError: EUCHRE_STORE or EUCHRE_STRATEGY cannot be used.
    """
    try:
        return api()(event)
    finally:
        meter.flush()
