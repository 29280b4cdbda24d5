"""Read access to a match log in DynamoDB; `dynamodb_match_log` describes the table.

With a projection no request names any other attribute, so that a role can be limited to them
(docs/decisions/0019-a-viewer-that-can-read-no-more.md).
"""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from cardsharp.aws.dynamodb_attributes import Item, item_key
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.store import dynamodb_match_items as items
from cardsharp.store.match_log import MatchRecord, MatchStatus, MoveRecord
from cardsharp.store.match_records import day_bounds

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


class DynamoMatchReader:
    """Matches and moves in a table; of items only the `projection` attributes are read."""

    def __init__(
        self, table: str, client: "DynamoDBClient | None" = None, projection: Sequence[str] = ()
    ) -> None:
        self._table = DynamoTable(table, client)
        self._projection = projection

    def match(self, match_id: str) -> MatchRecord | None:
        """Return the header of a match, None if the log does not have it."""
        item = self._table.get(items.header_key(match_id), projection=self._projection)
        return None if item is None else items.match_from_item(item)

    def moves(self, match_id: str) -> list[MoveRecord]:
        """Return all moves of a match in the order of their sequence."""
        stored = self._table.query_prefix(
            items.match_partition(match_id), items.MOVE_PREFIX, self._projection
        )
        moves = map(items.move_from_item, stored)
        return [
            move for move in moves if move.read_error or (move.intent, move.facts) != (None, None)
        ]

    def last_sequence_with_facts(self, match_id: str) -> int:
        """Return the sequence of the last move that has facts, -1 if none has."""
        stored = self._table.last_key_with_any_attribute(
            items.match_partition(match_id), items.MOVE_PREFIX, ("facts", "facts_json")
        )
        return -1 if stored is None else items.move_from_item(stored).sequence

    def matches(
        self,
        day: date | None = None,
        status: MatchStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> list[MatchRecord]:
        """Return headers, the last started first; a recent change may be missing."""
        keys = self._newest_keys(day, status)
        if cursor is not None:
            header = self._table.get(items.header_key(cursor), projection=self._projection)
            keys = iter(()) if header is None else _keys_after(header, keys)
        records = self._read_headers(keys, limit)
        return [record for record in records if status is None or record.status is status]

    def _newest_keys(self, day: date | None, status: MatchStatus | None) -> Iterator[Item]:
        """Yield the keys of the matches of a UTC day and status, newest first."""
        if day is not None and status is None:
            return self._table.query_index_keys(
                "by-day", "match_day = :key", items.expression_values(key=str(day))
            )
        statuses = [status] if status is not None else list(MatchStatus)
        listed = [self._query_keys_by_status(match_status, day) for match_status in statuses]
        return heapq.merge(*listed, key=lambda item: -int(item["started_at"]["N"]))

    def _query_keys_by_status(self, status: MatchStatus, day: date | None) -> Iterator[Item]:
        """Yield the keys of the matches of a status and UTC day, newest first."""
        condition, values = "match_status = :key", items.expression_values(key=status)
        if day is not None:
            condition += " AND started_at BETWEEN :first AND :last"
            day_start, day_end = day_bounds(day)
            values |= items.expression_values(first=day_start, last=day_end)
        return self._table.query_index_keys("by-status", condition, values)

    def _read_headers(self, keys: Iterable[Item], limit: int) -> list[MatchRecord]:
        """Return the headers of the first `limit` listed matches, newest first; of all with -1.

        An index has no order among matches with the same start, so all of these are read.
        """
        start_times: dict[str, str] = {}  # a match between two statuses may be listed under both
        for key in keys:
            began = key["started_at"]["N"]
            if len(start_times) >= limit >= 0 and began not in start_times.values():
                break
            start_times[key["pk"]["S"]] = began
        # Sorted by the index's own values: those of a header that cannot be read are empty.
        newest = sorted(start_times, key=lambda name: _sort_key(name, start_times[name]))[::-1]
        names = newest if limit < 0 else newest[:limit]
        keyed = [item_key(name, items.HEADER_SORT_KEY) for name in names]
        headers = {
            item["pk"]["S"]: items.match_from_item(item)
            for item in self._table.batch_get(keyed, self._projection)
        }
        return [headers[name] for name in names if name in headers]


def _keys_after(header: Item, keys: Iterable[Item]) -> Iterator[Item]:
    """Yield the keys of the matches that a list has after the match of this header."""
    last = _sort_key(header["pk"]["S"], header["started_at"]["N"])
    for key in keys:
        if _sort_key(key["pk"]["S"], key["started_at"]["N"]) < last:
            yield key


def _sort_key(name: str, started_at: str) -> tuple[int, list[str | int]]:
    """Return a sort key: the start, then the name with its numbers in numerical order.

    Such a number is, for example, that of a deal.
    """
    parts = re.split(r"(\d+)", name)
    return int(started_at), [int(part) if at % 2 else part for at, part in enumerate(parts)]
