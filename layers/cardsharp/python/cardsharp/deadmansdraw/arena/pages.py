"""The web pages: matches to look at, their statistics, and the API's documentation."""

from http import HTTPStatus
from mimetypes import guess_type
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from cardsharp.deadmansdraw.arena.http import Guard, not_found, tagged
from cardsharp.deadmansdraw.arena.lobby import Lobby
from cardsharp.deadmansdraw.arena.paths import LooseRoute
from cardsharp.deadmansdraw.arena.players import Book, User
from cardsharp.deadmansdraw.arena.statistics import statistics_page, tags_page
from cardsharp.deadmansdraw.arena.templates import FOLDER, rendered
from cardsharp.deadmansdraw.arena.watching import MatchPages
from cardsharp.viewer import pages as viewer

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
ASSETS = ("arena.js", "docs.js", "icon.svg", "style.css")


class MorePages(Protocol):
    """Pages beside the arena's own, to which those lead: their title and address."""

    title: str
    path: str

    def routes(self, lobby: Lobby, guard: Guard) -> list[Route]:
        """Their routes, at an arena with these matches and these rules of admission."""


class Pages:
    """The pages over one lobby's matches."""

    def __init__(self, lobby: Lobby, book: Book) -> None:
        self._lobby = lobby
        self._book = book
        self._links: list[tuple[str, str]] = []

    def lead_to(self, path: str, title: str) -> None:
        """Have a link to another page."""
        self._links.append((path, title))

    async def root(self, _request: Request) -> Response:
        """GET /."""
        return _redirect("/matches")

    async def login(self, request: Request, _user: User) -> Response:
        """GET /login: back to the page of ours that the browser came from."""
        came_from = urlsplit(request.headers.get("referer", ""))
        ours = came_from.netloc in ("", request.headers.get("host"))
        path = came_from.path if ours and not came_from.path.startswith("//") else ""
        query = f"?{came_from.query}" if path and came_from.query else ""
        return _redirect((path or "/matches") + query)

    async def logout(self, _request: Request) -> Response:
        """GET /logout: a 401 that names no way in, at which browsers forget the password."""
        return _redirect("/login", 401)

    async def matches(self, _request: Request, _user: User) -> Response:
        """GET /matches: the script fills the list."""
        return _page(rendered("matches.jinja", links=self._links))

    async def statistics(self, request: Request, _user: User) -> Response:
        """GET /matches/statistics."""
        tag = request.query_params.get("tag")
        if tag:
            page = statistics_page(tag, self._lobby.all(), self._book, self._links)
        else:
            page = tags_page(self._lobby.all(), self._links)
        return _page(page)

    async def docs(self, _request: Request) -> Response:
        """GET /docs."""
        return _file("docs.html")

    async def openapi(self, _request: Request) -> Response:
        """GET /api and GET /swagger.json."""
        text = Path(__file__).with_name("openapi.json").read_bytes()
        return tagged(Response(text, media_type="application/json; charset=UTF-8"))

    async def warm_up(self, _request: Request) -> Response:
        """GET /_ah/warmup, with which the original's host looks whether it is there."""
        return tagged(PlainTextResponse("OK"))

    async def asset(self, request: Request) -> Response:
        """GET /page/{name}: what the pages load."""
        name = request.path_params["name"]
        if name in viewer.ASSETS:
            text, kind = viewer.asset(name), viewer.ASSETS[name]
            return tagged(Response(text, headers=SECURITY_HEADERS, media_type=kind))
        return _file(name) if name in ASSETS else not_found(request)


def page_routes(pages: Pages, matches: MatchPages, guard: Guard) -> list[Route]:
    """The routes of the pages and of what they load."""
    known, shown, everybody = guard.known, guard.shown, guard.open
    return [
        LooseRoute("/", everybody(pages.root), "GET"),
        LooseRoute("/login", known(pages.login), "GET"),
        LooseRoute("/logout", everybody(pages.logout), "GET"),
        LooseRoute("/matches", shown(pages.matches), "GET"),
        LooseRoute("/matches/statistics", shown(pages.statistics), "GET"),
        LooseRoute("/matches/{id}", shown(matches.page), "GET"),
        LooseRoute("/matches/{id}/steps", shown(matches.steps), "GET"),
        LooseRoute("/docs", everybody(pages.docs), "GET"),
        LooseRoute("/api", everybody(pages.openapi), "GET"),
        LooseRoute("/swagger.json", everybody(pages.openapi), "GET"),
        LooseRoute("/_ah/warmup", everybody(pages.warm_up), "GET"),
        LooseRoute("/page/{name}", everybody(pages.asset), "GET"),
    ]


def _redirect(path: str, status: int = 302) -> Response:
    said = f"{HTTPStatus(status).phrase}. Redirecting to {path}"
    return PlainTextResponse(said, status, headers={"Location": path})


def _page(text: str) -> Response:
    return tagged(HTMLResponse(text, headers=SECURITY_HEADERS))


def _file(name: str) -> Response:
    path = FOLDER / name
    kind, _ = guess_type(name)
    return tagged(Response(path.read_bytes(), headers=SECURITY_HEADERS, media_type=kind))
