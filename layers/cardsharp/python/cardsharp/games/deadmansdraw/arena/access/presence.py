"""Last activity of each player at an arena: who is present, and for which tags it waits.

A player is active when it asks the arena for a match, or acts in one. The tags are those of its
last request for matches: a player that waits for the tags of no contest is not in its practice.

| pk    | sk | attributes                                                              |
|-------|----|-------------------------------------------------------------------------|
| heard | ID | heard_at; awaited_tags, absent for any tag; client; expires_at          |
"""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cardsharp.aws.dynamodb_attributes import (
    Item,
    expiry_attribute,
    item_key,
    timestamp_attribute,
    timestamp_value,
)
from cardsharp.errors import StoreError

if TYPE_CHECKING:
    from cardsharp.aws.dynamodb_table import DynamoTable

# Minimum times between two writes of a player, each of which costs: of the time alone, and of tags.
WRITE_INTERVAL, TAGS_WRITE_INTERVAL = timedelta(seconds=10), timedelta(seconds=1)
_MAX_TAGS, _MAX_TAG_LENGTH = 20, 100  # of a request, that are stored: the store is not the player's
_MAX_CLIENT_LENGTH = 60  # characters of a client's name, likewise
_RECORD_TTL = timedelta(days=1)
_PARTITION = "heard"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlayerActivity:
    """Last activity of a player; `awaited_tags` is None for a player that waits for any match.

    `client` is the name of its program, as the header User-Agent of its last poll has it.
    """

    seen_at: datetime
    awaited_tags: tuple[str, ...] | None = None
    client: str = ""

    def idle_seconds(self, current_time: datetime) -> float:
        """Return the seconds since the activity."""
        return (current_time - self.seen_at).total_seconds()


class Presence:
    """Last activity of the players of an arena in one process."""

    def __init__(self) -> None:
        self._last_activity: dict[str, PlayerActivity] = {}

    def record_poll(
        self, player: str, seen_at: datetime, tags: Collection[str] | None, client: str = ""
    ) -> None:
        """Record that a player asked for its matches with one of these tags; None is any tag."""
        stored_tags = None if tags is None else tuple(sorted(tags)[:_MAX_TAGS])
        if stored_tags is not None:
            stored_tags = tuple(tag[:_MAX_TAG_LENGTH] for tag in stored_tags)
        # A program may send anything as its name, also what would change a terminal.
        name = "".join(letter for letter in client[:_MAX_CLIENT_LENGTH] if letter.isprintable())
        self._save(player, PlayerActivity(seen_at, stored_tags, name))

    def record_activity(self, player: str, seen_at: datetime) -> None:
        """Record another activity of a player; the tags for which it waits stay."""
        previous = self._last_activity.get(player, PlayerActivity(seen_at))
        self._save(player, replace(previous, seen_at=seen_at))

    def activity_by_player(self) -> Mapping[str, PlayerActivity]:
        """Return the last activity of each player, by player id."""
        return self._last_activity

    def _save(self, player: str, activity: PlayerActivity) -> None:
        self._last_activity[player] = activity


class DynamoPresence(Presence):
    """Last activity of the players of an arena whose processes share a table."""

    def __init__(self, table: "DynamoTable") -> None:
        super().__init__()
        self._table = table

    def activity_by_player(self) -> Mapping[str, PlayerActivity]:
        """Return the last activity of each player, as all processes have stored it."""
        items = self._table.query_prefix(_PARTITION)
        return {item["sk"]["S"]: _parse_activity(item) for item in items}

    def _save(self, player: str, activity: PlayerActivity) -> None:
        """Store an activity; a failure is only logged, so that no request fails."""
        previous = self._last_activity.get(player)
        if previous is not None:
            has_new_tags = activity.awaited_tags != previous.awaited_tags
            interval = TAGS_WRITE_INTERVAL if has_new_tags else WRITE_INTERVAL
            if activity.seen_at - previous.seen_at < interval:
                return
        super()._save(player, activity)
        try:
            self._table.put(_build_item(player, activity))
        except StoreError as error:
            _log.warning("The presence of player %s could not be stored: %s", player, error)


def _build_item(player: str, activity: PlayerActivity) -> Item:
    tags = activity.awaited_tags
    return {
        **item_key(_PARTITION, player),
        "heard_at": timestamp_attribute(activity.seen_at),
        **({} if tags is None else {"awaited_tags": {"L": [{"S": tag} for tag in tags]}}),
        **({"client": {"S": activity.client}} if activity.client else {}),
        "expires_at": expiry_attribute(activity.seen_at + _RECORD_TTL),
    }


def _parse_activity(item: Item) -> PlayerActivity:
    tags = item.get("awaited_tags")
    return PlayerActivity(
        timestamp_value(item["heard_at"]),
        None if tags is None else tuple(tag["S"] for tag in tags["L"]),
        item.get("client", {"S": ""})["S"],
    )
