"""An arena as each home runs it, for what must hold in all of them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route

from cardsharp.cloud.dynamodb_items import key
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.contest.entries import Entrant, Settings
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import found_in
from cardsharp.deadmansdraw.arena.assembly import DAYS
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.teams import PLAYERS
from cardsharp.deadmansdraw.contest.page_routes import ContestPages
from support.arena import ALICE, OUTSIDER, Client, HandClock, running_arena, write_players
from support.contests import contests_in
from workbench.arena.server import ArenaServer
from workbench.cloud.emulator import Emulator
from workbench.deadmansdraw.emulated import CloudServer, new_table

LIFE = timedelta(days=DAYS)

Opened = Callable[..., AbstractContextManager[tuple[ArenaServer, Client]]]
"""As `support.arena.running_arena`."""


def in_cloud(emulator: Emulator) -> Opened:
    """What opens arenas in this emulator; `table` may be another arena's."""

    def opened(
        folder: Path,
        table: DynamoTable | None = None,
        **settings: Any,  # noqa: ANN401 - as of `running_arena`
    ) -> AbstractContextManager[tuple[ArenaServer, Client]]:
        def serve(config: ArenaConfig, _more: object) -> CloudServer:
            return CloudServer(config, table or new_table(emulator, config.players))

        return running_arena(folder, serve=serve, **settings)

    return opened


AT_ONCE = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Home:
    """An arena that runs: its address, its routes, and a match of a team that was removed since.

    Its players are those of `support.arena.NAMES` but OUTSIDER, whose match with Alice goes on.
    """

    url: str
    routes: frozenset[tuple[str, str]]
    left: str


CONTEST = Settings("cup", seed="canary-contest")


def begun(records: Records) -> Records:
    """A contest of two teams that has begun."""
    for team in ("a" * 24, "b" * 24):
        records.add(Entrant(team, f"Team {team[0]}", "canary-ha1"))
    records.begin()
    return records


@contextmanager
def this_machine(folder: Path, *, public: bool) -> Iterator[Home]:
    """As `cardsharp contest run` runs it; its waits are over at once."""
    data = folder / "arena.db"
    with running_arena(folder, data=data) as (arena, _):
        left = arena.create_match([ALICE, OUTSIDER], seed="canary-left")
    contest = begun(found_in(folder / "contest", CONTEST))
    with running_arena(
        folder,
        more=ContestPages(lambda: ContestsKept(contest.documents)),
        without=[OUTSIDER],
        data=data,
        public=public,
        clock=HandClock(),
        poll_timeout=AT_ONCE,
        watchdog_pause=AT_ONCE,
    ) as (arena, _):
        yield Home(arena.url, routes_of(arena._arena.app), left)
    contest.close()


def routes_of(app: Starlette) -> frozenset[tuple[str, str]]:
    """Method and path of each route; HEAD goes with GET."""
    return frozenset(
        (method, route.path)
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    )


@contextmanager
def cloud(folder: Path, *, public: bool) -> Iterator[Home]:
    """As a function answers for it, over a table of its own in an emulator."""
    with Emulator() as emulator:
        table = new_table(emulator, write_players(folder))
        with in_cloud(emulator)(folder, table=table) as (arena, _):
            left = arena.create_match([ALICE, OUTSIDER], seed="canary-left")
        emulator.client("dynamodb").delete_item(TableName=table.name, Key=key(PLAYERS, OUTSIDER))
        with in_cloud(emulator)(
            folder,
            table=table,
            public=public,
            clock=HandClock(),
            poll_timeout=AT_ONCE,
            watchdog_pause=AT_ONCE,
        ) as (arena, _):
            contests = contests_in(table, emulator.client("dynamodb"))
            begun(contests.found(CONTEST))
            arena._arena.show(ContestPages(lambda: contests))
            yield Home(arena.url, routes_of(arena._arena.app), left)


HOMES: dict[str, Callable[..., AbstractContextManager[Home]]] = {
    "this machine": this_machine,
    "cloud": cloud,
}
"""How an arena is run in each home: `with HOMES[name](folder, public=True) as home`."""
