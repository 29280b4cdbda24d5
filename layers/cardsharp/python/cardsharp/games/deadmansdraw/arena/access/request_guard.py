"""The HTTP layer of an arena: its responses, and the guard that every request passes."""

import asyncio
import hashlib
import html
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from http import HTTPStatus

from pydantic_core import to_json
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from cardsharp.core.clock import RemainingTime
from cardsharp.errors import CardsharpError, StoreError
from cardsharp.games.deadmansdraw.arena.access.auth import Authenticator, AuthRequest
from cardsharp.games.deadmansdraw.arena.access.body_reader import read_json
from cardsharp.games.deadmansdraw.arena.access.path_matching import decode_parameters
from cardsharp.games.deadmansdraw.arena.access.quotas import QuotaEnforcer
from cardsharp.games.deadmansdraw.arena.access.sign_in import SignIn
from cardsharp.games.deadmansdraw.arena.access.spectator_cache import SPECTATOR_USER, SpectatorCache
from cardsharp.games.deadmansdraw.arena.access.throttling import (
    WINDOW,
    LoginThrottle,
    RequestThrottle,
    ThrottleResult,
)
from cardsharp.games.deadmansdraw.arena.access.users import User
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig, ArenaDependencies
from cardsharp.games.deadmansdraw.arena.error_responses import ERRORS
from cardsharp.games.deadmansdraw.arena.long_poll import ClientDisconnected
from cardsharp.server.error_table import find_http_error
from cardsharp.server.request_origin import CROSS_SITE_MESSAGE, is_cross_site_change
from cardsharp.server.routing import HttpError

Endpoint = Callable[[Request], Awaitable[Response]]
Handler = Callable[[Request, User], Awaitable[Response]]

_BODY_HEADERS = ("content-length", "content-type")

# With these statuses the rest of the request is not read.
_UNREAD_REQUEST_STATUSES = (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.TOO_MANY_REQUESTS)

_log = logging.getLogger(__name__)


def json_response(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON response."""
    return with_etag(Response(to_json(body), status, headers, "application/json; charset=utf-8"))


def with_etag(response: Response) -> Response:
    """Add the weak ETag that the original sends with every response of its own."""
    raw = bytes(response.body)
    digest = hashlib.blake2b(raw, digest_size=12).hexdigest()
    response.headers["ETag"] = f'W/"{len(raw):x}-{digest}"'
    return response


def error_response(status: int, message: str) -> Response:
    """Return a JSON response `{"error": ...}`."""
    return json_response({"error": message}, status)


def not_found_response(request: Request) -> Response:
    """Return the HTML page of the original's framework for an unknown path or method."""
    message = html.escape(f"Cannot {request.method} {request.url.path}")
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>Error</title>\n</head>\n<body>\n<pre>{message}</pre>\n</body>\n</html>\n"
    )
    headers = {"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff"}
    return HTMLResponse(page, 404, headers)


