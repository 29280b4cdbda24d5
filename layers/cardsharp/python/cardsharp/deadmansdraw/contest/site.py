"""The arena in the cloud with the pages of its contests: the HTTP service of this game."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from cardsharp.deadmansdraw.arena.assembly import PUBLIC, STORE, life_of, table_of, word_of
from cardsharp.web.asgi import AsgiService

if TYPE_CHECKING:
    from cardsharp.contest.kept import ContestsKept


def application(environment: Mapping[str, str]) -> ASGIApp:
    """The application that an environment describes; raises `ConfigError`."""
    # Slow to import, and needed by nobody who only asks what there is.
    from cardsharp.cloud.clock import SystemClock, utc_now  # noqa: PLC0415
    from cardsharp.deadmansdraw.arena.cloud import CloudArena  # noqa: PLC0415
    from cardsharp.deadmansdraw.arena.config import ArenaConfig  # noqa: PLC0415
    from cardsharp.deadmansdraw.arena.limits import OF_A_TEAM  # noqa: PLC0415
    from cardsharp.deadmansdraw.arena.teams import Teams  # noqa: PLC0415
    from cardsharp.deadmansdraw.arena.ticks import tells_of_moves  # noqa: PLC0415
    from cardsharp.deadmansdraw.contest.page_routes import ContestPages  # noqa: PLC0415
    from cardsharp.keep.dynamodb import DynamoKeep  # noqa: PLC0415

    table, life = table_of(environment), life_of(environment)
    teams, keep = Teams(table, utc_now), DynamoKeep(table.name, SystemClock())
    public = environment.get(PUBLIC) == "yes"
    config = ArenaConfig(slow_down=True, public=public, quotas=OF_A_TEAM, teams=teams)
    moved = tells_of_moves(table, teams.strategy_of, wakes=True)
    arena = CloudArena(config, table, partial(word_of, environment), life=life, moved=moved)

    def contests() -> "ContestsKept":
        from cardsharp.contest.kept import ContestsKept  # noqa: PLC0415

        return ContestsKept(keep)

    arena.show(ContestPages(contests))
    return arena.app


SERVICE = AsgiService(store=STORE, assemble=application)
