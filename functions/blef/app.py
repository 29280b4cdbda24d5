"""The Blef service: answers the requests of its HTTP API."""

import os
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.blef.api import build_api
from cardsharp.blef.resolver import Resolver
from cardsharp.blef.wiring import build_service
from cardsharp.cloud.telemetry import meter, watch_retries

watch_retries()


@cache
def api() -> Resolver:
    """The service over the store that BLEF_STORE names, made at the first request."""
    return build_api(build_service(os.environ))


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer one request, an event of format 2.0 of an HTTP API.

    Raises:
        ConfigError: BLEF_STORE names no store.
    """
    try:
        return api().resolve(event, context)
    finally:
        meter.flush()
