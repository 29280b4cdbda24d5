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
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cardsharp.analysis.match_listing import is_match_of
from cardsharp.analysis.replay import header_of, outcome_of, read_error_of
from cardsharp.core.limits import MATCHES_PER_PAGE
from cardsharp.core.time_format import format_start
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.pages import match_pages as texts
from cardsharp.pages.analysis_view import AnalysisView, build_analysis_view
from cardsharp.pages.assets import BASE_ASSET_SET, HEADERS, AssetSet
from cardsharp.pages.match_pages import ContinueForm, MatchListColumn, MatchListRow
from cardsharp.pages.rendered_match import (
    BranchIds,
    RenderedBranch,
    RenderedMatch,
    render_branches,
    render_match,
)
from cardsharp.pages.templates import SiteInfo
from cardsharp.play.catalog import get_game
from cardsharp.server.asset_response import asset_endpoint
from cardsharp.server.web_application import ErrorPages, WebSettings, build_web_application
from cardsharp.store.match_log import MatchRecord, MatchStatus, MoveRecord

MAX_LISTED_MATCHES = 10_000
_MAX_DIGITS = 9
STEPS_LONG_POLL_TIMEOUT = timedelta(seconds=20)  # how long a request for new steps waits for one

DEFAULT_SITE = SiteInfo("Cardsharp", has_analysis=True)
_COLUMNS = (
    MatchListColumn("Game", "when"),
    MatchListColumn("Result", "spare"),
    MatchListColumn("Score", "num"),
    MatchListColumn("Started (UTC)", "spare when"),
)


