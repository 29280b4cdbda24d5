"""The one assembly of everything that answers HTTP: routes behind one row of checks.

Every service and every page is a list of routes. This module alone makes an ASGI application of
them, for Lambda and for a server on this machine. `WebSettings` says which checks stand in front.
A check that depends on the endpoint, such as the password of a player, is the endpoint's own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.server.request_origin import CrossSiteGuard

THIS_MACHINE = ("127.0.0.1", "localhost")
"""Host names of a server that only this machine can reach."""

MIN_COMPRESSED_BYTES = 2_000  # bytes from which a page is compressed

ErrorHandlers = Mapping[Any, Callable[..., Any]]
"""Functions that make the response to an error, by its class, as Starlette takes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """Settings of an application, and the checks that its requests pass before any endpoint.

    `hosts` are the names by which it may be requested; None accepts every name. Another site can
    point its own name at this machine (DNS rebinding), and could then read what is served here.
    With `is_private_network_only` clients of the internet are refused.

    With `checks_origin` changes that a page of another site starts are refused. With
    `accepts_opaque_origin` an origin that the browser hides passes; use it only if every change
    needs a secret of its page. `gate` asks for a password.

    With `is_compressed` large responses are compressed. With `has_raw_paths` routes see paths as
    they were sent, where `%2F` is no slash; with `merges_slashes` they also see `//` as `/`.
    """

    hosts: Sequence[str] | None = None
    is_private_network_only: bool = False
    checks_origin: bool = True
    accepts_opaque_origin: bool = False
    gate: Middleware | None = None
    is_compressed: bool = True
    has_raw_paths: bool = False
    merges_slashes: bool = False

    def middleware(self) -> list[Middleware]:
        """Return the checks in their order, the first one first."""
        stack = []
        if self.is_private_network_only:
            stack.append(Middleware(private_network_only))
        if self.hosts is not None:
            # Imported where it is used, as no function in the cloud needs it at its start.
            from starlette.middleware.trustedhost import TrustedHostMiddleware  # noqa: PLC0415

            stack.append(Middleware(TrustedHostMiddleware, allowed_hosts=[*self.hosts]))
        if self.has_raw_paths:
            stack.append(Middleware(raw_path_middleware, merges_slashes=self.merges_slashes))
        if self.checks_origin:
            stack.append(
                Middleware(CrossSiteGuard, accepts_opaque_origin=self.accepts_opaque_origin)
            )
        if self.gate is not None:
            stack.append(self.gate)
        if self.is_compressed:
            from starlette.middleware.gzip import GZipMiddleware  # noqa: PLC0415 - as above

            stack.append(Middleware(GZipMiddleware, minimum_size=MIN_COMPRESSED_BYTES))
        return stack


API_SETTINGS = WebSettings(checks_origin=False, is_compressed=False, has_raw_paths=True)
"""Settings of an application for programs; each of its endpoints checks the origin itself."""

LOCAL_PAGES_SETTINGS = WebSettings(hosts=THIS_MACHINE, accepts_opaque_origin=True)
"""Settings of pages for this machine alone, on which every change needs a secret of its page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPages:
    """Responses to what no route answers, and to errors of endpoints.

    `handlers` are functions by the class of the error. `unknown_path` answers a request that
    fits no route; None raises an `HTTPException`, which a handler may answer.
    """

    handlers: ErrorHandlers = field(default_factory=dict)
    unknown_path: ASGIApp | None = None


def build_web_application(
    routes: Sequence[BaseRoute],
    settings: WebSettings,
    errors: ErrorPages = ErrorPages(),
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]] | None = None,
) -> Starlette:
    """Return the application of these routes; `lifespan` runs from its start to its end."""
    application = Starlette(
        routes=routes,
        middleware=settings.middleware(),
        exception_handlers=dict(errors.handlers),
        lifespan=lifespan,
    )
    if settings.has_raw_paths:
        application.router.redirect_slashes = False
    if errors.unknown_path is not None:
        application.router.default = errors.unknown_path
    return application


def raw_path_middleware(app: ASGIApp, *, merges_slashes: bool = False) -> ASGIApp:
    """ASGI middleware: the routes see the path as it was sent, not decoded."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
            path = raw_path.decode("utf-8", "replace")
            path = re.sub("/+", "/", path) if merges_slashes else path
            scope = {**scope, "path": path, "root_path": ""}
        await app(scope, receive, send)

    return answer


def private_network_only(app: ASGIApp) -> ASGIApp:
    """ASGI middleware: only clients of this machine or of a private network are answered."""
    refusal = PlainTextResponse(
        "Only clients of its private network can use this arena.\n", HTTPStatus.FORBIDDEN
    )

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_rejected = scope["type"] == "http" and not _is_private(scope["client"][0])
        await (refusal if is_rejected else app)(scope, receive, send)

    return answer


def _is_private(host: str) -> bool:
    address = ip_address(host)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_private
