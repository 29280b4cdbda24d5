"""Last activity of each player at an arena: who is present, and for which tags it waits.

A player is active when it asks the arena for a match, or acts in one. The tags are those of its
last request for matches: a player that waits for the tags of no contest is not in its practice.

| pk    | sk | attributes                                                              |
|-------|----|-------------------------------------------------------------------------|
| heard | ID | heard_at; awaited_tags, absent for any tag; client; moved_at; expires_at |
"""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cardsharp.aws.dynamodb_attributes import (
    Item,
    Value,
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
    `last_move_at` is the time of its last action in a match, None before the first.
    """

    seen_at: datetime
    awaited_tags: tuple[str, ...] | None = None
    client: str = ""
    last_move_at: datetime | None = None

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
        last_move_at = self._previous(player, seen_at).last_move_at
        self._save(player, PlayerActivity(seen_at, stored_tags, name, last_move_at), is_poll=True)

    def record_activity(self, player: str, seen_at: datetime) -> None:
        """Record another activity of a player; the tags for which it waits stay."""
        self._save(player, replace(self._previous(player, seen_at), seen_at=seen_at))

    def record_move(self, player: str, moved_at: datetime) -> None:
        """Record that a player acted in a match."""
        previous = self._previous(player, moved_at)
        self._save(player, replace(previous, seen_at=moved_at, last_move_at=moved_at))

    def activity_by_player(self) -> Mapping[str, PlayerActivity]:
        """Return the last activity of each player, by player id."""
        return self._last_activity

    def _previous(self, player: str, current_time: datetime) -> PlayerActivity:
        return self._last_activity.get(player, PlayerActivity(current_time))

    def _save(self, player: str, activity: PlayerActivity, *, is_poll: bool = False) -> None:
        del is_poll
        self._last_activity[player] = activity


class DynamoPresence(Presence):
    """Last activity of the players of an arena whose processes share a table.

    Each process stores only what it knows: a process that saw a move leaves the tags and the
    program that another one has stored.
    """

    def __init__(self, table: "DynamoTable") -> None:
        super().__init__()
        self._table = table
        self._stored_activity: dict[str, PlayerActivity] = {}

    def activity_by_player(self) -> Mapping[str, PlayerActivity]:
        """Return the last activity of each player, as all processes have stored it."""
        items = self._table.query_prefix(_PARTITION)
        return {item["sk"]["S"]: _parse_activity(item) for item in items}

    def _save(self, player: str, activity: PlayerActivity, *, is_poll: bool = False) -> None:
        """Store an activity; a failure is only logged, so that no request fails."""
        super()._save(player, activity)
        previous = self._stored_activity.get(player)
        if previous is not None:
            has_new_tags = activity.awaited_tags != previous.awaited_tags
            interval = TAGS_WRITE_INTERVAL if has_new_tags else WRITE_INTERVAL
            if activity.seen_at - previous.seen_at < interval:
                return
        self._stored_activity[player] = activity
        attributes = _build_attributes(activity, is_poll=is_poll)
        names = [name for name, value in attributes.items() if value is not None]
        update = f"SET {', '.join(f'{name} = :{name}' for name in names)}"
        if len(names) < len(attributes):
            update += f" REMOVE {', '.join(attributes.keys() - set(names))}"
        values = {f":{name}": value for name, value in attributes.items() if value is not None}
        try:
            self._table.update_and_return(item_key(_PARTITION, player), update, "", values)
        except StoreError as error:
            _log.warning("The presence of player %s could not be stored: %s", player, error)


def _build_attributes(activity: PlayerActivity, *, is_poll: bool) -> "dict[str, Value | None]":
    """Return the attributes that an activity sets; those that are None are to be removed."""
    attributes: dict[str, Value | None] = {
        "heard_at": timestamp_attribute(activity.seen_at),
        "expires_at": expiry_attribute(activity.seen_at + _RECORD_TTL),
    }
    if is_poll:
        tags = activity.awaited_tags
        attributes["awaited_tags"] = None if tags is None else {"L": [{"S": tag} for tag in tags]}
        attributes["client"] = {"S": activity.client} if activity.client else None
    if activity.last_move_at is not None:
        attributes["moved_at"] = timestamp_attribute(activity.last_move_at)
    return attributes


def _parse_activity(item: Item) -> PlayerActivity:
    tags, moved_at = item.get("awaited_tags"), item.get("moved_at")
    return PlayerActivity(
        timestamp_value(item["heard_at"]),
        None if tags is None else tuple(tag["S"] for tag in tags["L"]),
        item.get("client", {"S": ""})["S"],
        None if moved_at is None else timestamp_value(moved_at),
    )
