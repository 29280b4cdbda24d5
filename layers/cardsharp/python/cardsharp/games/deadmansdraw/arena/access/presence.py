"""Last activity of each player at an arena: who is present for practice matches.

A player is active when it asks the arena for a match, or acts in one.

| pk    | sk | attributes                                                              |
|-------|----|-------------------------------------------------------------------------|
| heard | ID | heard_at; expires_at                                                    |
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cardsharp.aws.dynamodb_attributes import (
    expiry_attribute,
    item_key,
    timestamp_attribute,
    timestamp_value,
)
from cardsharp.errors import StoreError

if TYPE_CHECKING:
    from cardsharp.aws.dynamodb_table import DynamoTable

WRITE_INTERVAL = timedelta(seconds=10)  # minimum time between two writes of a player; each costs
_RECORD_TTL = timedelta(days=1)
_PARTITION = "heard"
_log = logging.getLogger(__name__)


class Presence:
    """Last activity of the players of an arena in one process."""

    def __init__(self) -> None:
        self._last_activity: dict[str, datetime] = {}

    def record_activity(self, player: str, seen_at: datetime) -> None:
        """Record an activity of a player."""
        self._last_activity[player] = seen_at

    def idle_seconds_by_player(self, current_time: datetime) -> Mapping[str, float]:
        """Return the seconds since the last activity of each player, by player id."""
        return {
            player: (current_time - at).total_seconds()
            for player, at in self._read_last_activity().items()
        }

    def _read_last_activity(self) -> Mapping[str, datetime]:
        return self._last_activity


class DynamoPresence(Presence):
    """Last activity of the players of an arena whose processes share a table."""

    def __init__(self, table: "DynamoTable") -> None:
        super().__init__()
        self._table = table

    def record_activity(self, player: str, seen_at: datetime) -> None:
        """Record an activity of a player; a failure is only logged, so that no request fails."""
        if player in self._last_activity and seen_at - self._last_activity[player] < WRITE_INTERVAL:
            return
        super().record_activity(player, seen_at)
        try:
            self._table.put(
                {
                    **item_key(_PARTITION, player),
                    "heard_at": timestamp_attribute(seen_at),
                    "expires_at": expiry_attribute(seen_at + _RECORD_TTL),
                }
            )
        except StoreError as error:
            _log.warning("The presence of player %s could not be stored: %s", player, error)

    def _read_last_activity(self) -> Mapping[str, datetime]:
        items = self._table.query_prefix(_PARTITION)
        return {item["sk"]["S"]: timestamp_value(item["heard_at"]) for item in items}
