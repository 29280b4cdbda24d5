"""The viewer: shows the match log's matches as pages, and changes nothing."""

import os
from contextlib import suppress
from functools import cache

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.aws.telemetry import (
    install_retry_counter,
    metrics_recorder,
    set_invocation_log_context,
)
from cardsharp.bot.bootstrap import in_lambda, warm_up_aws
from cardsharp.errors import ConfigError
from cardsharp.server.gateway_events import GatewayEvent, GatewayResponse, LambdaHandler
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.server.pages_service import build_pages

install_retry_counter()


@cache
def pages_handler() -> LambdaHandler:
    """Return the handler of the pages, built from the environment at the first request."""
    return lambda_handler_for_asgi(build_pages(os.environ))


def handler(event: GatewayEvent, context: LambdaContext) -> GatewayResponse:
    """Answer one request, an event of format 2.0 of an HTTP API.

    Raises `ConfigError` if the environment cannot be used.
    """
    set_invocation_log_context(context.aws_request_id)
    try:
        return pages_handler()(event, context)
    finally:
        metrics_recorder.flush()


# Lambda gives a function a whole processor while it starts and only a part of one afterwards. So
# slow imports belong here.
warm_up_aws(os.environ)
if in_lambda(os.environ):
    with suppress(ConfigError):  # the first request raises it again
        pages_handler()
