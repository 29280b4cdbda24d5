"""Match logs by their setting: `sqlite:FILE` or `dynamodb:TABLE`."""

from datetime import timedelta

from cardsharp.core.clock import Clock
from cardsharp.store.locations import dynamodb_table_name, invalid_location_error, sqlite_path
from cardsharp.store.match_log import MatchLog


def build_match_log(location: str, clock: Clock, retention: timedelta | None = None) -> MatchLog:
    """Return the match log at a location; raise `ConfigError` if the location is invalid.

    A table deletes the items of a match when `retention` has passed; a file keeps everything.
    """
    path, table = sqlite_path(location), dynamodb_table_name(location)
    if path is not None:
        from cardsharp.store.sqlite_match_log import SqliteMatchLog  # noqa: PLC0415 - not in the cloud

        return SqliteMatchLog(path, clock)
    if table is not None:
        from cardsharp.store.dynamodb_match_log import DynamoMatchLog  # noqa: PLC0415 - boto3 is slow to import

        return DynamoMatchLog(table, clock, retention=retention)
    raise invalid_location_error("CARDSHARP_STORE", location)
