"""The arena in the cloud with the pages of its contests: the HTTP service of this game."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from cardsharp.games.deadmansdraw.arena.bootstrap import (
    DEFAULT_RETENTION_DAYS,
    PUBLIC_SETTING,
    STORE_SETTING,
    admin_password,
    arena_table,
)
from cardsharp.server.http_service import HttpService, ServiceApplication
from cardsharp.server.request_parsing import Json
from cardsharp.server.retention import read_retention

if TYPE_CHECKING:
    from cardsharp.contest.repository import ContestRepository


MAX_TEAMS = 64  # of a contest; those of a stack may all play behind one address


def build_contest_application(environment: Mapping[str, str]) -> ServiceApplication:
    """Build the application that an environment describes; raise `ConfigError`."""
    # Slow to import, and needed by nobody who only asks what there is.
    from cardsharp.core.clock import SystemClock, utc_now  # noqa: PLC0415
    from cardsharp.games.deadmansdraw.arena.access.dynamo_players import DynamoPlayers  # noqa: PLC0415
    from cardsharp.games.deadmansdraw.arena.cloud_arena import CloudArena  # noqa: PLC0415
    from cardsharp.games.deadmansdraw.arena.config import ArenaConfig, with_contest_limits  # noqa: PLC0415
    from cardsharp.games.deadmansdraw.arena.director_ticks import build_move_notifier  # noqa: PLC0415
    from cardsharp.games.deadmansdraw.contest.page_routes import ContestPages  # noqa: PLC0415
    from cardsharp.store.dynamodb_documents import DynamoDocumentStore  # noqa: PLC0415

    table, life = arena_table(environment), read_retention(environment, DEFAULT_RETENTION_DAYS)
    teams, keep = DynamoPlayers(table, utc_now), DynamoDocumentStore(table.name, SystemClock())
    public = environment.get(PUBLIC_SETTING) == "yes"
    config = with_contest_limits(ArenaConfig(is_public=public, load_players=teams), MAX_TEAMS)
    moved = build_move_notifier(table, teams.house_strategy, wake_director=True)
    arena = CloudArena(
        config, table, partial(admin_password, environment), retention=life, on_move=moved
    )

    def contests() -> "ContestRepository":
        from cardsharp.contest.repository import ContestRepository  # noqa: PLC0415

        return ContestRepository(keep)

    arena.mount_pages(ContestPages(contests))
    return ServiceApplication(arena.app)


def _openapi_documents() -> Mapping[str, Json]:
    """Return the document of the arena; the pages of contests are for people."""
    from cardsharp.games.deadmansdraw.arena.openapi import arena_openapi_document  # noqa: PLC0415

    return {"": arena_openapi_document()}


SERVICE = HttpService(
    store_setting=STORE_SETTING,
    build=build_contest_application,
    own_documents=_openapi_documents,
)
