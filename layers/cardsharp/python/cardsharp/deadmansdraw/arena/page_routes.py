"""Where the pages are, and who may see them; what draws them is loaded when one is asked for.

Bots ask for no page, and in the cloud an arena without them starts a sixth faster.
"""

from collections.abc import Awaitable, Callable
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from starlette.responses import Response
from starlette.routing import Route

from cardsharp.deadmansdraw.arena.http import Guard
from cardsharp.deadmansdraw.arena.lobby import Lobby
from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.deadmansdraw.arena.paths import LooseRoute

if TYPE_CHECKING:
    from cardsharp.deadmansdraw.arena.pages import Pages
    from cardsharp.deadmansdraw.arena.practising import Practising
    from cardsharp.deadmansdraw.arena.watching import MatchPages
    from cardsharp.viewer.base import Site

Answering = Callable[..., Awaitable[Response]]


class AllPages(NamedTuple):
    """What draws the arena's own pages, once it is loaded."""

    pages: "Pages"
    matches: "MatchPages"
    practising: "Practising"


class MorePages(Protocol):
    """Pages beside the arena's own, to which those lead: their title and address."""

    title: str
    path: str

    def routes(self, site: "Callable[[], Site]", lobby: Lobby, guard: Guard) -> list[Route]:
        """Their routes, at an arena with these matches and these rules of admission."""

    def held_back(self) -> Callable[[Match], bool]:
        """What says now which matches only the organiser and those who play them may see."""


def page_routes(load: Callable[[], AllPages], guard: Guard) -> list[Route]:
    """The routes of the pages and of what they load; `load` is called once, for the first."""
    loaded = cache(load)

    def of(pick: Callable[[AllPages], Answering]) -> Answering:
        async def answer(*asked: object) -> Response:
            return await pick(loaded())(*asked)

        return answer

    known, shown, everybody = guard.known, guard.shown, guard.open
    forms = partial(guard.known, reads=False)
    begins = partial(forms, creates=True)
    return [
        LooseRoute("/", everybody(of(lambda all_: all_.pages.root)), "GET"),
        LooseRoute("/login", known(of(lambda all_: all_.pages.login)), "GET"),
        LooseRoute("/logout", everybody(of(lambda all_: all_.pages.logout)), "GET"),
        LooseRoute("/matches", shown(of(lambda all_: all_.pages.matches)), "GET"),
        LooseRoute("/matches/statistics", shown(of(lambda all_: all_.pages.statistics)), "GET"),
        LooseRoute("/matches/{id}", shown(of(lambda all_: all_.matches.page)), "GET"),
        LooseRoute("/matches/{id}/steps", shown(of(lambda all_: all_.matches.steps)), "GET"),
        LooseRoute("/matches", begins(of(lambda all_: all_.practising.begin)), "POST"),
        LooseRoute("/matches/{id}", forms(of(lambda all_: all_.practising.act)), "POST"),
        LooseRoute("/docs", everybody(of(lambda all_: all_.pages.docs)), "GET"),
        LooseRoute("/api", everybody(of(lambda all_: all_.pages.openapi)), "GET"),
        LooseRoute("/swagger.json", everybody(of(lambda all_: all_.pages.openapi)), "GET"),
        LooseRoute("/_ah/warmup", everybody(of(lambda all_: all_.pages.warm_up)), "GET"),
        LooseRoute("/page/{name}", everybody(of(lambda all_: all_.pages.asset)), "GET"),
    ]
