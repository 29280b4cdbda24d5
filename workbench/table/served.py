"""Tables as they are served: at one that is begun here, or from the pages of matches."""

import ipaddress
import socket
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from http import HTTPStatus
from secrets import token_urlsafe
from threading import Thread

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.cloud.ports import MatchReader, MatchRecord
from cardsharp.cloud.told import ToldMatches
from cardsharp.errors import CardsharpError
from cardsharp.registry import strategies_of
from cardsharp.viewer.base import Site
from cardsharp.viewer.pages import PlayOn
from cardsharp.viewer.site import SITE as MATCHES
from cardsharp.viewer.site import Manner, Pages, Source, application
from workbench.listening import HOST, Background
from workbench.table.branch import branch_point, with_branches
from workbench.table.pages import HOLD, NEW, OWN, Form, TableSeats, form_of, number_in, said
from workbench.table.room import Room
from workbench.table.setting import Setting
from workbench.table.sitting import PERSON
from workbench.watch.sources import MatchSource

MOST = 20  # tables that are open at once
_BY_LINK = "A seat is reached by its link; whoever began the table has it."
_HERE = [HOST, "localhost"]  # a page of somebody else's whose name leads here is not answered
_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - what a user may ask for
_NOBODYS = ("192.0.2.1", 9)  # to ask which way packets would go, of which none is sent


def _played(room: Room) -> MatchSource:
    def reading() -> AbstractContextManager[MatchReader]:
        played = room.played.copy()
        whole = {name: (one.record, [*one.moves]) for name, one in played.items()}
        listed = {name: (one.record.started, one.record.status) for name, one in played.items()}
        return nullcontext(ToldMatches(whole.get, listed))

    return MatchSource(reading, pause=timedelta(seconds=5))


