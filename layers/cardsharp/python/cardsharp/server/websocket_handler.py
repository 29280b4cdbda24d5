"""WebSocket handler on Lambda: passes the events of a WebSocket API to the subscriptions of a feed.

A WebSocket API sends an event when a connection opens and when it closes.
"""

from cardsharp.server.feed_subscriptions import NO_FEED, FeedSubscriptions
from cardsharp.server.gateway_events import (
    GatewayEvent,
    GatewayResponse,
    LambdaContext,
    LambdaHandler,
    gateway_response,
)
from cardsharp.server.routing import ApiResponse


def build_websocket_handler(subscriptions: FeedSubscriptions | None) -> LambdaHandler:
    """Return the handler of a WebSocket API's events; without a feed it rejects handshakes."""

    def answer(event: GatewayEvent, _context: LambdaContext) -> GatewayResponse:
        response = NO_FEED if subscriptions is None else _handle_event(event, subscriptions)
        body = response.body if isinstance(response.body, str) else response.body.model_dump_json()
        return gateway_response(response.status, body)

    return answer


def _handle_event(event: GatewayEvent, subscriptions: FeedSubscriptions) -> ApiResponse:
    about = event["requestContext"]
    if about["routeKey"] == "$connect":
        headers, query = event.get("headers") or {}, event.get("queryStringParameters") or {}
        parameters = {**{name.lower(): value for name, value in headers.items()}, **query}
        source = (about.get("identity") or {}).get("sourceIp")
        return subscriptions.connect(about["connectionId"], parameters, source)
    if about["routeKey"] == "$disconnect":
        return subscriptions.disconnect(about["connectionId"])
    return ApiResponse("")
