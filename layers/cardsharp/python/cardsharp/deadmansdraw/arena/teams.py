"""The players of an arena in its DynamoDB table, and the dummy, who belongs to every arena.

| pk      | sk | attributes                                                                |
|---------|----|---------------------------------------------------------------------------|
| players | ID | player_name, player_ha1, perhaps player_email and player_country;          |
|         |    | or doc_body with name and ha1, as a contest writes them                   |
|         |    | (`cardsharp.keep`), and a strategy where the arena itself plays the team   |

`ha1` is what `players.ha1` makes of a password. Actions used: Query.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

from pydantic import ValidationError

from cardsharp.cloud.clock import Now
from cardsharp.cloud.codec import decode
from cardsharp.cloud.dynamodb_items import Item
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.arena.players import DEFAULT_FILE, DUMMY_ID, Player, load_players
from cardsharp.errors import StoreError

PLAYERS = "players"  # the partition
FRESH = timedelta(seconds=4)  # how late a new team or password is known
_PREFIX = "player_"
_log = logging.getLogger(__name__)


class Teams:
    """The players by id, read again when they are older than `FRESH`."""

    def __init__(self, table: DynamoTable, clock: Now) -> None:
        self._table = table
        self._clock = clock
        self._dummy = load_players(DEFAULT_FILE)[DUMMY_ID]
        self._players: dict[str, Player] = {}
        self._strategies: dict[str, str] = {}
        self._until: datetime | None = None

    def strategy_of(self, player_id: str | None) -> str | None:
        """By which strategy the arena itself plays a player; None where it does not."""
        self()
        return self._strategies.get(player_id or "")

    def __call__(self) -> Mapping[str, Player]:
        """The players as of now."""
        now = self._clock()
        if self._until is None or now >= self._until:
            self._players, self._strategies = {DUMMY_ID: self._dummy}, {}
            for item in self._table.under(PLAYERS):
                self._take(item)
            self._until = now + FRESH
        return self._players

    def _take(self, item: Item) -> None:
        """Know a player; one that cannot be read is left out, and the log says so."""
        told = {
            key.removeprefix(_PREFIX): value["S"] for key, value in item.items() if "S" in value
        }
        try:
            body = decode(told["doc_body"]) if "doc_body" in told else told
            known = {key: body[key] for key in ("name", "ha1", "email", "country") if key in body}
            player = Player.model_validate({"_id": told["sk"], **known})
        except (ValidationError, StoreError):
            _log.warning("The player %s cannot be read and is left out.", told["sk"])
            return
        self._players[player.id] = player
        if "strategy" in body:
            self._strategies[player.id] = str(body["strategy"])
