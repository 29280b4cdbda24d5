"""`/matches`: the list of matches, those that the API lists for whoever looks."""

from collections.abc import Callable
from datetime import datetime
from urllib.parse import quote

from markupsafe import Markup
from starlette.datastructures import QueryParams

from cardsharp.deadmansdraw.arena.listing import Filter, busy_days, flag, select
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.players import Book, User
from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.deadmansdraw.arena.spectators import SPECTATOR
from cardsharp.deadmansdraw.arena.templates import rendered
from cardsharp.viewer.base import Site
from cardsharp.viewer.pages import Column, Row, list_page

PAGE = 50
"""Matches that a list shows, and how many more each further click."""

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


class MatchList:
    """The list of an arena's matches."""

    def __init__(self, site: Site, referee: Referee, clock: Callable[[], datetime]) -> None:
        self._site, self._referee, self._clock = site, referee, clock

    def page(self, user: User, query: QueryParams) -> str:
        """The newest matches, of a tag, a day or one's own turn where the query says so."""
        wanted, limit = _wanted(query), query.get("limit", "")
        most = min(_MOST, int(limit)) if limit.isdecimal() else PAGE
        found = select(self._referee.listed(user, active=wanted.active), wanted, self._clock())
        more = QueryParams({**query, "limit": str(most + PAGE)})
        return list_page(
            self._site,
            _COLUMNS,
            [_row(match, self._referee.book) for match in found[:most]],
            self._filters(wanted, user),
            f"?{more}" if len(found) > most else "",
        )

    def _filters(self, wanted: Filter, user: User) -> Markup:
        return rendered(
            "filters.jinja",
            wanted=wanted,
            days=busy_days(self._referee.listed(user), None)[::-1],
            user=user,
            spectator=SPECTATOR,
        )


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
            f"{match.started_at.astimezone():%Y-%m-%d %H:%M}",
            f"{match.last_move_at.astimezone():%H:%M:%S}",
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
