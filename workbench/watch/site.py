"""The pages over a source of matches, as an ASGI application and as a server on this machine."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import date, timedelta
from functools import lru_cache
from typing import Self

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cardsharp.cloud.ports import MatchRecord, Status
from cardsharp.errors import CardsharpError
from cardsharp.replay import fault_of, header_of, outcome_of
from cardsharp.viewer.explained import explained
from cardsharp.viewer.pages import (
    ASSETS,
    HEADERS,
    Row,
    Site,
    analysis_document,
    asset,
    list_page,
    match_page,
    steps_document,
)
from cardsharp.viewer.shown import Shown, shown, sides
from workbench.listening import Background, Server, listen, url_of
from workbench.watch.sources import Source

HOST = "127.0.0.1"
BACKLOG = 64
PAGE = 50
"""Matches that a list shows, and how many more a further click."""

MOST = 10_000
HOLD = timedelta(seconds=20)
"""How long a question for something new is held."""

SITE = Site("Cardsharp", judged=True)
_COLUMNS = ("Game", "Result", "Score", "Started (UTC)")


class Pages:
    """The pages over one source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._closed = threading.Event()
        self._drawn = lru_cache(maxsize=32)(self._draw)
        self._explained = lru_cache(maxsize=32)(explained)

    def close(self) -> None:
        """Answer whoever waits for something new."""
        self._closed.set()

    def root(self, _request: Request) -> Response:
        """GET /."""
        return RedirectResponse(SITE.matches)

    def matches(self, request: Request) -> Response:
        """GET /matches: the newest, of a day or a status where one is named."""
        query = request.query_params
        limit = min(MOST, int(query["limit"])) if query.get("limit", "").isdecimal() else PAGE
        status = Status(query["status"]) if query.get("status") in set(Status) else None
        day = None
        with suppress(ValueError):
            day = date.fromisoformat(query.get("day", ""))
        found = self._source.matches(day, status, limit + 1)
        more = request.url.include_query_params(limit=limit + PAGE)
        older = f"?{more.query}" if len(found) > limit else ""
        rows = map(_row, found[:limit])
        page = list_page(SITE, _COLUMNS, rows, _filters(day, status), older)
        return HTMLResponse(page, headers=HEADERS)

    def match(self, request: Request) -> Response:
        """GET /matches/{id}."""
        step = request.query_params.get("step", "")
        match = self._shown(request)
        analysis = self._explained(match) if "analysis" in request.query_params else None
        page = match_page(SITE, match, int(step) if step.isdecimal() else None, analysis)
        return HTMLResponse(page, headers=HEADERS)

    def steps(self, request: Request) -> Response:
        """GET /matches/{id}/steps: those from a number on; with `wait` once there are some."""
        query = request.query_params
        start = int(query["from"]) if query.get("from", "").isdecimal() else 0
        match = self._shown(request)
        left = HOLD if "wait" in query else timedelta()
        while left > timedelta() and len(match.frames) <= start and not match.over:
            if self._closed.wait(self._source.pause.total_seconds()):
                break
            left -= self._source.pause
            match = self._shown(request)
        return JSONResponse(steps_document(match, start), headers=HEADERS)

    def analysis(self, request: Request) -> Response:
        """GET /matches/{id}/analysis: what a judge says of a match that is over."""
        match = self._shown(request)
        told = analysis_document(match, self._explained(match))
        return JSONResponse(told, headers=HEADERS)

    def asset(self, request: Request) -> Response:
        """GET /page/{name}: what the pages load."""
        name = request.path_params["name"]
        if name not in ASSETS:
            raise HTTPException(404)
        return Response(asset(name), media_type=ASSETS[name], headers=HEADERS)

    def _shown(self, request: Request) -> Shown:
        match_id = request.path_params["id"]
        record = self._source.match(match_id)
        if record is None:
            raise HTTPException(404, f"There is no match {match_id} here.")
        return self._drawn(match_id, record.beat, record.status)

    def _draw(self, match_id: str, _beat: int, _status: Status) -> Shown:
        """The match as it is; kept until something is new."""
        record = self._source.match(match_id)
        if record is None:
            raise HTTPException(404, f"There is no match {match_id} here.")
        return shown(record, self._source.moves(match_id))


def application(pages: Pages) -> Starlette:
    """The pages as an application, for this machine's own browsers."""
    return Starlette(
        routes=[
            Route("/", pages.root),
            Route("/matches", pages.matches),
            Route("/matches/{id}", pages.match),
            Route("/matches/{id}/steps", pages.steps),
            Route("/matches/{id}/analysis", pages.analysis),
            Route("/page/{name}", pages.asset),
        ],
        middleware=[
            # A page of somebody else's whose name leads here is not answered.
            Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"]),
            Middleware(GZipMiddleware, minimum_size=2000),
        ],
        exception_handlers={CardsharpError: _refused, HTTPException: _missing},
    )


class WatchServer:
    """The pages over a source, served on a thread of its own while the `with` lasts.

    Raises:
        ConfigError: the port cannot be used.
    """

    def __init__(self, source: Source, port: int = 0) -> None:
        pages = Pages(source)
        app = application(pages)
        listening = listen("The page", HOST, port, BACKLOG)
        self.url = url_of(listening)

        def server(started: Callable[[], None]) -> Server:
            return Server(app, pages.close, started)

        self._background = Background("The page", listening, server)

    def __enter__(self) -> Self:
        self._background.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._background.stop()


def _row(record: MatchRecord) -> Row:
    """A match in the list; of one that cannot be read only its id."""
    link = f"{SITE.matches}/{record.match_id}"
    live = record.status is not Status.FINISHED
    if fault_of(record) is not None:
        return Row(link, live, record.match_id, ("", "cannot be read", "", ""))
    header, outcome = header_of(record), outcome_of(record)
    players = " v ".join(sides(header)) or record.match_id
    scores = None if outcome is None else outcome.scores
    score = " : ".join(map(str, scores or ()))
    result = "" if outcome is None else outcome.result
    started = f"{record.started:%Y-%m-%d %H:%M}"
    return Row(link, live, players, (header.game or "", result, score, started))


_FILTERS = Markup(
    '<form class="filters"><label>Day <input type="date" name="day" value="{}"></label>'
    '<label>State <select name="status">{}</select></label><button>Show</button></form>'
)
_OPTION = Markup('<option value="{}"{}>{}</option>')


def _filters(day: date | None, status: Status | None) -> Markup:
    named = {"": "any", **{one.value: one.value for one in Status}}
    options = (
        _OPTION.format(value, Markup(" selected") if value == (status or "") else "", name)
        for value, name in named.items()
    )
    return _FILTERS.format(day.isoformat() if day else "", Markup("").join(options))


def _refused(_request: Request, error: Exception) -> Response:
    return HTMLResponse(Markup("<p>{}</p>").format(error), 503, headers=HEADERS)


def _missing(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    told = error.detail if isinstance(error, HTTPException) else ""
    return HTMLResponse(Markup("<p>{}</p>").format(told), status, headers=HEADERS)