class ServedTables:
    """The tables of a server, where more are opened by the form of a match's page (`play_on`).

    What leads to no table of these is answered by `front`. Each table that is opened is played at
    by a thread of its own; of more than `MOST` the first is closed.
    """

    def __init__(self, hosts: Iterable[str], hold: timedelta = HOLD) -> None:
        self.play_on = PlayOn(token_urlsafe(16), lambda of: strategies_of(of.strategies).names())
        self.front: ASGIApp = PlainTextResponse("", HTTPStatus.NOT_FOUND)
        self._hosts, self._hold = [*hosts], hold
        self._open: dict[str, tuple[Room, ASGIApp]] = {}
        self._pages: list[Pages] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer whoever sits at one of the tables, or have the front do it."""
        secret = scope.get("path", "").removeprefix("/seat/").partition("/")[0]
        _, app = self._open.get(secret, (None, self.front))
        await app(scope, receive, send)

    def pages(self, source: Source, site: Site) -> Pages:
        """The pages over a source, on which matches are gone on with by `form`."""
        self._pages.append(Pages(source, with_branches(Manner(site=site, play_on=self.play_on))))
        return self._pages[-1]

    def form(self, pages: Pages) -> Route:
        """What the form of those pages is sent to."""

        async def begun(request: Request) -> Response:
            form = await form_of(request)
            found = await run_in_threadpool(pages.found, request.path_params["id"])
            if found is None or form.get("token") != self.play_on.token:
                raise HTTPException(HTTPStatus.FORBIDDEN, "Begin on the page of the match.")
            return await run_in_threadpool(self._begun, *found, form, pages.manner.site.matches)

        return Route(f"{pages.manner.site.matches}/{{id}}/branch", begun, methods=["POST"])

    def close(self) -> None:
        """End what is played at the tables that were opened, and answer whoever waits."""
        for room, _ in self._open.values():
            room.stop()
        for pages in self._pages:
            pages.close()

    def _begun(self, record: MatchRecord, source: Source, form: Form, matches: str) -> Response:
        """A new table, and the way to its seat; what was played is among the `matches`."""
        same, step = form.get("cards") == "same", number_in(form, "step")
        point = branch_point(record, source.moves(record.match_id), step, same=same)
        opponent = form.get("opponent") or None
        if opponent not in {None, *self.play_on.players(point.game)}:
            raise HTTPException(HTTPStatus.BAD_REQUEST, f"There is no player '{opponent}'.")
        room = Room(Setting(point.game, opponent, opponent, point=point), PERSON, matches=matches)
        seats = TableSeats(room, self._hold)
        (chair,) = room.chairs
        self._open[chair.secret] = room, tabled(seats, self._hosts, [])
        for secret in [*self._open][:-MOST]:
            self._open.pop(secret)[0].stop()

        def play() -> None:
            with suppress(CardsharpError):  # which the page says
                room.run()

        Thread(target=play, daemon=True).start()
        return RedirectResponse(seats.links[0], HTTPStatus.SEE_OTHER, headers=NEW)


def tabled(seats: TableSeats, hosts: Iterable[str], more: Iterable[BaseRoute]) -> Starlette:
    """The seats, and `more`, as an application that answers to those names alone."""
    return Starlette(
        routes=[
            Route("/", lambda _request: said(_BY_LINK, HTTPStatus.NOT_FOUND)),
            Route("/seat/{secret}", seats.page),
            Route("/seat/{secret}/news", seats.news),
            Route("/seat/{secret}/{deed}", seats.act, methods=["POST"]),
            *OWN,
            *more,
        ],
        middleware=[
            # A page of somebody else's whose name leads here is not answered.
            Middleware(TrustedHostMiddleware, allowed_hosts=[*hosts]),
            Middleware(GZipMiddleware, minimum_size=2000),
        ],
        exception_handlers=dict.fromkeys((CardsharpError, HTTPException), _refused),
    )


def _matches(room: Room, links: Iterable[str], tables: ServedTables) -> Iterator[BaseRoute]:
    """The pages of what was played, for each seat; who sits alone may go on from within it."""
    for link in links:
        back = (("Back to the table", link),)
        site = Site("Cardsharp", matches=f"{link}/matches", links=back, judged=True)
        pages = Pages(_played(room), Manner(site=site))
        if room.setting.people == 1:
            pages = tables.pages(_played(room), site)
            yield tables.form(pages)
        yield from application(pages).routes[1:]


@contextmanager
def table_served(
    room: Room, host: str = HOST, port: int = 0, hold: timedelta = HOLD
) -> Iterator[list[str]]:
    """The addresses of a table's seats, the host's first; it is played at while the block runs.

    It is reached from this machine alone, but for a `host` that says otherwise: then the addresses
    are those by which others reach it. Raises `ConfigError` for a port that cannot be used.
    """
    seats = TableSeats(room, hold)
    shown = _own_address() if host in _ANYWHERE else host
    name = f"[{shown}]" if ":" in shown else shown
    hosts = {HOST, "localhost", shown, name}
    tables = ServedTables(hosts, hold)
    tables.front = tabled(seats, hosts, _matches(room, seats.links, tables))

    def stop() -> None:
        room.stop()
        tables.close()

    with Background("The table", tables, stop, host=host, port=port) as server:
        url = f"http://{name}:{server.url.rpartition(':')[2]}"
        try:
            yield [f"{url}{link}" for link in seats.links]
        finally:
            stop()


@contextmanager
def pages_over(source: Source, port: int = 0, more: Iterable[BaseRoute] = ()) -> Iterator[str]:
    """The address of a source's pages, from which matches are gone on with; and of `more`."""
    tables = ServedTables(_HERE)
    pages = tables.pages(source, MATCHES)
    front = application(pages, [Middleware(TrustedHostMiddleware, allowed_hosts=_HERE)])
    front.routes[:0] = [tables.form(pages), *OWN, *more]
    tables.front = front
    with Background("The page", tables, tables.close, port=port) as server:
        yield server.url


def is_local(host: str) -> bool:
    """Whether nobody but this machine reaches what listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _own_address() -> str:
    """By which address others in the network reach this machine, as far as it knows."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(_NOBODYS)
        except OSError:
            return HOST
        return str(asking.getsockname()[0])


def _refused(_request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return said(error.detail, error.status_code)
    return said(str(error), HTTPStatus.SERVICE_UNAVAILABLE)
