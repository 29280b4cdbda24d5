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
from http import HTTPStatus
from typing import TYPE_CHECKING

from pydantic import SecretStr

from cardsharp.cloud.secrets import Unset, fetched, guarded
from cardsharp.deadmansdraw.arena.players import ADMIN
from cardsharp.errors import ConfigError
from cardsharp.web.route import Refused

if TYPE_CHECKING:
    from cardsharp.cloud.dynamodb_table import DynamoTable

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


def word_of(environment: Mapping[str, str]) -> SecretStr | None:
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


def table_of(environment: Mapping[str, str]) -> "DynamoTable":
    """The arena's table; raises `ConfigError` if none is named."""
    # boto3 is slow to import, and told to nobody who only asks what there is.
    from cardsharp.cloud.dynamodb_table import DynamoTable  # noqa: PLC0415

    kind, _, name = environment.get(STORE, "").partition(":")
    if kind != "dynamodb" or not name:
        raise ConfigError(
            f"{STORE} must be dynamodb:TABLE. At home `cardsharp arena` serves the same arena: "
            "from memory, from a file, or with --emulator from a table."
        )
    return DynamoTable(name)


def life_of(environment: Mapping[str, str]) -> timedelta:
    """How long a match is kept after its last move; raises `ConfigError` if that is no number."""
    text = environment.get(KEEP_DAYS) or str(DAYS)
    if not text.isdecimal() or int(text) == 0:
        raise ConfigError(f"{KEEP_DAYS} must be a number of days, not {text!r}.")
    return timedelta(days=int(text))
