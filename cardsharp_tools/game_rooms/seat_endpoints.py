"""HTTP endpoints of the seats of all open rooms: the page, its updates, and what a person does."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cardsharp.pages import match_pages
from cardsharp.pages.assets import HEADERS
from cardsharp.server.forms import Form, read_form
from cardsharp_tools.game_rooms.browser_seat import REFUSAL_MESSAGES
from cardsharp_tools.game_rooms.game_room import GameRoom
from cardsharp_tools.game_rooms.seat_pages import SITE, seat_page, updates_document

SEAT_LONG_POLL_TIMEOUT = timedelta(seconds=15)  # how long a request for updates waits for one
NO_CACHE_HEADERS = {
    **HEADERS,
    "Cache-Control": "no-store",  # a cached seat would be out of date
    "Referrer-Policy": "no-referrer",  # the address of a seat is a secret
}


def seat_links(room: GameRoom) -> list[str]:
    """Return the paths of the seats of a room, the host's first."""
    return [f"/seat/{browser_seat.secret}" for browser_seat in room.chairs]


def message_page(text: str, status: int) -> Response:
    """Return a page that shows only a message."""
    page = match_pages.message_page(SITE, text, links_to_matches=False)
    return HTMLResponse(page, status, headers=NO_CACHE_HEADERS)


class SeatEndpoints:
    """HTTP endpoints of the seats of all open rooms; a path has the secret of a seat."""

    def __init__(self, long_poll_timeout: timedelta = SEAT_LONG_POLL_TIMEOUT) -> None:
        self._long_poll_timeout = long_poll_timeout
        self._seats_by_secret: dict[str, tuple[GameRoom, int]] = {}

    def open_room(self, room: GameRoom) -> None:
        """Serve the seats of a room from now on."""
        for seat_index, browser_seat in enumerate(room.chairs):
            self._seats_by_secret[browser_seat.secret] = room, seat_index

    def close_room(self, room: GameRoom) -> None:
        """Stop a room, whose seats are served no longer."""
        for browser_seat in room.chairs:
            self._seats_by_secret.pop(browser_seat.secret, None)
        room.stop()

    def routes(self) -> list[Route]:
        """Return the routes of the seats."""
        return [
            Route("/seat/{secret}", self.page),
            Route("/seat/{secret}/news", self.updates),
            Route("/seat/{secret}/{deed}", self.act, methods=["POST"]),
        ]

    def page(self, request: Request) -> Response:
        """Serve GET /seat/{secret}: the page on which the player of this seat plays."""
        room, seat_index = self._visit_seat(request)
        notice = REFUSAL_MESSAGES.get(request.query_params.get("notice", ""), "")
        with room.condition:
            page = seat_page(room, seat_index, _build_absolute_links(room, request), notice)
        return HTMLResponse(page, headers=NO_CACHE_HEADERS)

    def updates(self, request: Request) -> Response:
        """GET /seat/{secret}/news: the updates after a version; waits until there is one."""
        room, seat_index = self._visit_seat(request)
        browser_seat, since_text = room.chairs[seat_index], request.query_params.get("since", "")
        since = int(since_text) if since_text.isdecimal() else 0
        if not room.stopped.is_set():
            browser_seat.wait_for_update(since, self._long_poll_timeout)
        browser_seat.record_visit()
        with room.condition:
            links = _build_absolute_links(room, request)
            document = updates_document(room, seat_index, links, since)
        return JSONResponse(document, headers=NO_CACHE_HEADERS)

    async def act(self, request: Request) -> Response:
        """POST /seat/{secret}/{deed}: run the action; then redirect to the page.

        The page's script gets JSON instead, with a message if the action was rejected.
        """
        room, seat_index = self._visit_seat(request)
        deed = _FORM_HANDLERS.get(request.path_params["deed"])
        if deed is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        refusal = await run_in_threadpool(deed, room, seat_index, await read_form(request)) or ""
        if request.headers.get("accept") == "application/json":
            return JSONResponse(
                {"notice": REFUSAL_MESSAGES.get(refusal, "")}, headers=NO_CACHE_HEADERS
            )
        if not refusal and request.path_params["deed"] in {"move", "undo"}:
            await run_in_threadpool(room.chairs[seat_index].wait_for_question)
        link = seat_links(room)[seat_index] + (f"?notice={refusal}" if refusal else "")
        return RedirectResponse(link, HTTPStatus.SEE_OTHER, headers=NO_CACHE_HEADERS)

    def _visit_seat(self, request: Request) -> tuple[GameRoom, int]:
        """Return the room and the index of the seat with this secret, and record the visit."""
        seat = self._seats_by_secret.get(request.path_params["secret"])
        if seat is None:
            raise HTTPException(
                HTTPStatus.NOT_FOUND,
                "This link leads to no seat. Ask the person who began the game for a new link.",
            )
        room, seat_index = seat
        room.chairs[seat_index].record_visit()
        return seat


def _build_absolute_links(room: GameRoom, request: Request) -> list[str]:
    """Return the links for other players, with the host by which the page was requested."""
    base, secret = str(request.base_url).rstrip("/"), request.path_params["secret"]
    return [link if link.endswith(secret) else f"{base}{link}" for link in seat_links(room)]


def form_number_or_negative(form_data: Form, name: str) -> int:
    """Return a field of a form as a number, or -1 if it is not a number."""
    text = form_data.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else -1  # noqa: PLR2004


_FORM_HANDLERS: Mapping[str, Callable[[GameRoom, int, Form], str | None]] = {
    "move": lambda room, at, form: room.chairs[at].answer(
        form_number_or_negative(form, "number"), form.get("key", "")
    ),
    "hint": lambda room, at, form: room.chairs[at].show_advice(
        form_number_or_negative(form, "number")
    ),
    "undo": lambda room, at, form: room.chairs[at].undo(form_number_or_negative(form, "number")),
    "join": lambda room, at, form: room.join(room.chairs[at], form.get("name", "")),
    "leave": lambda room, at, _form: room.leave(room.chairs[at]),
    "bot": lambda room, at, form: room.replace_absent_player(
        form_number_or_negative(form, "place"), at
    ),
    "again": lambda room, at, form: room.request_rematch(
        room.chairs[at], form_number_or_negative(form, "number")
    ),
}
"""Actions at a seat by their name in the path; each returns a key of `REFUSAL_MESSAGES`."""
