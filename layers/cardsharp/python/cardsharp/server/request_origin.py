"""Check that a request which changes something was not started by a page of another site.

A browser adds stored passwords and cookies to a request even if a page of another site has started
it. Two headers, which no page can set, tell where a request comes from:

- `Sec-Fetch-Site`. Browsers leave it out when they talk plain http to another machine.
- `Origin`. Browsers send it with every POST. Its host must be the host that the request names.

A client that is no browser sends neither, and cannot be tricked by a page.
"""

from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

CROSS_SITE_MESSAGE = "Requests from pages of other sites are rejected."

_SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_OPAQUE_ORIGIN = "null"  # what a browser sends for a page that must not tell its address
_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_cross_site_change(request: Request, *, accepts_opaque_origin: bool = False) -> bool:
    """Return True if a page of another site has started a request that may change something.

    With `accepts_opaque_origin` the origin "null" is accepted. Use it only if the request needs a
    secret that other pages do not know, because their requests may have that origin, too.
    """
    return request.method.upper() not in _SAFE_METHODS and _is_cross_site(
        request, accepts_opaque_origin=accepts_opaque_origin
    )


def _is_cross_site(request: Request, *, accepts_opaque_origin: bool) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site == "cross-site":
        return True
    accepts_opaque_origin = accepts_opaque_origin or site == "same-origin"
    return not all(
        accepts_opaque_origin if origin == _OPAQUE_ORIGIN else _is_own_origin(origin, request)
        for origin in request.headers.getlist("origin")
    )


def _is_own_origin(origin: str, request: Request) -> bool:
    """Return True if an origin is the server's own, as far as the server knows its addresses."""
    parts = _split_address(origin)
    if parts is None or parts.scheme not in _DEFAULT_PORTS or parts.hostname is None:
        return False
    origin_port = parts.port or _DEFAULT_PORTS[parts.scheme]
    names = [request.headers.get("host", "")]
    default_ports = {_DEFAULT_PORTS.get(request.url.scheme, 0)}
    if _is_from_this_machine(request):
        # A reverse proxy may stand in front. It may talk http to us while it serves https.
        names += request.headers.getlist("x-forwarded-host")
        forwarded_scheme = request.headers.get("x-forwarded-proto", "")
        default_ports = {_DEFAULT_PORTS.get(forwarded_scheme, port) for port in (80, 443)}
    for name in names:
        own_address = _split_address(f"//{name}")
        if own_address is not None and own_address.hostname == parts.hostname:
            ports = default_ports if own_address.port is None else {own_address.port}
            if origin_port in ports:
                return True
    return False


def _split_address(text: str) -> SplitResult | None:
    """Return the parts of an address; None if its port or host is not valid."""
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018 - raises an error for an invalid port
    except ValueError:
        return None
    return parts


def _is_from_this_machine(request: Request) -> bool:
    try:
        return request.client is not None and ip_address(request.client.host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class CrossSiteGuard:
    """ASGI middleware that rejects changes by pages of other sites.

    `accepts_opaque_origin` is as in `is_cross_site_change`.
    """

    app: ASGIApp
    accepts_opaque_origin: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject the request or pass it on."""
        if scope["type"] == "http" and is_cross_site_change(
            Request(scope), accepts_opaque_origin=self.accepts_opaque_origin
        ):
            rejection = PlainTextResponse(CROSS_SITE_MESSAGE, HTTPStatus.FORBIDDEN)
            await rejection(scope, receive, send)
            return
        await self.app(scope, receive, send)
