"""The web pages: matches to look at, their statistics, and the API's documentation.

They are made here, so that they are read without script.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache, cached_property, partial
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from urllib.parse import quote, urlsplit

from jinja2 import FileSystemLoader
from markupsafe import Markup, escape
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from cardsharp.core.clock import TimeSource
from cardsharp.core.limits import MATCHES_PER_PAGE
from cardsharp.core.time_zones import to_local
from cardsharp.games.deadmansdraw.arena.access.request_guard import not_found_response, with_etag
from cardsharp.games.deadmansdraw.arena.access.spectator_cache import SPECTATOR_USER
from cardsharp.games.deadmansdraw.arena.access.users import User, UserDirectory
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.match_list import (
    MatchFilter,
    busy_days_around_month,
    filter_matches,
    query_flag,
)
from cardsharp.games.deadmansdraw.arena.openapi import arena_openapi_document
from cardsharp.games.deadmansdraw.arena.referee import Referee
from cardsharp.pages.assets import HEADERS, AssetFolder, AssetSet
from cardsharp.pages.match_pages import MatchListColumn, MatchListRow, match_list_page
from cardsharp.pages.templates import SiteInfo, template_environment
from cardsharp.server.asset_response import asset_response
from cardsharp.server.openapi_page import document_fragment

FOLDER = Path(__file__).with_name("page")
STATISTICS_ASSETS = AssetFolder(__package__, "page", ("statistics.css",))
MAX_TAG_MATCHES = 500  # matches that the statistics of a tag show
_MAX_ROWS = 5000
_COLUMNS = (
    MatchListColumn("Points", "num"),
    MatchListColumn("Turn", "num spare"),
    MatchListColumn("Draw pile", "num spare"),
    MatchListColumn("To answer", "spare"),
    MatchListColumn("Tags", "spare"),
    MatchListColumn("Started", "spare when"),
    MatchListColumn("Last move", "spare when"),
)
_TAG_LINK = Markup('<a class="tag" href="/matches/statistics?tag={}">{}</a> ')
_PLAYERS_MARKUP = Markup("{} v {}")


class GeneralArenaPages:
    """Pages of an arena that show no single match: lists, statistics, documentation, sign-in."""

    def __init__(
        self, site: SiteInfo, assets: AssetSet, referee: Referee, clock: TimeSource
    ) -> None:
        self.site, self._assets, self._referee, self._clock = site, assets, referee, clock

    async def root(self, _request: Request) -> Response:
        """Serve GET /: redirect to the list of matches."""
        return _redirect("/matches")

    async def redirect_after_login(self, request: Request, _user: User) -> Response:
        """Serve GET /login: redirect to the page of this site that the browser came from."""
        came_from = urlsplit(request.headers.get("referer", ""))
        is_same_site = came_from.netloc in ("", request.headers.get("host"))
        path = came_from.path if is_same_site and not came_from.path.startswith("//") else ""
        query = f"?{came_from.query}" if path and came_from.query else ""
        return _redirect((path or "/matches") + query)

    async def logout(self, _request: Request) -> Response:
        """GET /logout: a 401 without a challenge, so that browsers forget the password."""
        return _redirect("/login", 401)

    async def matches(self, request: Request, user: User) -> Response:
        """Serve GET /matches: a page of matches, filtered by tag, day or turn on request.

        It has the newest matches, or those after the match that `cursor` names.
        """
        query, book = request.query_params, self._referee.book
        match_filter, limit = _parse_form_filter(query), query.get("limit", "")
        max_rows = min(_MAX_ROWS, int(limit)) if limit.isdecimal() else MATCHES_PER_PAGE
        selected = filter_matches(
            self._referee.matches_for(user, active=match_filter.active), match_filter, self._clock()
        )
        ids = [match.id for match in selected]
        cursor = query.get("cursor", "")
        first = ids.index(cursor) + 1 if cursor in ids else 0
        page, has_more = selected[first : first + max_rows], len(selected) > first + max_rows
        days = busy_days_around_month(self._referee.matches_for(user), None)[::-1]
        context = {"wanted": match_filter, "days": days, "user": user, "spectator": SPECTATOR_USER}
        filters, rows = (
            render_template("filters.jinja", **context),
            [_build_match_row(match, book) for match in page],
        )
        older = f"?{QueryParams({**query, 'cursor': page[-1].id})}" if has_more else ""
        return html_response(match_list_page(self.site, _COLUMNS, rows, filters, older))

    async def tag_statistics(self, request: Request, user: User) -> Response:
        """GET /matches/statistics: of a tag; else all tags, each with its number of matches."""
        tag, matches = request.query_params.get("tag"), self._referee.public_matches(user)
        if tag:
            return html_response(statistics_page(self.site, tag, matches, self._referee.book))
        counts = sorted(
            Counter(tag for match in matches for tag in set(match.params.tags or ())).items()
        )
        return html_response(
            render_template("statistics.jinja", tag=None, counts=counts, site=self.site)
        )

    async def docs(self, _request: Request) -> Response:
        """GET /docs."""
        return self._docs_page

    @cached_property
    def _docs_page(self) -> Response:
        """Documentation page; rendered once, so that repeated requests do not delay players."""
        document = document_fragment(arena_openapi_document(), {"OpenAPI 3.1": "/api"})
        return html_response(render_template("docs.jinja", site=self.site, told=document))

    async def openapi(self, _request: Request) -> Response:
        """Serve GET /api and GET /swagger.json: the OpenAPI document."""
        return _openapi_response()

    async def app_engine_warmup(self, _request: Request) -> Response:
        """Serve GET /_ah/warmup, the health check of the original's host."""
        return with_etag(PlainTextResponse("OK"))

    async def asset(self, request: Request) -> Response:
        """Serve GET /page/{name}: a file that the pages load."""
        response = asset_response(self._assets, request.path_params["name"])
        return not_found_response(request) if response is None else with_etag(response)


