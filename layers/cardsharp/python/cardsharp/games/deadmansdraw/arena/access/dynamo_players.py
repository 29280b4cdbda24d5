"""The players of an arena in its DynamoDB table, and the dummy, who belongs to every arena.

| pk      | sk | attributes                                                                |
|---------|----|---------------------------------------------------------------------------|
| players | ID | player_name, player_ha1, perhaps player_email and player_country;          |
|         |    | or doc_body with name and ha1, as a contest writes them                   |
|         |    | (`cardsharp.store`), and a strategy where the arena itself plays the team   |

`ha1` is what `players.ha1` makes of a password. Actions used: Query.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

from pydantic import ValidationError

from cardsharp.aws.dynamodb_attributes import Item
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.core.clock import TimeSource
from cardsharp.errors import StoreError
from cardsharp.games.deadmansdraw.arena.access.users import (
    DEFAULT_FILE,
    DUMMY_ID,
    PlayerAccount,
    load_players_by_id,
)
from cardsharp.store.codec import decode

PLAYERS_PARTITION = "players"  # the partition
PLAYER_CACHE_TTL = timedelta(seconds=4)  # how late a new team or password is known
_ATTRIBUTE_PREFIX = "player_"
_log = logging.getLogger(__name__)


class DynamoPlayers:
    """Players of the table by id, cached for `PLAYER_CACHE_TTL`."""

    def __init__(self, table: DynamoTable, clock: TimeSource) -> None:
        self._table = table
        self._clock = clock
        self._dummy_player = load_players_by_id(DEFAULT_FILE)[DUMMY_ID]
        self._players: dict[str, PlayerAccount] = {}
        self._strategies: dict[str, str] = {}
        self._cache_expires_at: datetime | None = None

    def house_strategy(self, player_id: str | None) -> str | None:
        """Return the strategy with which the arena itself plays a player, None if it does not."""
        self()
        return self._strategies.get(player_id or "")

    def __call__(self) -> Mapping[str, PlayerAccount]:
        """The players as of now."""
        current_time = self._clock()
        if self._cache_expires_at is None or current_time >= self._cache_expires_at:
            self._players, self._strategies = {DUMMY_ID: self._dummy_player}, {}
            for item in self._table.query_prefix(PLAYERS_PARTITION):
                self._add_player(item)
            self._cache_expires_at = current_time + PLAYER_CACHE_TTL
        return self._players

    def _add_player(self, item: Item) -> None:
        """Add a player of the table; skip and log an item that cannot be read."""
        attributes = {
            key.removeprefix(_ATTRIBUTE_PREFIX): value["S"]
            for key, value in item.items()
            if "S" in value
        }
        try:
            body = decode(attributes["doc_body"]) if "doc_body" in attributes else attributes
            fields = {key: body[key] for key in ("name", "ha1", "email", "country") if key in body}
            player = PlayerAccount.model_validate({"_id": attributes["sk"], **fields})
        except (ValidationError, StoreError):
            # An error, so that an alarm tells it: the team cannot sign in.
            _log.error("The player %s cannot be read and is left out.", attributes["sk"])
            return
        self._players[player.id] = player
        if "strategy" in body:
            self._strategies[player.id] = str(body["strategy"])