async def wait_for_disconnect(request: Request) -> None:
    """Wait until the client has closed its connection; call it after the body was read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def client_ip(request: Request) -> str | None:
    """Return the address from which a request came."""
    return None if request.client is None else request.client.host


def server_remaining_wait_function(request: Request) -> RemainingTime:
    """Return a function that returns the time left until the server's own limit.

    It returns `timedelta.max` if the server sets no limit for a response.
    """
    remaining: RemainingTime = getattr(request.state, "time_left", lambda: timedelta.max)
    return remaining


def make_remaining_wait(request: Request, limit: timedelta) -> RemainingTime:
    """Return a function that tells how long a request may still wait, at most `limit` in all."""
    end = time.monotonic() + limit.total_seconds()
    server_remaining = server_remaining_wait_function(request)
    return lambda: min(timedelta(seconds=end - time.monotonic()), server_remaining())


class RequestGuard:
    """Checks that every request passes: rate limits, authentication and authorisation.

    A request that fails one of them gets the matching error status.
    """

    def __init__(self, runtime: ArenaDependencies, config: ArenaConfig) -> None:
        self._config = config
        self._sign_in = SignIn(
            Authenticator(runtime.users, config.clock, runtime.nonce_key),
            LoginThrottle(
                runtime.window_counter, config.clock, delays_response=not runtime.is_wait_billed
            ),
        )
        self._quota_enforcer = QuotaEnforcer(config.quotas, runtime.window_counter)
        self._address_throttle = RequestThrottle(config.max_per_address, config.clock)
        self._user_throttle = RequestThrottle(config.max_per_user, config.clock)
        self._spectator_cache = SpectatorCache(config.clock) if config.is_public else None
        self._sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def authenticated(
        self,
        handler: Handler,
        *,
        admin_only: bool = False,
        creates: bool = False,
        reads: bool = True,
        has_form_token: bool = False,
    ) -> Endpoint:
        """Return an endpoint for authenticated users, or with `admin_only` for the admin.

        `creates` counts the request as the creation of a match. With `reads` the body is in
        `request.state.body`, read before the authentication as in the original; without it the
        handler reads the body itself, which may be large. With `has_form_token` the handler checks
        that a form was sent from its page.
        """

        async def admitted(request: Request) -> Response:
            """Answer a request of a signed-in user within the user's limits, or reject it."""
            if is_cross_site_change(request, accepts_opaque_origin=has_form_token):
                # A browser adds the stored password to every request, including one that a page of
                # another site has started. So that site could act with the user's rights.
                return with_etag(PlainTextResponse(CROSS_SITE_MESSAGE, 403))
            request.state.body = await read_json(request) if reads else {}
            decode_parameters(request)
            auth_request = parse_auth_request(request)
            user = self._identify(request, auth_request)
            if user is None:
                if self._config.is_shared_address:
                    await self._throttle_address(f"unknown at {client_ip(request)}")
                return await self._build_challenge_response(request, auth_request)
            if user.is_admin:
                return await handler(request, user)
            if admin_only:
                return with_etag(PlainTextResponse("Unauthorized", 401))
            with self._quota_enforcer.reserve_concurrent_request(user):
                if creates:
                    self._quota_enforcer.consume_match_quota(user)
                pace = await self._throttle_user(request, user)
                response = await _handle_errors(handler(request, user))
                response.headers.update({} if pace is None else pace.headers)
                return response

        return self._wrap_endpoint(admitted, is_throttled=not self._config.is_shared_address)

    def authenticated_or_spectator(
        self, handler: Handler, only_player: Callable[[QueryParams], bool] = lambda _: False
    ) -> Endpoint:
        """Return an endpoint for authenticated users and, if the arena is public, for spectators.

        If `only_player` is True of a query, the request needs credentials and is challenged
        without them, because many clients sign in only then.
        """
        authenticated, spectators = self.authenticated(handler), self._spectator_cache
        if spectators is None:
            return authenticated

        async def looked_at(request: Request) -> Response:
            decode_parameters(request)
            address = str(client_ip(request))
            return await spectators.respond(
                request, address, lambda: handler(request, SPECTATOR_USER)
            )

        to_all = self.allow_anonymous(looked_at)

        async def endpoint(request: Request) -> Response:
            signs_in = "authorization" in request.headers or only_player(request.query_params)
            return await (authenticated if signs_in else to_all)(request)

        return endpoint

    def allow_anonymous(self, handler: Endpoint) -> Endpoint:
        """Return an endpoint that needs no authentication."""
        return self._wrap_endpoint(handler, is_throttled=True)

    def _wrap_endpoint(self, handler: Endpoint, *, is_throttled: bool) -> Endpoint:
        async def in_turn(request: Request) -> Response:
            if is_throttled:
                await self._throttle_address(str(client_ip(request)))
            return await handler(request)

        async def endpoint(request: Request) -> Response:
            return _apply_etag_condition(request, await _handle_errors(in_turn(request)))

        return endpoint

    def _identify(self, request: Request, auth_request: AuthRequest) -> User | None:
        """Return the authenticated user, None if the credentials are not valid.

        Raises `TooManyWrongPasswords` if the login throttle forbids to check them.
        """
        address = str(client_ip(request))
        user = self._sign_in.identify(auth_request, address)
        if user is not None:
            self._sign_in.trust_address(user, address)
            getattr(request.state, "signed_in", lambda: None)()
        return user

    async def _build_challenge_response(
        self, request: Request, auth_request: AuthRequest
    ) -> Response:
        if auth_request.malformed:
            return Response(b"Bad Request", 400)
        await self._wait_while_connected(
            self._sign_in.count_failure(auth_request, str(client_ip(request)))
        )
        # Without an open connection, a client that retries at once uses up no resources here.
        response = Response(b"Unauthorized", 401, {"Connection": "close"})
        for challenge in self._sign_in.challenges(auth_request):
            response.headers.append("WWW-Authenticate", challenge)
        return response

    async def _throttle_address(self, address: str) -> None:
        if self._config.throttle:
            await self._wait_while_connected(self._address_throttle.count_request(address).delay)

    async def _throttle_user(self, request: Request, user: User) -> ThrottleResult | None:
        if not self._config.throttle or user.id in self._config.unthrottled_users:
            return None
        pace = self._user_throttle.count_request(f"{client_ip(request)} {user.id}")
        await self._wait_while_connected(pace.delay, request)
        return pace

    async def _wait_while_connected(
        self, delay: timedelta, client_request: Request | None = None
    ) -> None:
        """Wait for `delay`; raise `ClientDisconnected` if `client_request` is cancelled."""
        if not delay:
            return
        slept = asyncio.ensure_future(self._sleep(delay.total_seconds()))
        disconnect = (
            None
            if client_request is None
            else asyncio.ensure_future(wait_for_disconnect(client_request))
        )
        both = [waiting for waiting in (slept, disconnect) if waiting is not None]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:  # the server is closing; its own response would be a 500
            raise HttpError(HTTPStatus.SERVICE_UNAVAILABLE, "The arena is closing.") from None
        finally:
            for waiting in both:
                waiting.cancel()
        if not slept.done():
            raise ClientDisconnected


