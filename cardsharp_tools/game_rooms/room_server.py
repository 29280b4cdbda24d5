"""Server of game rooms: of one that is begun here, or of those begun from the pages of matches."""

import ipaddress
import socket
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from threading import Thread

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cardsharp.errors import CardsharpError
from cardsharp.pages.match_pages import ContinueForm
from cardsharp.pages.templates import SiteInfo
from cardsharp.play.strategy_registry import registry_for
from cardsharp.server.asset_response import asset_endpoint
from cardsharp.server.forms import Form, create_form_token, has_form_token, read_form
from cardsharp.server.match_site import DEFAULT_SITE as MATCHES
from cardsharp.server.match_site import (
    MatchSite,
    PagesConfig,
    SiteMatchSource,
    build_pages_application,
    match_page_routes,
)
from cardsharp.server.web_application import (
    LOCAL_PAGES_SETTINGS,
    THIS_MACHINE,
    ErrorPages,
    build_web_application,
)
from cardsharp.store.match_log import MatchReader, MatchRecord
from cardsharp.store.match_snapshots import SnapshotMatchReader
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.game_rooms.game_room import GameRoom
from cardsharp_tools.game_rooms.local_match import HUMAN_NAME
from cardsharp_tools.game_rooms.match_branch import find_branch_point
from cardsharp_tools.game_rooms.match_config import MatchConfig
from cardsharp_tools.game_rooms.seat_endpoints import (
    NO_CACHE_HEADERS,
    SEAT_LONG_POLL_TIMEOUT,
    SeatEndpoints,
    form_number_or_negative,
    message_page,
    seat_links,
)
from cardsharp_tools.game_rooms.seat_pages import ASSETS, SITE
from cardsharp_tools.local_server.http_server import HOST, BackgroundServer
from cardsharp_tools.match_sources.branches import config_listing_branches
from cardsharp_tools.match_sources.sources import MatchSource

MAX_OPEN_ROOMS = 20  # game rooms that are open at once; the oldest one is closed for a new one
_SEAT_LINK_HINT = "Each seat has its own link. Ask the person who began the game for yours."
_WILDCARD_HOSTS = ("0.0.0.0", "::")  # noqa: S104 - a user may ask for it
_DOCUMENTATION_ADDRESS = (
    "192.0.2.1",
    9,
)  # documentation address; shows the route without sending a packet


def _create_match_source(room: GameRoom) -> MatchSource:
    """Return a source of the matches that the room has finished."""

    def reading() -> AbstractContextManager[MatchReader]:
        played = room.finished_parts.copy()
        matches = {name: (match.record, [*match.moves]) for name, match in played.items()}
        listed = {
            name: (match.record.started_at, match.record.status) for name, match in played.items()
        }
        return nullcontext(SnapshotMatchReader(matches.get, listed))

    return MatchSource(reading, poll_interval=timedelta(seconds=5))


class PlayOnRooms:
    """Game rooms that the form of a match's page (`play_on`) opens.

    Their seats are served by `seats`. Each room plays its matches in a thread of its own. If
    there are more than `MAX_OPEN_ROOMS`, the oldest one is closed.
    """

    def __init__(self, seats: SeatEndpoints) -> None:
        self.play_on = ContinueForm(
            create_form_token(), lambda of: registry_for(of.strategy_package).names()
        )
        self._seats = seats
        self._open_rooms: list[GameRoom] = []
        self._match_sites: list[MatchSite] = []

    def match_pages(self, source: SiteMatchSource, site: SiteInfo) -> MatchSite:
        """Return the match pages of a source, with the form that continues a match."""
        self._match_sites.append(
            MatchSite(
                source,
                config_listing_branches(
                    PagesConfig(site=site, assets=ASSETS, continue_form=self.play_on)
                ),
            )
        )
        return self._match_sites[-1]

    def play_on_route(self, pages: MatchSite) -> Route:
        """Return the route that receives the play-on form of the match pages."""

        async def start_branch(request: Request) -> Response:
            form_data = await read_form(request)
            stored_match = await run_in_threadpool(
                pages.find_match_and_source, request.path_params["id"]
            )
            if stored_match is None or not has_form_token(form_data, self.play_on.csrf_token):
                raise HTTPException(
                    HTTPStatus.FORBIDDEN,
                    "The form was not sent from this match's page. Open the page and try again.",
                )
            return await run_in_threadpool(
                self._open_branch_room, *stored_match, form_data, pages.manner.site.matches_path
            )

        return Route(
            f"{pages.manner.site.matches_path}/{{id}}/branch", start_branch, methods=["POST"]
        )

    def close(self) -> None:
        """Stop the matches of all opened rooms, and answer all waiting requests."""
        for room in self._open_rooms:
            room.stop()
        for pages in self._match_sites:
            pages.end_long_polls()

    def _open_branch_room(
        self, record: MatchRecord, source: SiteMatchSource, form_data: Form, matches: str
    ) -> Response:
        """Open a room that continues a match, and redirect to its seat.

        `matches` is the path of the pages on which its matches are listed.
        """
        same, step_number = (
            form_data.get("cards") == "same",
            form_number_or_negative(form_data, "step"),
        )
        branch_point = find_branch_point(
            record, source.moves(record.match_id), step_number, same_cards=same
        )
        name = form_data.get("opponent") or None
        if name not in {None, *self.play_on.opponent_names(branch_point.game)}:
            raise HTTPException(HTTPStatus.BAD_REQUEST, f"There is no strategy '{name}'.")
        opponent = None if name is None else BuiltIn(name)
        room = GameRoom(
            MatchConfig(branch_point.game, opponent, opponent, branch_point=branch_point),
            HUMAN_NAME,
            match_pages_url=matches,
        )
        self._seats.open_room(room)
        self._open_rooms.append(room)
        while len(self._open_rooms) > MAX_OPEN_ROOMS:
            self._seats.close_room(self._open_rooms.pop(0))

        def play() -> None:
            with suppress(CardsharpError):  # the room's page shows it
                room.run()

        Thread(target=play, daemon=True).start()
        return RedirectResponse(seat_links(room)[0], HTTPStatus.SEE_OTHER, headers=NO_CACHE_HEADERS)


