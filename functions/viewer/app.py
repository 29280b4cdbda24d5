"""The viewer: shows the match log's matches as pages, and changes nothing."""

import os
from contextlib import suppress
from functools import cache

from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.cloud.adapters import in_lambda, prepare
from cardsharp.cloud.telemetry import begin, meter, watch_retries
from cardsharp.errors import ConfigError
from cardsharp.viewer.assembly import viewer_of
from cardsharp.web.asgi import handler_of
from cardsharp.web.events import Event, Handler, Response

watch_retries()


@cache
def pages() -> Handler:
    """What answers, as the environment describes it; made at the first request."""
    return handler_of(viewer_of(os.environ))


def handler(event: Event, context: LambdaContext) -> Response:
    """Answer one request, an event of format 2.0 of an HTTP API.

    Raises `ConfigError` if the environment cannot be used.
    """
    begin(context.aws_request_id)
    try:
        return pages()(event, context)
    finally:
        meter.flush()


# A function starts with a whole processor, and answers with a part of one.
prepare(os.environ)
if in_lambda(os.environ):
    with suppress(ConfigError):  # the first request is told
        pages()
