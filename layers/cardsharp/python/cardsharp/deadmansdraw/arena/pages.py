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

from cardsharp.cloud.clock import Now
from cardsharp.deadmansdraw.arena.http import not_found, tagged
from cardsharp.deadmansdraw.arena.limits import SPECTATOR
from cardsharp.deadmansdraw.arena.listing import Filter, busy_days, flag, select
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import Book, User
from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.time_zones import to_local
from cardsharp.viewer import assets as viewer
from cardsharp.viewer.base import Site, templates
from cardsharp.viewer.pages import Column, Row, list_page
from cardsharp.web.page import described

FOLDER = Path(__file__).with_name("page")
_DOCUMENT = Path(__file__).with_name("openapi.json")
ASSETS = {"statistics.css": "text/css; charset=utf-8"}  # beside what all pages load
PAGE = 50  # matches that a list shows, and how many more each further click
MAX_MATCHES = 500  # matches that the statistics of a tag show
_MOST = 5000
_COLUMNS = (
    Column("Points", "num"),
    Column("Turn", "num spare"),
    Column("Draw pile", "num spare"),
    Column("To answer", "spare"),
    Column("Tags", "spare"),
    Column("Started", "spare when"),
    Column("Last move", "spare when"),
)
_TAG = Markup('<a class="tag" href="/matches/statistics?tag={}">{}</a> ')
_PLAYERS = Markup("{} v {}")


class Pages:
    """The pages over one referee's matches."""

    def __init__(self, site: Site, referee: Referee, clock: Now) -> None:
        self.site, self._referee, self._clock = site, referee, clock

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

    async def matches(self, request: Request, user: User) -> Response:
        """GET /matches: the newest; of a tag, a day or one's own turn where the query says so."""
        query, book = request.query_params, self._referee.book
        wanted, limit = _wanted(query), query.get("limit", "")
        most = min(_MOST, int(limit)) if limit.isdecimal() else PAGE
        found = select(self._referee.listed(user, active=wanted.active), wanted, self._clock())
        days = busy_days(self._referee.listed(user), None)[::-1]
        told = {"wanted": wanted, "days": days, "user": user, "spectator": SPECTATOR}
        filters, rows = rendered("filters.jinja", **told), [_row(one, book) for one in found[:most]]
        more = QueryParams({**query, "limit": str(most + PAGE)})
        older = f"?{more}" if len(found) > most else ""
        return page_answer(list_page(self.site, _COLUMNS, rows, filters, older))

    async def statistics(self, request: Request, user: User) -> Response:
        """GET /matches/statistics: of a tag; else all tags, each with its number of matches."""
        tag, seen = request.query_params.get("tag"), self._referee.all_shown(user)
        if tag:
            return page_answer(statistics_page(self.site, tag, seen, self._referee.book))
        counts = sorted(Counter(tag for one in seen for tag in set(one.params.tags or ())).items())
        return page_answer(rendered("statistics.jinja", tag=None, counts=counts, site=self.site))

    async def docs(self, _request: Request) -> Response:
        """GET /docs."""
        return self._docs

    @cached_property
    def _docs(self) -> Response:
        """Made once: who asks for it over and over is to take no time from who plays."""
        told = Markup(described(json.loads(_DOCUMENT.read_bytes()), {"OpenAPI 3.0": "/api"}))  # noqa: S704
        return page_answer(rendered("docs.jinja", site=self.site, told=told))

    async def openapi(self, _request: Request) -> Response:
        """GET /api and GET /swagger.json."""
        return _document()

    async def warm_up(self, _request: Request) -> Response:
        """GET /_ah/warmup, with which the original's host looks whether it is there."""
        return tagged(PlainTextResponse("OK"))

    async def asset(self, request: Request) -> Response:
        """GET /page/{name}: what the pages load."""
        return _asset(request.path_params["name"]) or not_found(request)


def _redirect(path: str, status: int = 302) -> Response:
    said = f"{HTTPStatus(status).phrase}. Redirecting to {path}"
    return PlainTextResponse(said, status, headers={"Location": path})


def page_answer(text: str, status: int = 200) -> Response:
    """An answer that shows a page."""
    return tagged(HTMLResponse(text, status, headers=viewer.HEADERS))


