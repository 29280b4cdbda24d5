"""HTTP client of an arena or service: transport, retries, request budget and remote clock.

Look first at `ArenaTransport`, which sends a request once and classifies the result, and at
`RequestBudget`, which shares the permitted requests among all matches of a process. A client of a
game derives from `ServiceClient`. `RetryPolicy` says when a failed read is sent again.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.client.config import (
        Proxy,
        RequestLimits,
        ServiceAddress,
        normalize_base_url,
        proxy_for_url,
    )
    from cardsharp.client.remote_clock import RemoteClock, TimeBounds
    from cardsharp.client.request_budget import RateLimitStatus, RequestBudget, RequestPriority
    from cardsharp.client.response_errors import error_from_response, parse_retry_after
    from cardsharp.client.retry_policy import RetryPolicy
    from cardsharp.client.session_state import ClientSessionState
    from cardsharp.client.transport import (
        ArenaRequest,
        ArenaResponse,
        ArenaTransport,
        ServiceClient,
    )

__all__ = (
    "ArenaRequest",
    "ArenaResponse",
    "ArenaTransport",
    "ClientSessionState",
    "Proxy",
    "RateLimitStatus",
    "RemoteClock",
    "RequestBudget",
    "RequestLimits",
    "RequestPriority",
    "RetryPolicy",
    "ServiceAddress",
    "ServiceClient",
    "TimeBounds",
    "error_from_response",
    "normalize_base_url",
    "parse_retry_after",
    "proxy_for_url",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "ArenaRequest": "transport",
        "ArenaResponse": "transport",
        "ArenaTransport": "transport",
        "ClientSessionState": "session_state",
        "Proxy": "config",
        "RateLimitStatus": "request_budget",
        "RemoteClock": "remote_clock",
        "RequestBudget": "request_budget",
        "RequestLimits": "config",
        "RequestPriority": "request_budget",
        "RetryPolicy": "retry_policy",
        "ServiceAddress": "config",
        "ServiceClient": "transport",
        "TimeBounds": "remote_clock",
        "error_from_response": "response_errors",
        "normalize_base_url": "config",
        "parse_retry_after": "response_errors",
        "proxy_for_url": "config",
    },
)
