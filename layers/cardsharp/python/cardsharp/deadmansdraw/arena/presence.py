"""When an arena was last asked for a match by each player, or acted: who is there for practice.

| pk    | sk | attributes                                                              |
|-------|----|-------------------------------------------------------------------------|
| heard | ID | heard_at; expires_at                                                    |
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cardsharp.cloud.codec import from_micros
from cardsharp.cloud.dynamodb_items import key, moment, number
from cardsharp.errors import StoreError

if TYPE_CHECKING:
    from cardsharp.cloud.dynamodb_table import DynamoTable

EVERY = timedelta(seconds=10)  # in the cloud a player is written of so often, as that costs
_LIFE = timedelta(days=1)
_HEARD = "heard"
_log = logging.getLogger(__name__)


class Presence:
    """Of an arena in one process."""

    def __init__(self) -> None:
        self._heard: dict[str, datetime] = {}

    def hear(self, player: str, at: datetime) -> None:
        """Note that a player was heard of."""
        self._heard[player] = at

    def idle(self, now: datetime) -> Mapping[str, float]:
        """How many seconds ago each player was heard of last."""
        return {player: (now - at).total_seconds() for player, at in self._last().items()}

    def _last(self) -> Mapping[str, datetime]:
        return self._heard


class TablePresence(Presence):
    """Of an arena of many processes, which share a table."""

    def __init__(self, table: "DynamoTable") -> None:
        super().__init__()
        self._table = table

    def hear(self, player: str, at: datetime) -> None:
        """Note that a player was heard of; a failure harms no request."""
        if player in self._heard and at - self._heard[player] < EVERY:
            return
        super().hear(player, at)
        ends = number(int((at + _LIFE).timestamp()))
        try:
            self._table.put({**key(_HEARD, player), "heard_at": moment(at), "expires_at": ends})
        except StoreError as error:
            _log.warning("It could not be noted that %s is there: %s", player, error)

    def _last(self) -> Mapping[str, datetime]:
        found = self._table.under(_HEARD)
        return {one["sk"]["S"]: from_micros(int(one["heard_at"]["N"])) for one in found}
