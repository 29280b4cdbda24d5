"""Counts that all processes of an arena in the cloud share: an item of its table for each.

| pk             | sk     | attributes       |
|----------------|--------|------------------|
| count#DIGEST   | BEGINS | many, expires_at |

DIGEST is that of a key, which may name an address. Actions used: UpdateItem.
"""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from cardsharp.cloud.dynamodb_items import key as key_of
from cardsharp.cloud.dynamodb_items import number
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.arena.counts import Counted


class TableCounts:
    """Counts in a table; a stretch begins at a multiple of its length."""

    def __init__(self, table: DynamoTable, clock: Callable[[], datetime]) -> None:
        self._table, self._clock = table, clock

    def count(self, key: str, length: timedelta) -> Counted:
        """Count one more; raises `StoreError`."""
        seconds = int(length.total_seconds())
        begins = int(self._clock().timestamp()) // seconds * seconds
        ends = begins + seconds
        item = self._table.update(
            key_of(f"count#{hashlib.sha256(key.encode()).hexdigest()}", str(begins)),
            "SET expires_at = :end ADD many :one",
            "attribute_not_exists(pk) OR many > :none",
            {":end": number(ends + seconds), ":one": number(1), ":none": number(0)},
        )
        return Counted(int(item["many"]["N"]), datetime.fromtimestamp(ends, UTC))