@cache
def _document() -> Response:
    return tagged(Response(_DOCUMENT.read_bytes(), media_type="application/json; charset=UTF-8"))


@cache
def _asset(name: str) -> Response | None:
    if name in viewer.ASSETS:
        text, kind = viewer.asset(name), viewer.ASSETS[name]
    elif name in ASSETS:
        text, kind = (FOLDER / name).read_text(encoding="utf-8"), ASSETS[name]
    else:
        return None
    return tagged(Response(text, headers=viewer.HEADERS, media_type=kind))


# --- the list of matches -----------------------------------------------------------------------


def _wanted(query: QueryParams) -> Filter:
    """What the form says; what is left empty is no condition, otherwise than in the API."""
    tags = [tag for tag in query.get("tags", "").split(",") if tag]
    day = query.get("at") or None
    return Filter(flag(query, "active"), frozenset(tags) if tags else None, day)


def _row(match: Match, book: Book) -> Row:
    state = match.state
    names = [_named(match, seat, book) for seat in range(len(match.pairing.players))]
    return Row(
        f"/matches/{match.id}",
        not match.finished,
        _PLAYERS.format(*names),
        (
            " : ".join(str(bank.score) for bank in state.banks),
            str(match.turn),
            str(len(state.draw_pile)),
            "" if state.pending is None else str(state.pending.effect_type),
            Markup("").join(
                _TAG.format(quote(tag, safe=""), tag) for tag in match.params.tags or ()
            ),
            f"{to_local(match.started_at):%Y-%m-%d %H:%M}",
            f"{to_local(match.last_move_at):%H:%M:%S}",
        ),
    )


def _named(match: Match, seat: int, book: Book) -> Markup:
    """A player's name: a winner's bold, and of whom a turn waits with a line under it."""
    name = Markup("<bdi>{}</bdi>").format(book.name_of(match.pairing.players[seat]))
    outcome = match.state.outcome
    if outcome is not None and outcome.winner == seat:
        return Markup("<b>{}</b>").format(name)
    if match.state.active == seat:
        return Markup('<span class="mover">{}</span>').format(name)
    return name


# --- how the matches of a tag went --------------------------------------------------------------


def statistics_page(site: Site, tag: str, matches: Iterable[Match], book: Book) -> str:
    """The page of one tag: per pair of players what each match came to."""
    tagged = (match for match in matches if tag in (match.params.tags or ()))
    found = list(islice(tagged, MAX_MATCHES + 1))
    rows: defaultdict[str, list[Match]] = defaultdict(list)
    for match in found[:MAX_MATCHES]:
        rows[next((other for other in match.params.tags or () if other != tag), "")].append(match)
    return rendered(
        "statistics.jinja",
        tag=tag,
        rows=[(further, _pairs(rows[further], book)) for further in sorted(rows)],
        more=len(found) > MAX_MATCHES,
        most=MAX_MATCHES,
        named=lambda player: _with_country(player, book),
        site=site,
    )


def _pairs(matches: list[Match], book: Book) -> list[tuple[tuple[str, str], list[Match]]]:
    """The matches of each two players in this order of seats, the oldest first."""
    pairs: defaultdict[tuple[str, str], list[Match]] = defaultdict(list)
    for match in sorted(matches, key=lambda match: match.started_at):
        pairs[match.pairing.players].append(match)
    return sorted(pairs.items(), key=lambda pair: [book.name_of(player) for player in pair[0]])


def _with_country(player: str, book: Book) -> Markup:
    known = book.players.get(player)
    country = None if known is None else known.country
    return Markup("<bdi>{}</bdi>{}").format(
        book.name_of(player), f" ({country})" if country else ""
    )


# --- templates; what they show is escaped --------------------------------------------------------


def rendered(name: str, **content: object) -> Markup:
    """The page, or piece of one, of that name with this content."""
    return Markup(_PAGES.get_template(name).render(content, alone=None))  # noqa: S704 - escaped there


def _bold(text: object, when: bool) -> Markup:
    return Markup("<b>{}</b>").format(text) if when else escape(text)


_PAGES = templates(FileSystemLoader(FOLDER))
_PAGES.globals |= {"quoted": partial(quote, safe=""), "bold": _bold}
