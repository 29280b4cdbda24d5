"""The time that a service keeps a game or match: one setting for all services."""

from collections.abc import Mapping
from datetime import timedelta

from cardsharp.errors import ConfigError

RETENTION_SETTING = "CARDSHARP_KEEP_DAYS"


def read_retention(environment: Mapping[str, str], default_days: int) -> timedelta:
    """Return how long a game or match is kept after its last change.

    Raises `ConfigError` unless the setting is a positive number of days.
    """
    days_text = environment.get(RETENTION_SETTING) or str(default_days)
    if not days_text.isdecimal() or int(days_text) == 0:
        raise ConfigError(f"{RETENTION_SETTING} must be a number of days, not {days_text!r}.")
    return timedelta(days=int(days_text))
