"""The arena in the cloud with the pages of its contests: the HTTP service of this game."""

from collections.abc import Mapping

from cardsharp.deadmansdraw.arena.assembly import STORE, arena_of
from cardsharp.web.asgi import Application, AsgiService


def application(environment: Mapping[str, str]) -> Application:
    """The application that an environment describes; raises `ConfigError`."""
    arena = arena_of(environment)
    # As there: slow to import, and needed by nobody who only asks what there is.
    from cardsharp.cloud.dynamodb_table import DynamoTable  # noqa: PLC0415
    from cardsharp.deadmansdraw.contest.dynamodb import TableContests  # noqa: PLC0415
    from cardsharp.deadmansdraw.contest.pages import ContestPages  # noqa: PLC0415

    table = DynamoTable(environment[STORE].partition(":")[2])
    arena.show(ContestPages(TableContests(table)))
    return arena.app


SERVICE = AsgiService(store=STORE, assemble=application)
