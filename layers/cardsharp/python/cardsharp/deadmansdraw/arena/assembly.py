"""The arena in the cloud, as its environment describes it.

| variable                 | means                                                            |
|--------------------------|------------------------------------------------------------------|
| ARENA_STORE              | dynamodb:TABLE                                                   |
| CARDSHARP_SERVICE_SECRET | the parameter with the organiser's password; or, in its place,   |
| ARENA_ADMIN_PASSWORD     | the password itself                                              |
| CARDSHARP_KEEP_DAYS      | for how many days after its last move a match is kept            |
| CARDSHARP_PUBLIC         | yes: spectators need no password                                 |
"""

import logging
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from pydantic import SecretStr

from cardsharp.cloud.clock import utc_now
from cardsharp.cloud.secrets import Unset, fetched, guarded
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.limits import OF_A_TEAM
from cardsharp.deadmansdraw.arena.lobby import Moved
from cardsharp.deadmansdraw.arena.players import ADMIN, Book
from cardsharp.deadmansdraw.arena.referee import Referee
from cardsharp.errors import ConfigError
from cardsharp.web.route import Refused

if TYPE_CHECKING:
    from cardsharp.cloud.dynamodb_table import DynamoTable
    from cardsharp.deadmansdraw.arena.app import Arena
    from cardsharp.deadmansdraw.arena.teams import Teams

STORE = "ARENA_STORE"
PARAMETER = "CARDSHARP_SERVICE_SECRET"
WORD = "ARENA_ADMIN_PASSWORD"
KEEP_DAYS = "CARDSHARP_KEEP_DAYS"
PUBLIC = "CARDSHARP_PUBLIC"

DAYS = 90  # how long a match is kept where nothing else is said

NO_WORD = (
    "The arena has no organiser's password yet, which its nonces are sealed with. Its organiser "
    "sets it with `cardsharp cloud rotate-secret --service deadmansdraw` and the --stack."
)
"""What everybody is told who is to prove who they are."""

_log = logging.getLogger(__name__)


def _word(environment: Mapping[str, str]) -> SecretStr | None:
    """The organiser's password as of now, None where there is no organiser.

    Raises `Refused` if Parameter Store has none yet, so nobody can be admitted, and `StoreError` if
    Parameter Store did not give it.
    """
    given, parameter = environment.get(WORD), environment.get(PARAMETER)
    if not given and not parameter:
        return None
    try:
        login = guarded(ADMIN, given) if given else fetched(str(parameter))
    except Unset as error:
        _log.error("%s", error)
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, NO_WORD) from error
    return SecretStr(login.password)


def referee_of(environment: Mapping[str, str], teams: "Teams", moved: Moved) -> Referee:
    """Who admits requests to the matches of the arena's table, for those who direct it."""
    from cardsharp.deadmansdraw.arena.table import TableLobby  # noqa: PLC0415 - as in `_table`

    config = ArenaConfig()
    lobby = TableLobby(_table(environment), _life(environment), moved)
    return Referee(lobby, Book(teams), config.randomness, config.clock)


def arena_of(environment: Mapping[str, str]) -> "Arena":
    """The arena, which has the director look at new matches; raises as above."""
    # A director needs no pages, and starts a sixth faster without them.
    from cardsharp.deadmansdraw.arena.cloud import CloudArena  # noqa: PLC0415
    from cardsharp.deadmansdraw.arena.teams import Teams  # noqa: PLC0415
    from cardsharp.deadmansdraw.arena.ticks import tells_of_moves  # noqa: PLC0415

    public = environment.get(PUBLIC) == "yes"
    table, life = _table(environment), _life(environment)
    teams = Teams(table, utc_now)
    config = ArenaConfig(slow_down=True, public=public, quotas=OF_A_TEAM, teams=teams)
    moved = tells_of_moves(table, teams.strategy_of, wakes=True)
    return CloudArena(config, table, partial(_word, environment), life=life, moved=moved)


def _table(environment: Mapping[str, str]) -> "DynamoTable":
    # boto3 is slow to import, and told to nobody who only asks what there is.
    from cardsharp.cloud.dynamodb_table import DynamoTable  # noqa: PLC0415

    kind, _, name = environment.get(STORE, "").partition(":")
    if kind != "dynamodb" or not name:
        raise ConfigError(
            f"{STORE} must be dynamodb:TABLE. At home `cardsharp arena` serves the same arena: "
            "from memory, from a file, or with --emulator from a table."
        )
    return DynamoTable(name)


def _life(environment: Mapping[str, str]) -> timedelta:
    text = environment.get(KEEP_DAYS) or str(DAYS)
    if not text.isdecimal() or int(text) == 0:
        raise ConfigError(f"{KEEP_DAYS} must be a number of days, not {text!r}.")
    return timedelta(days=int(text))
