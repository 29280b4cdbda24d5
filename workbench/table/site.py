"""A table's seats over HTTP: each has a secret address, by which it sees, answers and asks."""

import ipaddress
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, timedelta
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.errors import CardsharpError
from cardsharp.viewer.assets import HEADERS
from cardsharp.viewer.base import Site
from cardsharp.viewer.site import Manner, Pages, application
from workbench.listening import Server, listen, serving, url_of
from workbench.table.chair import REFUSALS
from workbench.table.pages import ASSETS, SITE, message, news_document, own_asset, seat_page
from workbench.table.room import Room

HOST = "127.0.0.1"
BACKLOG = 64
HOLD = timedelta(seconds=15)
"""How long a question for something new is held."""

_LARGEST = 2000
"""Bytes of a form."""

_NEW = {**HEADERS, "Cache-Control": "no-store"}
"""What stands at a seat is never shown from a cache."""

_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - what a user may ask for
_NOBODYS = ("192.0.2.1", 9)
"""An address for documentation: to ask which way packets would go, of which none is sent."""

Form = Mapping[str, str]


class TableMatches:
    """The matches of a table that are over, as the pages of matches ask for them."""

    pause = timedelta(seconds=5)

    def __init__(self, room: Room) -> None:
        self._room = room

    def matches(self, day: date | None, status: Status | None, limit: int) -> list[MatchRecord]:
        """All of them, the newest first; none is live."""
        found = [one.match.record for one in reversed(self._room.played.values())]
        return [
            one
            for one in found
            if status in {None, one.status} and day in {None, one.started.date()}
        ][:limit]

    def match(self, match_id: str) -> MatchRecord | None:
        """One of them."""
        part = self._room.played.get(match_id)
        return None if part is None else part.match.record

    def moves(self, match_id: str) -> list[MoveRecord]:
        """The moves of one."""
        part = self._room.played.get(match_id)
        return [] if part is None else list(part.match.moves)


class TableSeats:
    """What is asked at the seats of a table."""

    def __init__(self, room: Room, hold: timedelta = HOLD) -> None:
        self._room, self._hold = room, hold
        self.links = [f"/seat/{chair.secret}" for chair in room.chairs]
        self._places = {chair.secret: place for place, chair in enumerate(room.chairs)}
        self._deeds: Mapping[str, Callable[[int, Form], str]] = {
            "move": self._move,
            "hint": self._hint,
            "join": self._join,
            "leave": self._leave,
            "bot": self._bot,
            "again": self._again,
        }

    def page(self, request: Request) -> Response:
        """GET /seat/{secret}."""
        place = self._place(request)
        notice = REFUSALS.get(request.query_params.get("notice", ""), "")
        with self._room.changed:
            page = seat_page(self._room, place, self._told(request), notice)
        return HTMLResponse(page, headers=_NEW)

    def news(self, request: Request) -> Response:
        """GET /seat/{secret}/news: what came after a version, once there is something."""
        place, asked = self._place(request), request.query_params.get("since", "")
        since, chair = int(asked) if asked.isdecimal() else 0, self._room.chairs[place]
        if not self._room.stopped.is_set():
            chair.wait(since, self._hold)
        chair.look()
        with self._room.changed:
            told = news_document(self._room, place, self._told(request), since)
        return JSONResponse(told, headers=_NEW)

    async def act(self, request: Request) -> Response:
        """POST /seat/{secret}/{deed}: do it; then the page, or its script is told a refusal."""
        place, deed = self._place(request), self._deeds.get(request.path_params["deed"])
        if deed is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        refused = await run_in_threadpool(deed, place, await form_of(request))
        if request.headers.get("accept") == "application/json":
            return JSONResponse({"notice": REFUSALS.get(refused, "")}, headers=_NEW)
        if not refused and request.path_params["deed"] == "move":
            await run_in_threadpool(self._room.chairs[place].settle)
        link = self.links[place] + (f"?notice={refused}" if refused else "")
        return RedirectResponse(link, HTTPStatus.SEE_OTHER, headers=_NEW)

    def asset(self, request: Request) -> Response:
        """GET /page/{name}: what seats load beside what all pages do."""
        name = request.url.path.rpartition("/")[2]
        return Response(own_asset(name), media_type=ASSETS[name], headers=HEADERS)

    def _place(self, request: Request) -> int:
        place = self._places.get(request.path_params["secret"])
        if place is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "There is no such seat; ask for a new link.")
        self._room.chairs[place].look()
        return place

    def _told(self, request: Request) -> list[str]:
        """The links as they are sent to others: with the address by which the page was asked."""
        base = str(request.base_url).rstrip("/")
        own = request.path_params["secret"]
        return [link if link.endswith(own) else f"{base}{link}" for link in self.links]

    # --- deeds: each returns the name of a notice, or nothing --------------------------------

    def _move(self, place: int, form: Form) -> str:
        return self._room.chairs[place].answer(_number(form, "number"), form.get("key", ""))

    def _hint(self, place: int, form: Form) -> str:
        return self._room.chairs[place].advise(_number(form, "number"))

    def _join(self, place: int, form: Form) -> str:
        self._room.join(self._room.chairs[place], form.get("name", ""))
        return ""

    def _leave(self, place: int, _form: Form) -> str:
        self._room.leave(self._room.chairs[place])
        return ""

    def _bot(self, place: int, form: Form) -> str:
        self._room.replace(_number(form, "place"), place)
        return ""

    def _again(self, place: int, form: Form) -> str:
        self._room.again(self._room.chairs[place], _number(form, "number"))
        return ""


