"""A table's seats over HTTP: each has a secret address, by which it sees, answers and asks."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from cardsharp.viewer.assets import HEADERS
from workbench.table.chair import REFUSALS
from workbench.table.pages import news_document, seat_page
from workbench.table.room import Room

HOLD = timedelta(seconds=15)  # how long a question for something new is held
_LARGEST = 2000  # bytes of a form
NEW = {**HEADERS, "Cache-Control": "no-store"}  # what stands at a seat is never shown from a cache

Form = Mapping[str, str]


class TableSeats:
    """What is asked at the seats of a table."""

    def __init__(self, room: Room, hold: timedelta = HOLD) -> None:
        self._room, self._hold = room, hold
        self.links = [f"/seat/{chair.secret}" for chair in room.chairs]
        self._places = {chair.secret: place for place, chair in enumerate(room.chairs)}

    def page(self, request: Request) -> Response:
        """GET /seat/{secret}."""
        place = self._place(request)
        notice = REFUSALS.get(request.query_params.get("notice", ""), "")
        with self._room.changed:
            page = seat_page(self._room, place, self._told(request), notice)
        return HTMLResponse(page, headers=NEW)

    def news(self, request: Request) -> Response:
        """GET /seat/{secret}/news: what came after a version, once there is something."""
        place, asked = self._place(request), request.query_params.get("since", "")
        since, chair = int(asked) if asked.isdecimal() else 0, self._room.chairs[place]
        if not self._room.stopped.is_set():
            chair.wait(since, self._hold)
        chair.look()
        with self._room.changed:
            told = news_document(self._room, place, self._told(request), since)
        return JSONResponse(told, headers=NEW)

    async def act(self, request: Request) -> Response:
        """POST /seat/{secret}/{deed}: do it; then the page, or its script is told a refusal."""
        place, deed = self._place(request), _DEEDS.get(request.path_params["deed"])
        if deed is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        refused = await run_in_threadpool(deed, self._room, place, await form_of(request)) or ""
        if request.headers.get("accept") == "application/json":
            return JSONResponse({"notice": REFUSALS.get(refused, "")}, headers=NEW)
        if not refused and request.path_params["deed"] in {"move", "undo"}:
            await run_in_threadpool(self._room.chairs[place].settle)
        link = self.links[place] + (f"?notice={refused}" if refused else "")
        return RedirectResponse(link, HTTPStatus.SEE_OTHER, headers=NEW)

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


async def form_of(request: Request, largest: int = _LARGEST, fields: int = 8) -> Form:
    """A form's fields; raises `HTTPException` where it is too large."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > largest:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "That is no form of ours.")
    return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=fields))


def number_in(form: Form, name: str) -> int:
    """A number that a form has, -1 for what is none."""
    found = form.get(name, "")
    return int(found) if found.isascii() and found.isdecimal() and len(found) < 9 else -1  # noqa: PLR2004


_DEEDS: Mapping[str, Callable[[Room, int, Form], str | None]] = {
    "move": lambda room, at, form: room.chairs[at].answer(
        number_in(form, "number"), form.get("key", "")
    ),
    "hint": lambda room, at, form: room.chairs[at].advise(number_in(form, "number")),
    "undo": lambda room, at, form: room.chairs[at].undo(number_in(form, "number")),
    "join": lambda room, at, form: room.join(room.chairs[at], form.get("name", "")),
    "leave": lambda room, at, _form: room.leave(room.chairs[at]),
    "bot": lambda room, at, form: room.replace(number_in(form, "place"), at),
    "again": lambda room, at, form: room.again(room.chairs[at], number_in(form, "number")),
}
"""What is done at a seat, by the name in its address; what is refused, by a word for it."""
