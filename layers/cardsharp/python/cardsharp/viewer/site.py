"""The pages over a source of matches, as an ASGI application: on this machine and in the cloud."""

import hashlib
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from http import HTTPStatus
from typing import Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cardsharp.cloud.listing import is_match_of
from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games import game
from cardsharp.replay import fault_of, header_of, outcome_of
from cardsharp.viewer import pages as texts
from cardsharp.viewer.assets import ASSETS, HEADERS, asset
from cardsharp.viewer.base import Site
from cardsharp.viewer.explained import Explained, explained
from cardsharp.viewer.pages import Column, PlayOn, Row
from cardsharp.viewer.shown import BranchesOf, DrawnBranch, DrawnMatch, branches_of, shown, sides

PAGE = 50  # matches that a list shows, and how many more a further click

MOST = 10_000
_DIGITS = 9
HOLD = timedelta(seconds=20)  # how long a question for something new is held

SITE = Site("Cardsharp", judged=True)
_COLUMNS = (
    Column("Game", "when"),
    Column("Result", "spare"),
    Column("Score", "num"),
    Column("Started (UTC)", "spare when"),
)


class Source(Protocol):
    """Where matches come from; asked from several threads. Its methods raise `CardsharpError`."""

    @property
    def pause(self) -> timedelta:
        """How long to wait between two looks for something new."""

    def matches(self, day: date | None, status: Status | None, limit: int) -> list[MatchRecord]:
        """The matches, the last started first."""

    def match(self, match_id: str) -> MatchRecord | None:
        """A match without its moves; its `beat` grows whenever there is something new."""

    def moves(self, match_id: str) -> list[MoveRecord]:
        """All moves of a match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How pages are served.

    Who is a guest (`Door`) sees of a match that runs what a spectator may know, of any other all.
    `public` pages show nothing but what everybody at the table sees. A question for something new
    is held for `hold`; a list has `most` matches at most. What is `behind` has matches that are not
    listed, such as the `branches` of those that are; with `play_on` more can be played. What cannot
    change any more is kept by browsers as `over` says, what they load as `assets` says: values of
    Cache-Control.
    """

    site: Site = SITE
    public: bool = False
    hold: timedelta = HOLD
    most: int = MOST
    behind: Source | None = None
    branches: BranchesOf = lambda _: ()
    play_on: PlayOn | None = None
    over: str = HEADERS["Cache-Control"]
    assets: str = HEADERS["Cache-Control"]


