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
from typing import TYPE_CHECKING

from pydantic import SecretStr

from cardsharp.aws.ssm_credentials import (
    SecretNotSet,
    credentials_redacted_in_logs,
    fetch_credentials,
)
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN
from cardsharp.games.deadmansdraw.arena.errors import AdminPasswordNotSet
from cardsharp.store.locations import dynamodb_table_name

if TYPE_CHECKING:
    from cardsharp.aws.dynamodb_table import DynamoTable

STORE_SETTING = "ARENA_STORE"
SECRET_PARAMETER_SETTING = "CARDSHARP_SERVICE_SECRET"  # noqa: S105 - a variable or parameter name, no secret
ADMIN_PASSWORD_SETTING = "ARENA_ADMIN_PASSWORD"  # noqa: S105 - a variable or parameter name, no secret
PUBLIC_SETTING = "CARDSHARP_PUBLIC"

DEFAULT_RETENTION_DAYS = 90  # how long a match is stored unless the setting says otherwise

_log = logging.getLogger(__name__)


def admin_password(environment: Mapping[str, str]) -> SecretStr | None:
    """Return the organiser's current password, or None if there is no organiser.

    Raises `AdminPasswordNotSet` if Parameter Store holds none yet, so that nobody can sign in, and
    `StoreError` if Parameter Store could not be read.
    """
    password, parameter = (
        environment.get(ADMIN_PASSWORD_SETTING),
        environment.get(SECRET_PARAMETER_SETTING),
    )
    if not password and not parameter:
        return None
    try:
        login = (
            credentials_redacted_in_logs(ADMIN, password)
            if password
            else fetch_credentials(str(parameter))
        )
    except SecretNotSet as error:
        _log.error("%s", error)
        raise AdminPasswordNotSet from error
    return SecretStr(login.password)


def arena_table(environment: Mapping[str, str]) -> "DynamoTable":
    """Return the arena's table; raise `ConfigError` if none is named."""
    # boto3 is slow to import, and not every caller of this module needs it.
    from cardsharp.aws.dynamodb_table import DynamoTable  # noqa: PLC0415

    name = dynamodb_table_name(environment.get(STORE_SETTING, ""))
    if name is None:
        raise ConfigError(
            f"{STORE_SETTING} must be dynamodb:TABLE. On your own machine use `cardsharp arena`, "
            "which stores matches in memory, in a file, or with --emulator in a table."
        )
    return DynamoTable(name)
