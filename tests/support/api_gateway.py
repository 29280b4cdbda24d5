"""A Lambda function behind an HTTP API on this machine: requests become events.

with function_server(LambdaFunction("api", handler, timeout)) as server:
    requests.get(f"{server.url}/v2/version")
"""

import logging
from collections.abc import Callable
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.core.clock import Clock, RemainingTime, SystemClock
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.server.routing import RequestState
from cardsharp_tools.local_cloud.api_gateway_events import (
    INTERNAL_ERROR_RESPONSE,
    HttpRequest,
    HttpResponse,
    parse_response,
    to_event,
)
from cardsharp_tools.local_cloud.lambda_events import (
    API_REQUEST_TIMEOUT,
    LambdaFunction,
    LambdaHandler,
    LocalLambdaContext,
    invoke,
)
from cardsharp_tools.local_server.http_server import HOST
from cardsharp_tools.local_server.service_server import ANY_FREE_PORT, ServiceServer

HandlerWrapper = Callable[[LambdaHandler], LambdaHandler]

_log = logging.getLogger(__name__)


class FunctionApplication:
    """ASGI application that does what API Gateway does between client and function."""

    def __init__(self, function: LambdaFunction, clock: Clock) -> None:
        self._function, self._clock = function, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        event = to_event(_to_http_request(request, await request.body()), self._clock.now())
        state: RequestState = scope["state"]
        context = _RequestContext(self._function, self._clock, state["time_left"])
        invocation = await state["run_use_case"](lambda: invoke(self._function, event, context))
        answered = parse_response(invocation.response)
        if invocation.error is not None:
            _log.error("%s failed: %s", invocation.function, invocation.error)
            answered = INTERNAL_ERROR_RESPONSE
        await _to_asgi_response(answered)(scope, receive, send)


class _RequestContext(LocalLambdaContext):
    """Context of an invocation whose time ends with that of its request."""

    def __init__(
        self, function: LambdaFunction, clock: Clock, remaining_wait: RemainingTime
    ) -> None:
        super().__init__(function.name, function.timeout, clock)
        self._remaining_wait = remaining_wait

    # Powertools declares it static, Lambda's own is not.
    def get_remaining_time_in_millis(self) -> int:  # type: ignore[override]
        """Return the milliseconds of the invocation, 0 once the server stops."""
        has_time = self._remaining_wait() > timedelta()
        return super().get_remaining_time_in_millis() if has_time else 0


def _to_http_request(request: Request, body: bytes) -> HttpRequest:
    raw_path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    query: bytes = request.scope["query_string"]
    target = raw_path + (b"?" + query if query else b"")
    return HttpRequest(
        method=request.method,
        target=target.decode("latin-1"),
        headers=tuple(request.headers.items()),
        body=body,
        source_ip=request.client.host if request.client else HOST,
    )


def _to_asgi_response(answered: HttpResponse) -> Response:
    response = Response(answered.body, answered.status)
    # Exactly the function's headers, and the length that Starlette counted.
    for name, value in answered.headers:
        if name.lower() != "content-length":
            response.headers.append(name, value)
    return response


def run_as_function(app: ASGIApp, wrap_handler: HandlerWrapper = lambda h: h) -> ASGIApp:
    """Return an application that passes requests to another one as events, as on Lambda."""
    handler = wrap_handler(lambda_handler_for_asgi(app))
    return FunctionApplication(
        LambdaFunction("application", handler, API_REQUEST_TIMEOUT), SystemClock()
    )


def function_server(
    function: LambdaFunction, address: tuple[str, int] = ANY_FREE_PORT
) -> ServiceServer:
    """Return a server whose requests a function answers; raise `ConfigError`."""
    return ServiceServer(FunctionApplication(function, SystemClock()), address)