class SiteMatchSource(Protocol):
    """Source of matches, called from several threads; its methods raise `CardsharpError`."""

    @property
    def poll_interval(self) -> timedelta:
        """Pause between two checks for something new."""

    def matches(
        self, day: date | None, status: MatchStatus | None, limit: int, cursor: str | None = None
    ) -> list[MatchRecord]:
        """The matches, the last started first; with `cursor` those after the match of this id."""

    def match(self, match_id: str) -> MatchRecord | None:
        """Return a match without its moves; its `lease_version` grows with every change."""

    def moves(self, match_id: str) -> list[MoveRecord]:
        """All moves of a match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesConfig:
    """Configuration of the pages.

    In a running match a guest (`AccessGate`) sees only what a spectator may see; in a finished
    one everything. With `hide_private` the pages show everybody only what all players at the
    table see. A long poll lasts at most `long_poll_timeout`; a list has at most `max_matches`
    matches. `unlisted_source` has further matches, such as the `branches` of listed ones. With
    `continue_form` users can play on from a match. The values of Cache-Control are
    `finished_cache_control` for matches that cannot change any more, and `assets_cache_control`
    for assets.
    """

    site: SiteInfo = DEFAULT_SITE
    assets: AssetSet = BASE_ASSET_SET
    hide_private: bool = False
    long_poll_timeout: timedelta = STEPS_LONG_POLL_TIMEOUT
    max_matches: int = MAX_LISTED_MATCHES
    unlisted_source: SiteMatchSource | None = None
    branches: BranchIds = lambda _: ()
    continue_form: ContinueForm | None = None
    finished_cache_control: str = HEADERS["Cache-Control"]
    assets_cache_control: str = HEADERS["Cache-Control"]


class MatchSite:
    """Web pages with the matches of one source."""

    def __init__(self, source: SiteMatchSource, config: PagesConfig = PagesConfig()) -> None:
        self.manner, self._source = config, source
        self._closed = threading.Event()
        self._render_cached = lru_cache(maxsize=32)(self._render_uncached)
        self._build_analysis_cached = lru_cache(maxsize=32)(build_analysis_view)

    def end_long_polls(self) -> None:
        """End all long polls, so that the server can stop; the source stays open."""
        self._closed.set()

    def root(self, _request: Request) -> Response:
        """Serve GET /: redirect to the list of matches."""
        return RedirectResponse(self.manner.site.matches_path)

    def matches(self, request: Request) -> Response:
        """GET /matches: a page of matches, filtered by day or status if the query has one.

        It has the newest matches, or those after the match that `cursor` names.
        """
        query, site = request.query_params, self.manner.site
        limit = min(
            self.manner.max_matches, _parse_query_number(request, "limit") or MATCHES_PER_PAGE
        )
        status = MatchStatus(query["status"]) if query.get("status") in set(MatchStatus) else None
        day = None
        with suppress(ValueError):
            day = date.fromisoformat(query.get("day", ""))
        has_pages = limit < self.manner.max_matches
        cursor = (query.get("cursor") or None) if has_pages else None
        records = self._source.matches(day, status, limit + 1, cursor)
        older = ""
        if has_pages and len(records) > limit:
            older = f"?{request.url.include_query_params(cursor=records[limit - 1].match_id).query}"
        rows = (_build_list_row(site, record) for record in records[:limit])
        filters = texts.filters_fragment(day, status)
        return HTMLResponse(texts.match_list_page(site, _COLUMNS, rows, filters, older))

    def match(self, request: Request) -> Response:
        """Serve GET /matches/{id}: the page of the match at one step.

        With `analysis` in the query it includes the judge's analysis.
        """
        match = self._requested_match(request)
        analysis = (
            self._find_analysis(request, match) if "analysis" in request.query_params else None
        )
        manner, step_number = self.manner, _parse_query_number(request, "step")
        branches, play_on = self.render_branches(match), manner.continue_form
        page = texts.match_page(
            manner.site, match, step_number, analysis, branches=branches, continue_form=play_on
        )
        return self._with_cache_control(match, HTMLResponse(page))

    def steps(self, request: Request) -> Response:
        """GET /matches/{id}/steps: those from a number on; with `wait` once there are some."""
        start = _parse_query_number(request, "from") or 0
        match = self._requested_match(request)
        remaining = self.manner.long_poll_timeout if "wait" in request.query_params else timedelta()
        while remaining > timedelta() and len(match.steps) <= start and not match.is_over:
            if self._closed.wait(self._source.poll_interval.total_seconds()):
                break
            remaining -= self._source.poll_interval
            match = self._requested_match(request)
        return self._with_cache_control(match, JSONResponse(texts.steps_json(match, start)))

    def analysis(self, request: Request) -> Response:
        """GET /matches/{id}/analysis: what a judge says of a match that is over."""
        match = self._requested_match(request)
        return self._with_cache_control(
            match, JSONResponse(texts.analysis_json(match, self._find_analysis(request, match)))
        )

    def error_page(self, _request: Request, error: Exception) -> Response:
        """Return a page that says what is missing, or why matches cannot be read."""
        message, status = str(error), int(HTTPStatus.SERVICE_UNAVAILABLE)
        if isinstance(error, HTTPException):
            message, status = error.detail, error.status_code
        return HTMLResponse(texts.message_page(self.manner.site, message), status, headers=HEADERS)

    def _with_cache_control(self, match: RenderedMatch, response: Response) -> Response:
        """Return a response about a match, with permission to cache it once the match is over."""
        if match.is_over:
            response.headers["Cache-Control"] = self.manner.finished_cache_control
        return response

    def _find_analysis(self, request: Request, match: RenderedMatch) -> AnalysisView | None:
        """Return the analysis of a match, None if there is none or the visitor may not see it."""
        is_allowed = self.manner.site.has_analysis and (match.is_over or not _is_guest(request))
        return self._build_analysis_cached(match) if is_allowed else None

    def render_branches(self, match: RenderedMatch) -> list[RenderedBranch]:
        """Return the branches of a match, rendered: matches that start from one of its steps."""

        def render(match_id: str) -> RenderedMatch | None:
            located = self.find_match_and_source(match_id)
            return (
                None
                if located is None
                else self._render_record(located[0], public=self.manner.hide_private)
            )

        return render_branches(match.record.match_id, self.manner.branches, render)

    def find_match_and_source(self, match_id: str) -> tuple[MatchRecord, SiteMatchSource] | None:
        """Return the record of a match and the source that has it, or None."""
        for source in filter(None, (self._source, self.manner.unlisted_source)):
            try:
                record = source.match(match_id)
            except ConfigError:  # where there is no log yet
                continue
            if record is not None:
                return record, source
        return None

    def _requested_match(self, request: Request) -> RenderedMatch:
        located = self.find_match_and_source(request.path_params["id"])
        if located is None:
            raise _match_missing_error(request.path_params["id"])
        blind = _is_guest(request) and located[0].status is not MatchStatus.FINISHED
        return self._render_record(located[0], public=blind or self.manner.hide_private)

    def _render_record(self, record: MatchRecord, *, public: bool) -> RenderedMatch:
        return self._render_cached(
            record.match_id, record.lease_version, record.status, public=public
        )

    def _render_uncached(
        self, match_id: str, _lease_version: int, _status: MatchStatus, *, public: bool
    ) -> RenderedMatch:
        """Render a match; the caller caches the result until the match changes."""
        located = self.find_match_and_source(match_id)
        if located is None:
            raise _match_missing_error(match_id)
        record, source = located
        return render_match(record, source.moves(match_id), hide_private=public)

    @property
    def error_pages(self) -> ErrorPages:
        """The pages that say what is missing, or why matches cannot be read."""
        return ErrorPages(handlers=dict.fromkeys((CardsharpError, HTTPException), self.error_page))


def match_page_routes(pages: MatchSite) -> list[Route]:
    """Return the routes of the list, the matches and their assets."""
    site = pages.manner.site
    routes = {
        site.matches_path: pages.matches,
        f"{site.matches_path}/{{id}}": pages.match,
        f"{site.matches_path}/{{id}}/steps": pages.steps,
        f"{site.matches_path}/{{id}}/analysis": pages.analysis,
        f"{site.assets_path}/{{name}}": asset_endpoint(
            pages.manner.assets, pages.manner.assets_cache_control
        ),
    }
    return [Route(path, _with_page_headers(endpoint)) for path, endpoint in routes.items()]


def build_pages_application(
    pages: MatchSite,
    settings: WebSettings = WebSettings(),  # noqa: B008 - frozen
    extra_routes: Sequence[BaseRoute] = (),
) -> Starlette:
    """Return the pages as an application, which `extra_routes` precede."""
    home = Route("/", _with_page_headers(pages.root))
    routes = [*extra_routes, home, *match_page_routes(pages)]
    return build_web_application(routes, settings, pages.error_pages)


def _with_page_headers(endpoint: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Return an endpoint that adds the headers of every page and supports ETags."""

    def settled(request: Request) -> Response:
        response = endpoint(request)
        tag = f'W/"{hashlib.sha256(response.body).hexdigest()[:32]}"'
        for name, value in {**HEADERS, "ETag": tag}.items():
            response.headers.setdefault(name, value)
        if tag not in request.headers.get("if-none-match", ""):
            return response
        headers = {name: response.headers[name] for name in (*HEADERS, "ETag")}
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)

    return settled


def _parse_query_number(request: Request, name: str) -> int | None:
    """Return a number of the query, None if it is missing, too long or not a number."""
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else None


def _is_guest(request: Request) -> bool:
    return getattr(request.state, "guest", False)


def _match_missing_error(match_id: str) -> HTTPException:
    return HTTPException(HTTPStatus.NOT_FOUND, f"This match log has no match {match_id}.")


def _build_list_row(site: SiteInfo, record: MatchRecord) -> MatchListRow:
    """Return the row of a match in the list; of an unreadable match it has only the id."""
    link = f"{site.matches_path}/{record.match_id}"
    live = record.status is not MatchStatus.FINISHED
    if read_error_of(record) is not None or (record.header and not is_match_of(None, record)):
        return MatchListRow(link, live, record.match_id, ("", "cannot be read", "", ""))
    header, outcome = header_of(record), outcome_of(record)
    players = " v ".join(header.side_names) or record.match_id
    scores = None if outcome is None else outcome.scores
    score = " : ".join(map(str, scores or ()))
    result = "" if outcome is None else outcome.result
    started = format_start(record.started_at).removesuffix(" UTC")
    return MatchListRow(link, live, players, (get_game(header.game).title, result, score, started))