def parse_auth_request(request: Request) -> AuthRequest:
    """Return the credentials of a request, with the target as it was sent."""
    raw_path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    query: bytes = request.scope["query_string"]
    target = raw_path + (b"?" + query if query else b"")
    return AuthRequest(
        request.method, target.decode("latin-1"), request.headers.get("authorization", "")
    )


def _apply_etag_condition(request: Request, response: Response) -> Response:
    """Return the response, or a 304 without a body if the client has it (RFC 9110, 13.1.2)."""
    tag, client_tags = response.headers.get("etag"), request.headers.get("if-none-match")
    if tag is None or client_tags is None or request.method not in ("GET", "HEAD"):
        return response
    wants_it_all = "no-cache" in request.headers.get("cache-control", "").lower()
    weak = {client_tag.strip().removeprefix("W/") for client_tag in client_tags.split(",")}
    same = not weak.isdisjoint({"*", tag.removeprefix("W/")})
    if response.status_code != HTTPStatus.OK or wants_it_all or not same:
        return response
    headers = {name: text for name, text in response.headers.items() if name not in _BODY_HEADERS}
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)


async def _handle_errors(pending_response: Awaitable[Response]) -> Response:
    try:
        return await pending_response
    except (ClientDisconnected, ClientDisconnect):
        return Response(status_code=499)  # no client reads it
    except CardsharpError as error:
        http_error = find_http_error(ERRORS, error)
        if http_error is None:
            raise
        if isinstance(error, StoreError):
            _log.exception("The arena's store failed")
        return _build_error_response(http_error)


def _build_error_response(http_error: HttpError) -> Response:
    response = error_response(http_error.status, http_error.text)
    if http_error.status in _UNREAD_REQUEST_STATUSES:
        response.headers["Connection"] = "close"
    if http_error.status == HTTPStatus.TOO_MANY_REQUESTS:
        response.headers["Retry-After"] = str(WINDOW.seconds)
    return response
