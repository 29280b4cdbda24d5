"""The arena in the cloud with the pages of its contests: the HTTP service of this game."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from cardsharp.deadmansdraw.arena.assembly import STORE, arena_of
from cardsharp.web.asgi import AsgiService

if TYPE_CHECKING:
    from cardsharp.contest.kept import ContestsKept


def application(environment: Mapping[str, str]) -> ASGIApp:
    """The application that an environment describes; raises `ConfigError`."""
    arena = arena_of(environment)
    # As there: slow to import, and needed by nobody who only asks what there is.
    from cardsharp.cloud.clock import SystemClock  # noqa: PLC0415
    from cardsharp.deadmansdraw.contest.page_routes import ContestPages  # noqa: PLC0415
    from cardsharp.keep.dynamodb import DynamoKeep  # noqa: PLC0415

    keep = DynamoKeep(environment[STORE].partition(":")[2], SystemClock())

    def contests() -> "ContestsKept":
        from cardsharp.contest.kept import ContestsKept  # noqa: PLC0415

        return ContestsKept(keep)

    arena.show(ContestPages(contests))
    return arena.app


SERVICE = AsgiService(store=STORE, assemble=application)