def _build_room_application(
    room: GameRoom, seats: SeatEndpoints, tables: PlayOnRooms, hosts: Iterable[str]
) -> Starlette:
    """Return the application of a room, for requests that name one of these hosts."""
    routes = [
        Route("/", lambda _request: message_page(_SEAT_LINK_HINT, HTTPStatus.NOT_FOUND)),
        *seats.routes(),
        Route(f"{SITE.assets_path}/{{name}}", asset_endpoint(ASSETS)),
        *_build_match_routes(room, tables),
    ]
    errors = ErrorPages(handlers=dict.fromkeys((CardsharpError, HTTPException), _render_error_page))
    return build_web_application(routes, replace(LOCAL_PAGES_SETTINGS, hosts=[*hosts]), errors)


def _build_match_routes(room: GameRoom, tables: PlayOnRooms) -> Iterator[BaseRoute]:
    """Yield the routes of the pages about finished matches, for each seat.

    A person who plays alone can also continue from a step of them.
    """
    for link in seat_links(room):
        back = (("Back to the game", link),)
        site = SiteInfo("Cardsharp", matches_path=f"{link}/matches", links=back, has_analysis=True)
        pages = MatchSite(_create_match_source(room), PagesConfig(site=site, assets=ASSETS))
        if room.config.human_count == 1:
            pages = tables.match_pages(_create_match_source(room), site)
            yield tables.play_on_route(pages)
        yield from match_page_routes(pages)


@contextmanager
def serve_room(
    room: GameRoom,
    host: str = HOST,
    port: int = 0,
    long_poll_timeout: timedelta = SEAT_LONG_POLL_TIMEOUT,
) -> Iterator[list[str]]:
    """Serve a game room while the block runs; yield the addresses of its seats, the host's first.

    Only this machine can reach it, unless `host` says otherwise; then the addresses are those by
    which others reach it. Raises `ConfigError` if the port cannot be used.
    """
    seats = SeatEndpoints(long_poll_timeout)
    seats.open_room(room)
    display_host = _find_local_address() if host in _WILDCARD_HOSTS else host
    name = f"[{display_host}]" if ":" in display_host else display_host
    tables = PlayOnRooms(seats)
    hosts = {*THIS_MACHINE, display_host, name}
    application = _build_room_application(room, seats, tables, hosts)

    def stop() -> None:
        room.stop()
        tables.close()

    with BackgroundServer("The game room", application, stop, host=host, port=port) as server:
        url = f"http://{name}:{server.url.rpartition(':')[2]}"
        try:
            yield [f"{url}{link}" for link in seat_links(room)]
        finally:
            stop()


@contextmanager
def serve_match_pages(
    source: SiteMatchSource, port: int = 0, extra_routes: Iterable[BaseRoute] = ()
) -> Iterator[str]:
    """Serve the match pages of a source, on which matches can be continued; yield the address."""
    seats = SeatEndpoints()
    tables = PlayOnRooms(seats)
    pages = tables.match_pages(source, MATCHES)
    routes = [tables.play_on_route(pages), *extra_routes, *seats.routes()]
    application = build_pages_application(pages, LOCAL_PAGES_SETTINGS, routes)
    with BackgroundServer("The page", application, tables.close, port=port) as server:
        yield server.url


def is_loopback_host(host: str) -> bool:
    """Return True if only this machine can reach a server that listens at `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _find_local_address() -> str:
    """Return this machine's address in the local network, or `HOST` if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(_DOCUMENTATION_ADDRESS)
        except OSError:
            return HOST
        return str(asking.getsockname()[0])


def _render_error_page(_request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return message_page(error.detail, error.status_code)
    return message_page(str(error), HTTPStatus.SERVICE_UNAVAILABLE)
