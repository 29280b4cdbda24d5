"""The players of an arena in its DynamoDB table, and the dummy, who belongs to every arena.

| pk      | sk | attributes                                                                |
|---------|----|---------------------------------------------------------------------------|
| players | ID | player_name, player_ha1, perhaps player_email and player_country;          |
|         |    | or doc_body with name and ha1, as a contest writes them (`cardsharp.keep`) |

`ha1` is what `players.ha1` makes of a password. Actions used: Query.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cardsharp.cloud.codec import decode
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.arena.ids import DUMMY_ID
from cardsharp.deadmansdraw.arena.players import DEFAULT_FILE, Player, load_players
from cardsharp.errors import StoreError

if TYPE_CHECKING:
    from cardsharp.cloud.dynamodb_items import Item

PLAYERS = "players"
"""The partition."""

FRESH = timedelta(seconds=15)
"""How late a new team or password is known."""

_PREFIX = "player_"
_log = logging.getLogger(__name__)


class Teams(Mapping[str, Player]):
    """The players by id, read again when they are older than `FRESH`."""

    def __init__(self, table: DynamoTable, clock: Callable[[], datetime]) -> None:
        self._table = table
        self._clock = clock
        self._dummy = load_players(DEFAULT_FILE)[DUMMY_ID]
        self._players: dict[str, Player] = {}
        self._until: datetime | None = None

    def __getitem__(self, player_id: str) -> Player:
        return self._known()[player_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def _known(self) -> dict[str, Player]:
        now = self._clock()
        if self._until is None or now >= self._until:
            found = filter(None, map(_player, self._table.under(PLAYERS)))
            self._players = {DUMMY_ID: self._dummy, **{one.id: one for one in found}}
            self._until = now + FRESH
        return self._players


def _player(item: "Item") -> Player | None:
    """The player of an item; one that cannot be read is left out, and the log says so."""
    told = {name.removeprefix(_PREFIX): value["S"] for name, value in item.items() if "S" in value}
    try:
        body = decode(told["doc_body"]) if "doc_body" in told else told
        known = {name: body[name] for name in ("name", "ha1", "email", "country") if name in body}
        return Player.model_validate({"_id": told["sk"], **known})
    except (ValidationError, StoreError):
        _log.warning("The player %s cannot be read and is left out.", told["sk"])
        return None
