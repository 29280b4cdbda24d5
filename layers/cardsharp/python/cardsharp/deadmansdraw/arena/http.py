"""The HTTP edge: answers out, and the guard that stands before every endpoint."""

import asyncio
import hashlib
import html
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import unquote

from pydantic_core import to_json
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.deadmansdraw.arena.auth import BoundRequest, Gatekeeper
from cardsharp.deadmansdraw.arena.config import ArenaConfig, Place
from cardsharp.deadmansdraw.arena.inputs import read_json
from cardsharp.deadmansdraw.arena.limits import (
    SPECTATOR,
    WINDOW,
    Guesses,
    Pace,
    Shares,
    SlowDown,
    Spectators,
)
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.deadmansdraw.arena.waiting import ClientGone, TimeLeft
from cardsharp.errors import Malformed, RulesError, StoreError
from cardsharp.web.route import Refused

Endpoint = Callable[[Request], Awaitable[Response]]
Handler = Callable[[Request, User], Awaitable[Response]]

_OF_THE_BODY = ("content-length", "content-type")

_log = logging.getLogger(__name__)


def json_answer(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON answer."""
    return tagged(Response(to_json(body), status, headers, "application/json; charset=utf-8"))


def tagged(response: Response) -> Response:
    """The answer with the weak ETag that the original sends with every body of its own."""
    raw = bytes(response.body)
    digest = hashlib.blake2b(raw, digest_size=12).hexdigest()
    response.headers["ETag"] = f'W/"{len(raw):x}-{digest}"'
    return response


def error_answer(status: int, message: str) -> Response:
    """`{"error": ...}`."""
    return json_answer({"error": message}, status)


def not_found(request: Request) -> Response:
    """The HTML page of the original's framework for a path or method that it does not know."""
    asked = html.escape(f"Cannot {request.method} {request.url.path}")
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>Error</title>\n</head>\n<body>\n<pre>{asked}</pre>\n</body>\n</html>\n"
    )
    headers = {"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff"}
    return HTMLResponse(page, 404, headers)