def _redirect(path: str, status: int = 302) -> Response:
    message = f"{HTTPStatus(status).phrase}. Redirecting to {path}"
    return PlainTextResponse(message, status, headers={"Location": path})


def html_response(html: str, status: int = 200) -> Response:
    """An answer that shows a page."""
    return with_etag(HTMLResponse(html, status, headers=HEADERS))


@cache
def _openapi_response() -> Response:
    return with_etag(
        Response(
            json.dumps(arena_openapi_document(), ensure_ascii=False),
            media_type="application/json; charset=UTF-8",
        )
    )


# --- the list of matches -----------------------------------------------------------------------


def _parse_form_filter(query: QueryParams) -> MatchFilter:
    """Return the filter of the page's form; unlike in the API, an empty field is ignored."""
    tags = [tag for tag in query.get("tags", "").split(",") if tag]
    day = query.get("at") or None
    return MatchFilter(query_flag(query, "active"), frozenset(tags) if tags else None, day)


def _build_match_row(match: ArenaMatch, book: UserDirectory) -> MatchListRow:
    state = match.state
    names = [_render_player(match, seat, book) for seat in range(len(match.pairing.players))]
    return MatchListRow(
        f"/matches/{match.id}",
        not match.is_finished,
        _PLAYERS_MARKUP.format(*names),
        (
            " : ".join(str(bank.score) for bank in state.banks),
            str(match.turn),
            str(len(state.draw_pile)),
            "" if state.pending_effect is None else str(state.pending_effect.effect_type),
            Markup("").join(
                _TAG_LINK.format(quote(tag, safe=""), tag) for tag in match.params.tags or ()
            ),
            f"{to_local(match.started_at):%Y-%m-%d %H:%M}",
            f"{to_local(match.last_move_at):%H:%M:%S}",
        ),
    )


def _render_player(match: ArenaMatch, seat: int, book: UserDirectory) -> Markup:
    """Render a player's name: in bold for the winner, underlined for the player to move."""
    name = Markup("<bdi>{}</bdi>").format(book.name_of(match.pairing.players[seat]))
    outcome = match.state.outcome
    if outcome is not None and outcome.winner == seat:
        return Markup("<b>{}</b>").format(name)
    if match.state.active_player == seat:
        return Markup('<span class="mover">{}</span>').format(name)
    return name


# --- how the matches of a tag went --------------------------------------------------------------


def statistics_page(
    site: SiteInfo, tag: str, matches: Iterable[ArenaMatch], users: UserDirectory
) -> str:
    """Return the page of one tag: the result of each match, by pair of players."""
    tagged = (match for match in matches if tag in (match.params.tags or ()))
    selected = list(islice(tagged, MAX_TAG_MATCHES + 1))
    rows: defaultdict[str, list[ArenaMatch]] = defaultdict(list)
    for match in selected[:MAX_TAG_MATCHES]:
        rows[
            next((other_tag for other_tag in match.params.tags or () if other_tag != tag), "")
        ].append(match)
    return render_template(
        "statistics.jinja",
        tag=tag,
        rows=[(further, _group_by_players(rows[further], users)) for further in sorted(rows)],
        more=len(selected) > MAX_TAG_MATCHES,
        most=MAX_TAG_MATCHES,
        named=lambda player: _render_name_with_country(player, users),
        site=site,
    )


def _group_by_players(
    matches: list[ArenaMatch], book: UserDirectory
) -> list[tuple[tuple[str, str], list[ArenaMatch]]]:
    """Return the matches of each two players in the same seats, the oldest first."""
    pairs: defaultdict[tuple[str, str], list[ArenaMatch]] = defaultdict(list)
    for match in sorted(matches, key=lambda match: match.started_at):
        pairs[match.pairing.players].append(match)
    return sorted(pairs.items(), key=lambda pair: [book.name_of(player) for player in pair[0]])


def _render_name_with_country(player: str, book: UserDirectory) -> Markup:
    account = book.players_by_id.get(player)
    country = None if account is None else account.country
    return Markup("<bdi>{}</bdi>{}").format(
        book.name_of(player), f" ({country})" if country else ""
    )


# --- templates; what they show is escaped --------------------------------------------------------


def render_template(name: str, **context: object) -> Markup:
    """Render the template of this name with this context."""
    return Markup(_TEMPLATES.get_template(name).render(context, alone=None))  # noqa: S704 - escaped there


def _bold_if(text: object, when: bool) -> Markup:
    return Markup("<b>{}</b>").format(text) if when else escape(text)


_TEMPLATES = template_environment(FileSystemLoader(FOLDER))
_TEMPLATES.globals |= {"quoted": partial(quote, safe=""), "bold": _bold_if}
