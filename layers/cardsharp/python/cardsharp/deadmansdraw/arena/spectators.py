"""Spectators without a password, where the organiser wants them: `cardsharp arena --public`.

They look at matches and pages and at nothing else, and never learn what a player does not know.
An answer serves everybody who asks for the same within a moment, and whoever asks too much is
refused, so that however many look on, the players are not kept waiting.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response

from cardsharp.cloud.clock import Now
from cardsharp.deadmansdraw.arena.limits import SlowDown
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.web.refusals import Refused

SPECTATOR = User("spectator", None, "spectator")

FRESH = timedelta(milliseconds=300)
"""How long an answer serves: with the pause of `live.js` a card is there within a second."""

PER_ADDRESS = 1200
"""Requests an address may send in a minute: ten who watch a match each."""

MOST_KEPT = 256
"""Answers that are kept at a time."""

MOST_BYTES = 1_000_000
"""Bytes of the largest answer that is kept."""


@dataclass(frozen=True, slots=True)
class _Kept:
    until: datetime
    response: Response


class Spectators:
    """What is answered to those who do not say who they are."""

    def __init__(self, clock: Now) -> None:
        self._clock = clock
        self._pace = SlowDown(PER_ADDRESS, clock)
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def answer(
        self, request: Request, address: str, made: Callable[[], Awaitable[Response]]
    ) -> Response:
        """The answer, perhaps one of a moment ago; raises `Refused` if asked for too often."""
        if self._pace.count(address).delay:
            raise Refused(429, "Too many requests; a minute later they are answered again.")
        key = f"{request.method} {request.url.path}?{request.url.query}"
        now = self._clock()
        known = self._kept.get(key)
        if known is not None and now < known.until:
            return known.response
        response = await made()
        response.headers.setdefault("Cache-Control", "no-cache")
        if len(response.body) <= MOST_BYTES:
            self._kept[key] = _Kept(now + FRESH, response)
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return response