class Pages:
    """The pages over one source."""

    def __init__(self, source: Source, manner: Manner = Manner()) -> None:
        self.manner, self._source = manner, source
        self._closed = threading.Event()
        self._drawn = lru_cache(maxsize=32)(self._draw)
        self._explained = lru_cache(maxsize=32)(explained)

    def close(self) -> None:
        """Answer whoever waits for something new."""
        self._closed.set()

    def root(self, _request: Request) -> Response:
        """GET /."""
        return RedirectResponse(self.manner.site.matches)

    def matches(self, request: Request) -> Response:
        """GET /matches: the newest, of a day or a status where one is named."""
        query, site = request.query_params, self.manner.site
        limit = min(self.manner.most, _number(request, "limit") or PAGE)
        status = Status(query["status"]) if query.get("status") in set(Status) else None
        day = None
        with suppress(ValueError):
            day = date.fromisoformat(query.get("day", ""))
        found = self._source.matches(day, status, limit + 1)
        more = request.url.include_query_params(limit=limit + PAGE)
        older = f"?{more.query}" if limit < self.manner.most and len(found) > limit else ""
        rows = (_row(site, record) for record in found[:limit])
        filters = texts.filters_part(day, status)
        return HTMLResponse(texts.list_page(site, _COLUMNS, rows, filters, older))

    def match(self, request: Request) -> Response:
        """GET /matches/{id}."""
        match = self._shown(request)
        analysis = self._judged(request, match) if "analysis" in request.query_params else None
        manner, number = self.manner, _number(request, "step")
        found, play_on = self.branches(match), manner.play_on
        page = texts.match_page(
            manner.site, match, number, analysis, branches=found, play_on=play_on
        )
        return self._of(match, HTMLResponse(page))

    def steps(self, request: Request) -> Response:
        """GET /matches/{id}/steps: those from a number on; with `wait` once there are some."""
        start = _number(request, "from") or 0
        match = self._shown(request)
        left = self.manner.hold if "wait" in request.query_params else timedelta()
        while left > timedelta() and len(match.frames) <= start and not match.over:
            if self._closed.wait(self._source.pause.total_seconds()):
                break
            left -= self._source.pause
            match = self._shown(request)
        return self._of(match, JSONResponse(texts.steps_document(match, start)))

    def analysis(self, request: Request) -> Response:
        """GET /matches/{id}/analysis: what a judge says of a match that is over."""
        match = self._shown(request)
        return self._of(
            match, JSONResponse(texts.analysis_document(match, self._judged(request, match)))
        )

    def asset(self, request: Request) -> Response:
        """GET /page/{name}: what the pages load."""
        name = request.path_params["name"]
        if name not in ASSETS:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        keep = {"Cache-Control": self.manner.assets}
        return Response(asset(name), media_type=ASSETS[name], headers=keep)

    def failed(self, _request: Request, error: Exception) -> Response:
        """A page that says what there is not, or why matches cannot be read."""
        told, status = str(error), int(HTTPStatus.SERVICE_UNAVAILABLE)
        if isinstance(error, HTTPException):
            told, status = error.detail, error.status_code
        return HTMLResponse(texts.message_page(self.manner.site, told), status, headers=HEADERS)

    def _of(self, match: DrawnMatch, response: Response) -> Response:
        """An answer about a match, which may be kept once that is over."""
        if match.over:
            response.headers["Cache-Control"] = self.manner.over
        return response

    def _judged(self, request: Request, match: DrawnMatch) -> Explained | None:
        """What a judge says of a match to whoever asks, if anything."""
        told = self.manner.site.judged and (match.over or not _is_guest(request))
        return self._explained(match) if told else None

    def branches(self, match: DrawnMatch) -> list[DrawnBranch]:
        """The branches of a match."""

        def drawn(match_id: str) -> DrawnMatch | None:
            found = self.found(match_id)
            return None if found is None else self._drawn_of(found[0], public=self.manner.public)

        return branches_of(match.record.match_id, self.manner.branches, drawn)

    def found(self, match_id: str) -> tuple[MatchRecord, Source] | None:
        """A match of that id, and the source that has it."""
        for source in filter(None, (self._source, self.manner.behind)):
            try:
                record = source.match(match_id)
            except ConfigError:  # where there is no log yet
                continue
            if record is not None:
                return record, source
        return None

    def _shown(self, request: Request) -> DrawnMatch:
        found = self.found(request.path_params["id"])
        if found is None:
            raise _none(request.path_params["id"])
        blind = _is_guest(request) and found[0].status is not Status.FINISHED
        return self._drawn_of(found[0], public=blind or self.manner.public)

    def _drawn_of(self, record: MatchRecord, *, public: bool) -> DrawnMatch:
        return self._drawn(record.match_id, record.beat, record.status, public=public)

    def _draw(self, match_id: str, _beat: int, _status: Status, *, public: bool) -> DrawnMatch:
        """The match as it is; kept until something is new."""
        found = self.found(match_id)
        if found is None:
            raise _none(match_id)
        record, source = found
        return shown(record, source.moves(match_id), public=public)


def application(pages: Pages, around: Sequence[Middleware] = ()) -> Starlette:
    """The pages as an application, with what is to be around them."""
    site = pages.manner.site
    routes = {
        "/": pages.root,
        site.matches: pages.matches,
        f"{site.matches}/{{id}}": pages.match,
        f"{site.matches}/{{id}}/steps": pages.steps,
        f"{site.matches}/{{id}}/analysis": pages.analysis,
        f"{site.assets}/{{name}}": pages.asset,
    }
    return Starlette(
        routes=[Route(path, _settled(answer)) for path, answer in routes.items()],
        middleware=[*around, Middleware(GZipMiddleware, minimum_size=2000)],
        exception_handlers=dict.fromkeys((CardsharpError, HTTPException), pages.failed),
    )


def _settled(answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """The same with the headers of every page, and without a body that the browser has already."""

    def settled(request: Request) -> Response:
        response = answer(request)
        tag = f'W/"{hashlib.sha256(response.body).hexdigest()[:32]}"'
        for name, value in {**HEADERS, "ETag": tag}.items():
            response.headers.setdefault(name, value)
        if tag not in request.headers.get("if-none-match", ""):
            return response
        kept = {name: response.headers[name] for name in (*HEADERS, "ETag")}
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=kept)

    return settled


def _number(request: Request, name: str) -> int | None:
    """A number in the address, None where there is none; one that is too long is none."""
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else None


def _is_guest(request: Request) -> bool:
    return getattr(request.state, "guest", False)


def _none(match_id: str) -> HTTPException:
    return HTTPException(HTTPStatus.NOT_FOUND, f"There is no match {match_id} here.")


def _row(site: Site, record: MatchRecord) -> Row:
    """A match in the list; of one that cannot be read only its id."""
    link = f"{site.matches}/{record.match_id}"
    live = record.status is not Status.FINISHED
    if fault_of(record) is not None or (record.header and not is_match_of(None, record)):
        return Row(link, live, record.match_id, ("", "cannot be read", "", ""))
    header, outcome = header_of(record), outcome_of(record)
    players = " v ".join(sides(header)) or record.match_id
    scores = None if outcome is None else outcome.scores
    score = " : ".join(map(str, scores or ()))
    result = "" if outcome is None else outcome.result
    started = f"{record.started:%Y-%m-%d %H:%M}"
    return Row(link, live, players, (game(header.game).title, result, score, started))