async def hung_up(request: Request) -> None:
    """Wait until the client has closed its connection; call it after the body was read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def client_ip(request: Request) -> str | None:
    """The address that a request came from."""
    return None if request.client is None else request.client.host


def given_time(request: Request) -> TimeLeft:
    """How long an answer may take, where the server is told that by its own."""
    told: TimeLeft = getattr(request.state, "time_left", lambda: timedelta.max)
    return told


def time_left(request: Request, limit: timedelta) -> TimeLeft:
    """How long a request may still wait, of which no poll lasts longer than `limit`."""
    end = time.monotonic() + limit.total_seconds()
    told = given_time(request)
    return lambda: min(timedelta(seconds=end - time.monotonic()), told())


class Guard:
    """What every request passes: pace, identity, and the statuses of whatever is refused."""

    def __init__(self, place: Place, config: ArenaConfig) -> None:
        self._gatekeeper, self._config = Gatekeeper(place.book, config.clock, place.seal), config
        self._guesses = Guesses(place.counts, config.clock, waits=not place.waits_cost)
        self._shares = Shares(config.quotas, place.counts)
        self._of_address = SlowDown(config.per_address, config.clock)
        self._of_user = SlowDown(config.per_user, config.clock)
        self._spectators = Spectators(config.clock) if config.public else None
        self._sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def known(
        self,
        handler: Handler,
        *,
        admin_only: bool = False,
        creates: bool = False,
        reads: bool = True,
    ) -> Endpoint:
        """An endpoint for authenticated users, or for the admin alone; it `creates` a match.

        As in the original a body is read before anybody is asked who they are; the handler finds
        it as `request.state.body`, unless it `reads` itself what may be large.
        """

        async def admitted(request: Request) -> Response:
            if request.method != "GET" and request.headers.get("sec-fetch-site") == "cross-site":
                # A browser that knows the password would carry out what a stranger's page asks.
                return tagged(PlainTextResponse("Another site may not ask for this.", 403))
            request.state.body = await read_json(request) if reads else {}
            decode_parameters(request)
            asked = _asked(request)
            user = self._known(request, asked)
            if user is None:
                if self._config.crowded:
                    await self._slow_address(f"unknown at {client_ip(request)}")
                return await self._ask_who(request, asked)
            if user.is_admin:
                return await handler(request, user)
            if admin_only:
                return tagged(PlainTextResponse("Unauthorized", 401))
            with self._shares.answering(user):
                if creates:
                    self._shares.creates(user)
                pace = await self._slow_user(request, user)
                answer = await _answered(handler(request, user))
                answer.headers.update({} if pace is None else pace.headers)
                return answer

        return self._endpoint(admitted, slowed=not self._config.crowded)

    def shown(
        self, handler: Handler, only_player: Callable[[QueryParams], bool] = lambda _: False
    ) -> Endpoint:
        """An endpoint for authenticated users and, where they are let in, for spectators.

        What `only_player` says of a query is for players: whoever sends it without credentials is
        asked for them, as many clients sign in only then.
        """
        known, spectators = self.known(handler), self._spectators
        if spectators is None:
            return known

        async def looked_at(request: Request) -> Response:
            decode_parameters(request)
            address = str(client_ip(request))
            return await spectators.answer(request, address, lambda: handler(request, SPECTATOR))

        to_all = self.open(looked_at)

        async def endpoint(request: Request) -> Response:
            signs_in = "authorization" in request.headers or only_player(request.query_params)
            return await (known if signs_in else to_all)(request)

        return endpoint

    def open(self, handler: Endpoint) -> Endpoint:
        """An endpoint for everybody."""
        return self._endpoint(handler, slowed=True)

    def _endpoint(self, handler: Endpoint, *, slowed: bool) -> Endpoint:
        async def in_turn(request: Request) -> Response:
            if slowed:
                await self._slow_address(str(client_ip(request)))
            return await handler(request)

        async def endpoint(request: Request) -> Response:
            return _unless_known(request, await _answered(in_turn(request)))

        return endpoint

    def _known(self, request: Request, asked: BoundRequest) -> User | None:
        """Who asks, None where that is not proved; raises `Refused` where it is not looked at."""
        address, name = str(client_ip(request)), self._gatekeeper.named(asked)
        if name is not None:
            self._guesses.check(address, name)
        user = self._gatekeeper.user(asked)
        if user is not None:
            self._guesses.right(address, user.id)
            getattr(request.state, "signed_in", lambda: None)()
        return user

    async def _ask_who(self, request: Request, asked: BoundRequest) -> Response:
        if asked.malformed:
            return Response(b"Bad Request", 400)
        name = self._gatekeeper.named(asked)
        if name is not None and not self._gatekeeper.is_stale(asked):
            await self._wait(self._guesses.wrong(str(client_ip(request)), name))
        # A client that tries again at once is to hold no connection meanwhile.
        response = Response(b"Unauthorized", 401, {"Connection": "close"})
        for challenge in self._gatekeeper.challenges(asked):
            response.headers.append("WWW-Authenticate", challenge)
        return response

    async def _slow_address(self, address: str) -> None:
        if self._config.slow_down:
            await self._wait(self._of_address.count(address).delay)

    async def _slow_user(self, request: Request, user: User) -> Pace | None:
        if not self._config.slow_down or user.id in self._config.free:
            return None
        pace = self._of_user.count(f"{client_ip(request)} {user.id}")
        await self._wait(pace.delay, request)
        return pace

    async def _wait(self, delay: timedelta, asked: Request | None = None) -> None:
        """Let the delay pass; whoever `asked` and goes meanwhile has asked nothing."""
        if not delay:
            return
        slept = asyncio.ensure_future(self._sleep(delay.total_seconds()))
        gone = None if asked is None else asyncio.ensure_future(hung_up(asked))
        both = [waiting for waiting in (slept, gone) if waiting is not None]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:  # the server ends, and would answer 500
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "The arena is closing.") from None
        finally:
            for waiting in both:
                waiting.cancel()
        if not slept.done():
            raise ClientGone


def _asked(request: Request) -> BoundRequest:
    raw_path: bytes = request.scope.get("raw_path") or request.url.path.encode()
    query: bytes = request.scope["query_string"]
    target = raw_path + (b"?" + query if query else b"")
    return BoundRequest(
        request.method, target.decode("latin-1"), request.headers.get("authorization", "")
    )


def _unless_known(request: Request, response: Response) -> Response:
    """The answer, or 304 without a body where the client already has it (RFC 9110, 13.1.2)."""
    tag, known = response.headers.get("etag"), request.headers.get("if-none-match")
    if tag is None or known is None or request.method not in ("GET", "HEAD"):
        return response
    wants_it_all = "no-cache" in request.headers.get("cache-control", "").lower()
    weak = {text.strip().removeprefix("W/") for text in known.split(",")}
    same = not weak.isdisjoint({"*", tag.removeprefix("W/")})
    if response.status_code != HTTPStatus.OK or wants_it_all or not same:
        return response
    kept = {name: text for name, text in response.headers.items() if name not in _OF_THE_BODY}
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=kept)


async def _answered(handling: Awaitable[Response]) -> Response:
    try:
        return await handling
    except Refused as refused:
        answer = error_answer(refused.status, str(refused))
        if refused.status in (413, 429):  # the rest is not read; who hurries is to call again
            answer.headers["Connection"] = "close"
        if refused.status == 429:  # noqa: PLR2004
            answer.headers["Retry-After"] = str(WINDOW.seconds)
        return answer
    except (Malformed, RulesError) as error:
        return error_answer(400, str(error))
    except (ClientGone, ClientDisconnect):
        return Response(status_code=499)  # nobody reads it
    except StoreError:
        # Its text may name tables and files, which are nobody else's business.
        _log.exception("The arena's store failed")
        return error_answer(503, "The arena cannot read or write its matches now; try again.")


# --- paths, as the original's framework has them: without regard to case or a last slash ----------
#
# A path is compared as it was sent, percent-escapes included; only its parameters are decoded.

_BROKEN_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")


class LooseRoute(Route):
    """A route that a path fits in capitals, and with a slash at its end, as well."""

    def __init__(self, path: str, endpoint: object, method: str) -> None:
        super().__init__(path, endpoint, methods=[method])  # type: ignore[arg-type]
        loose = self.path_regex.pattern.removesuffix("$") + "/?$"
        self.path_regex = re.compile(loose, re.IGNORECASE)


def path_as_sent(app: ASGIApp) -> ASGIApp:
    """ASGI middleware: the routes see the path as it was sent, not decoded."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("raw_path"):
            scope = {**scope, "path": scope["raw_path"].decode("latin-1")}
        await app(scope, receive, send)

    return answer


def decode_parameters(request: Request) -> None:
    """Decode the parameters of the request's path, in place; raises `Refused` if one cannot be."""
    parameters = request.path_params
    for name, sent in parameters.items():
        refused = Refused(400, f"Failed to decode param '{sent}'")
        if _BROKEN_ESCAPE.search(sent):
            raise refused
        try:
            parameters[name] = unquote(sent, errors="strict")
        except ValueError:
            raise refused from None


def allowed_methods(routes: Iterable[BaseRoute], path: str) -> list[str]:
    """The methods that `path` has, in the order in which the original names them."""
    by_route: dict[str, list[str]] = {}
    for route in routes:
        if isinstance(route, Route) and route.path_regex.match(path):
            by_route.setdefault(route.path, []).extend((route.methods or set()) - {"HEAD"})
    names = [[*methods, "HEAD"] if "GET" in methods else methods for methods in by_route.values()]
    return list(dict.fromkeys(name for methods in names for name in methods))
