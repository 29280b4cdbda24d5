"""Cached responses for spectators of a public arena."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response

from cardsharp.core.clock import TimeSource
from cardsharp.games.deadmansdraw.arena.access.throttling import RequestThrottle
from cardsharp.games.deadmansdraw.arena.access.users import User
from cardsharp.server.service_errors import QuotaExceeded

SPECTATOR_USER = User("spectator", None, "spectator")

SPECTATOR_CACHE_TTL = timedelta(milliseconds=300)  # short enough to show a card within a second
MAX_SPECTATOR_REQUESTS = 1200  # requests a minute from one address: ten spectators of a match
MAX_CACHED_RESPONSES = 256  # responses that are stored at a time
MAX_CACHED_BYTES = 1_000_000  # bytes of the largest response that is stored


class SpectatorCache:
    """Cached responses for requests without credentials, if the arena is public (`--public`).

    Spectators see matches and pages only, and nothing that is hidden from a player. A response
    serves all equal requests within a moment, and an address over its limit is refused, so that
    spectators do not slow the players down, however many they are.
    """

    def __init__(self, clock: TimeSource) -> None:
        self._clock = clock
        self._pace = RequestThrottle(MAX_SPECTATOR_REQUESTS, clock)
        self._responses: dict[str, tuple[datetime, Response]] = {}
        """Expiry time and response by request."""

    async def respond(
        self, request: Request, address: str, make_response: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Return a fresh or cached response.

        Raises `QuotaExceeded` if the address is over its limit.
        """
        if self._pace.count_request(address).delay:
            raise QuotaExceeded("There were too many requests. Wait a minute and try again.")
        key = f"{request.method} {request.url.path}?{request.url.query}"
        current_time = self._clock()
        until, response = self._responses.get(key, (current_time, None))
        if response is not None and current_time < until:
            return response
        response = await make_response()
        response.headers.setdefault("Cache-Control", "no-cache")
        if len(response.body) <= MAX_CACHED_BYTES:
            if len(self._responses) >= MAX_CACHED_RESPONSES:  # all of them expire soon anyway
                self._responses.clear()
            self._responses[key] = current_time + SPECTATOR_CACHE_TTL, response
        return response
