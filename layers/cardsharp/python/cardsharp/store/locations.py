"""Locations of stores: `sqlite:FILE` for a file at home, `dynamodb:TABLE` for a table on AWS."""

from pathlib import Path

from cardsharp.errors import ConfigError

SQLITE_PREFIX, DYNAMODB_PREFIX = "sqlite:", "dynamodb:"


def sqlite_path(location: str) -> Path | None:
    """Return the path of the file, None for another location; `~` is the home folder."""
    name = location.removeprefix(SQLITE_PREFIX)
    return None if name in {"", location} else Path(name).expanduser()


def dynamodb_table_name(location: str) -> str | None:
    """Return the name of the table, None for another location."""
    name = location.removeprefix(DYNAMODB_PREFIX)
    return None if name in {"", location} else name


def invalid_location_error(setting_name: str, location: str) -> ConfigError:
    """Return the error about a setting whose location is neither a file nor a table."""
    return ConfigError(f"{setting_name} must be sqlite:FILE or dynamodb:TABLE, not {location!r}.")