def tabled(seats: TableSeats, room: Room, hosts: Iterable[str]) -> Starlette:
    """The seats as an application that answers to those names of this machine alone."""
    routes: list[BaseRoute] = [
        Route("/", _nobody),
        Route("/seat/{secret}", seats.page),
        Route("/seat/{secret}/news", seats.news),
        Route("/seat/{secret}/{deed}", seats.act, methods=["POST"]),
        *(Route(f"{SITE.assets}/{name}", seats.asset) for name in ASSETS),
    ]
    for link in seats.links:
        back = (("Back to the table", link),)
        site = Site("Cardsharp", matches=f"{link}/matches", links=back, judged=True)
        routes += application(Pages(TableMatches(room), Manner(site=site))).routes[1:]
    return Starlette(
        routes=routes,
        middleware=[
            # A page of somebody else's whose name leads here is not answered.
            Middleware(TrustedHostMiddleware, allowed_hosts=[*hosts]),
            Middleware(GZipMiddleware, minimum_size=2000),
        ],
        exception_handlers={CardsharpError: _refused, HTTPException: _missing},
    )


@contextmanager
def table_served(
    room: Room, host: str = HOST, port: int = 0, hold: timedelta = HOLD
) -> Iterator[list[str]]:
    """The addresses of a table's seats, the host's first; it is played at while the block runs.

    It is reached from this machine alone, but for a `host` that says otherwise: then the addresses
    are those by which others in the network reach it.

    Raises:
        ConfigError: the port cannot be used.
    """
    seats = TableSeats(room, hold)
    listening = listen("The table", host, port, BACKLOG)
    shown = _own_address() if host in _ANYWHERE else host
    name = f"[{shown}]" if ":" in shown else shown
    url = f"http://{name}:{url_of(listening).rpartition(':')[2]}"
    app = tabled(seats, room, {HOST, "localhost", shown, name})
    with serving("The table", listening, lambda started: Server(app, room.stop, started)):
        try:
            yield [f"{url}{link}" for link in seats.links]
        finally:
            room.stop()


def is_local(host: str) -> bool:
    """Whether nobody but this machine reaches what listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _own_address() -> str:
    """By which address others in the network reach this machine, as far as it knows."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(_NOBODYS)
        except OSError:
            return HOST
        return str(asking.getsockname()[0])


async def form_of(request: Request, largest: int = _LARGEST, fields: int = 8) -> Form:
    """A form's fields; raises `HTTPException` where it is too large."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > largest:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "That is no form of ours.")
    return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=fields))


def _number(form: Form, name: str) -> int:
    found = form.get(name, "")
    return int(found) if found.isascii() and found.isdecimal() and len(found) < 9 else -1  # noqa: PLR2004


def _nobody(_request: Request) -> Response:
    text = "A seat is reached by its link; whoever began the table has it."
    return HTMLResponse(message(text), HTTPStatus.NOT_FOUND, headers=_NEW)


def _refused(_request: Request, error: Exception) -> Response:
    return HTMLResponse(message(str(error)), HTTPStatus.SERVICE_UNAVAILABLE, headers=_NEW)


def _missing(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    told = error.detail if isinstance(error, HTTPException) else ""
    return HTMLResponse(message(told), status, headers=_NEW)
