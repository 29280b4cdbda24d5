"""What anybody may read of a match log in DynamoDB; `dynamodb` says how it is kept.

With `shown` no request asks for any other attribute, so that a role may be held to them
(docs/decisions/0019-a-viewer-that-can-read-no-more.md).
"""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING

from cardsharp.cloud import dynamodb_items as items
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


class DynamoReader:
    """Matches and their moves in the table of that name; of items only the `shown` attributes."""

    def __init__(
        self, table: str, client: "DynamoDBClient | None" = None, shown: Sequence[str] = ()
    ) -> None:
        self._table = DynamoTable(table, client)
        self._shown = shown

    def match(self, match_id: str) -> MatchRecord | None:
        """The header of a match, or None if the log does not know it."""
        item = self._table.get(items.header_key(match_id), shown=self._shown)
        return None if item is None else items.to_match(item)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """All moves of a match in the order of their sequence."""
        stored = self._table.under(items.partition(match_id), items.MOVE, self._shown)
        found = map(items.to_move, stored)
        return [move for move in found if move.fault or (move.intent, move.facts) != (None, None)]

    def last_move(self, match_id: str) -> int:
        """The sequence of the last move that has facts, -1 where none has."""
        stored = self._table.last_under(items.partition(match_id), items.MOVE, "facts_json")
        return -1 if stored is None else items.to_move(stored).sequence

    def matches(
        self, day: date | None = None, status: Status | None = None, limit: int = 100
    ) -> list[MatchRecord]:
        """Headers, the last started first; a new match or status may show late."""
        if day is not None and status is None:
            keys = self._table.listed("by-day", "match_day = :key", items.values(key=str(day)))
            return self._headers(keys, limit)
        wanted = [status] if status is not None else list(Status)
        listed = [self._by_status(one, day) for one in wanted]
        newest = heapq.merge(*listed, key=lambda item: -int(item["started_at"]["N"]))
        records = self._headers(newest, limit)
        return [record for record in records if status is None or record.status is status]

    def _by_status(self, status: Status, day: date | None) -> Iterator[items.Item]:
        """The keys of the matches of a status, and of a UTC day, newest first."""
        condition, values = "match_status = :key", items.values(key=status)
        if day is not None:
            condition += " AND started_at BETWEEN :first AND :last"
            first, last = (datetime.combine(day, at, UTC) for at in (time.min, time.max))
            values |= items.values(first=first, last=last)
        return self._table.listed("by-status", condition, values)

    def _headers(self, keys: Iterable[items.Item], limit: int) -> list[MatchRecord]:
        """The present headers of the first `limit` listed matches, of all with -1, in order.

        An index has no order among matches that began at one moment, so all of these are read.
        """
        wanted: dict[str, str] = {}  # a match between two statuses may be listed under both
        for key in keys:
            began = key["started_at"]["N"]
            if len(wanted) >= limit >= 0 and began not in wanted.values():
                break
            wanted[key["pk"]["S"]] = began
        keyed = [items.key(name, items.HEADER) for name in wanted]
        records = map(items.to_match, self._table.batch(keyed, self._shown))
        newest = sorted(records, key=_order_of_play, reverse=True)
        return newest if limit < 0 else newest[:limit]


def _order_of_play(record: MatchRecord) -> tuple[datetime, list[str | int]]:
    """A sort key: the moment of the beginning, then the numbers in the id, such as a deal's."""
    parts = re.split(r"(\d+)", record.match_id)
    return record.started, [int(part) if at % 2 else part for at, part in enumerate(parts)]
