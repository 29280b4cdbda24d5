"""Documents in one DynamoDB table, one item for each.

| attribute | meaning |
|---|---|
| pk, sk | the key |
| doc_version, doc_body | the version, and the body as JSON; a store may name the body differently |
| expires_at | the second from which the document counts as missing: the table's time to live |
| doc_count | instead of version and body, in a document that is a counter |
| r0 to r11 | receipts of the last writes, by which a writer without a response finds its own |
| listed_as, changed_at, and the attributes of an index entry | the keys of the index by-change |

A table that is older than this store may name version, body and count differently. An item without
a version has version 1. A body in other attributes is read by `decode_legacy`.
Actions used: GetItem, Query, UpdateItem, DeleteItem.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, cast

from cardsharp.aws.client import ConditionFailed
from cardsharp.aws.dynamodb_attributes import (
    Item,
    Value,
    expiry_attribute,
    item_key,
    number_attribute,
    string_attribute,
    timestamp_attribute,
    timestamp_value,
)
from cardsharp.aws.dynamodb_table import DynamoTable, TableWrite, build_set_clause
from cardsharp.core.clock import Clock
from cardsharp.errors import WriteConflict
from cardsharp.store.codec import decode, encode
from cardsharp.store.documents import Delete, Document, Increment, IndexEntry, Key, Put, Write

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

_UpdateParts = tuple[str, str, dict[str, Value], dict[str, str]]
"""The expression of an update, its condition, its values and its names."""

RECEIPT_SLOTS = 12  # writes that an item remembers; more than can happen during one request

_ABSENT_CONDITION = "(attribute_not_exists(pk) OR expires_at <= :now)"
_LIVE_CONDITION = "(attribute_not_exists(expires_at) OR expires_at > :now)"
_CHANGED_SINCE_CONDITION = "listed_as = :list AND changed_at > :since"


class DynamoDocumentStore:
    """`DocumentStore` in a table, in the region of AWS_DEFAULT_REGION.

    `body`, `version` and `count` are the table's names of these attributes. `decode_legacy`
    returns the body of an item from before the body had an attribute.
    """

    def __init__(  # noqa: PLR0913 - what a table may call otherwise, each by its name
        self,
        table: str,
        clock: Clock,
        client: "DynamoDBClient | None" = None,
        *,
        body: str = "doc_body",
        version: str = "doc_version",
        count: str = "doc_count",
        decode_legacy: Callable[[Item], Mapping[str, object]] | None = None,
    ) -> None:
        self._table = DynamoTable(table, client)
        self._clock = clock
        self._body, self._version, self._count = body, version, count
        self._decode_legacy = decode_legacy

    def get(self, key: Key) -> Document | None:
        """See `DocumentStore`."""
        item = self._table.get(item_key(*key))
        return None if item is None or not self._is_live(item) else self._to_document(item)

    def query(
        self, partition: str, exclusive_start: str = "", limit: int = 1000
    ) -> Sequence[Document]:
        """Return at most `limit` documents of a partition; see `DocumentStore`."""
        live_items = filter(
            self._is_live, self._table.query_above(partition, exclusive_start, limit)
        )
        return [self._to_document(item) for item in islice(live_items, limit)]

    def commit(self, *writes: Write) -> None:
        """See `DocumentStore`."""
        receipt = secrets.token_hex(4)
        try:
            self._write_changes(writes, receipt)
        except ConditionFailed as failure:
            if not self._is_written(writes, receipt):
                raise WriteConflict("The document was changed by somebody else.") from failure

    def close(self) -> None:
        """Close the store; see `DocumentStore`."""

    def query_index(
        self, index_name: str, since: datetime, limit: int
    ) -> Sequence[tuple[Key, IndexEntry]]:
        """Return at most `limit` entries of an index after a moment; see `DocumentStore`."""
        values = {":list": string_attribute(index_name), ":since": timestamp_attribute(since)}
        items = self._table.query_index_keys("by-change", _CHANGED_SINCE_CONDITION, values)
        return [_parse_index_item(item) for item in islice(items, limit)]

    def _write_changes(self, changes: Sequence[Write], receipt: str) -> None:
        """Write the changes; a single one without a transaction, which would cost twice as much."""
        first_write, *remaining = changes
        if isinstance(first_write, Delete) and first_write.expected_version is None:
            self._table.delete(item_key(*first_write.key))
        elif remaining or isinstance(first_write, Delete):
            self._table.transact_write(
                [self._build_transaction_entry(change, receipt) for change in changes]
            )
        else:
            self._table.update_and_return(
                item_key(*first_write.key), *self._build_update(first_write, receipt)
            )

    def _build_transaction_entry(self, change: Write, receipt: str) -> TableWrite:
        key = item_key(*change.key)
        if isinstance(change, Delete):
            return self._table.build_delete(key, *self._build_condition(change.expected_version))
        return self._table.build_update(key, *self._build_update(change, receipt))

    def _build_update(self, change: Put | Increment, receipt: str) -> _UpdateParts:
        return (
            self._build_increment_update(change)
            if isinstance(change, Increment)
            else self._build_put_update(change, receipt)
        )

    def _build_increment_update(self, add: Increment) -> _UpdateParts:
        condition = ""
        values = {":by": number_attribute(add.amount), ":end": expiry_attribute(add.expires_at)}
        if add.max_value is not None:
            condition = f"(attribute_not_exists({self._count}) OR {self._count} <= :room)"
            values[":room"] = number_attribute(add.max_value - add.amount)
        return f"SET expires_at = :end ADD {self._count} :by", condition, values, {}

    def _build_put_update(self, put: Put, receipt: str) -> _UpdateParts:
        written = {
            self._body: string_attribute(encode(put.body)),
            _receipt_attribute(put): string_attribute(receipt),
        }
        if put.expected_version is not None:
            written[self._version] = number_attribute(put.expected_version + 1)
        removed = []
        if put.expires_at is None:
            removed.append("expires_at")
        else:
            written["expires_at"] = expiry_attribute(put.expires_at)
        if put.index_entry is None:
            removed.append("listed_as")
        else:
            written |= {
                "listed_as": string_attribute(put.index_entry.index_name),
                "changed_at": timestamp_attribute(put.index_entry.sort_time),
            }
            for name, value in put.index_entry.attributes.items():
                written[name] = (
                    {"BOOL": value} if isinstance(value, bool) else string_attribute(value)
                )
        update, values, names = build_set_clause(written)
        update += f" REMOVE {', '.join(removed)}" if removed else ""
        if put.expected_version is None:  # one more than the version that is there, if one is
            update += f" ADD {self._version} :one"
            values[":one"] = number_attribute(1)
        condition, condition_values = self._build_condition(put.expected_version)
        return update, condition, {**values, **condition_values}, names

    def _build_condition(self, expected_version: int | None) -> tuple[str, dict[str, Value]]:
        if expected_version is None:
            return "", {}
        values = {":now": number_attribute(self._current_second())}
        if not expected_version:
            return _ABSENT_CONDITION, values
        same, values[":expected"] = (
            f"{self._version} = :expected",
            number_attribute(expected_version),
        )
        if expected_version == 1:
            unread = f"attribute_exists(pk) AND attribute_not_exists({self._version})"
            same = f"({same} OR ({unread}))"
        return f"({same} AND {_LIVE_CONDITION})", values

    def _is_written(self, changes: Sequence[Write], receipt: str) -> bool:
        """Return True if our write succeeded although its response was lost.

        A write stores all changes or none, so a single receipt is proof.
        """
        for change in changes:
            if isinstance(change, Put):
                item = self._table.get(item_key(*change.key))
                return item is not None and item.get(
                    _receipt_attribute(change)
                ) == string_attribute(receipt)
        return False

    def _is_live(self, item: Item) -> bool:
        return "expires_at" not in item or int(item["expires_at"]["N"]) > self._current_second()

    def _current_second(self) -> int:
        return int(self._clock.now().timestamp())

    def _to_document(self, item: Item) -> Document:
        end = item.get("expires_at")
        return Document(
            Key(item["pk"]["S"], item["sk"]["S"]),
            int(item.get(self._version, number_attribute(1))["N"]),
            self._decode_body(item),
            None if end is None else datetime.fromtimestamp(int(end["N"]), UTC),
        )

    def _decode_body(self, item: Item) -> Mapping[str, object]:
        if self._count in item:
            return {"count": int(item[self._count]["N"])}
        if self._decode_legacy is not None and self._body not in item:
            return self._decode_legacy(item)
        return decode(item[self._body]["S"])


def _receipt_attribute(put: Put) -> str:
    """Return the name of the attribute that holds a write's receipt.

    The next writes do not touch it: only the write `RECEIPT_SLOTS` later overwrites it.
    """
    return f"r{((put.expected_version or 0) + 1) % RECEIPT_SLOTS}"


def _parse_index_item(item: Item) -> tuple[Key, IndexEntry]:
    """Return the key and the index entry of an index item."""
    attributes = {
        name: next(iter(value.values()))
        for name, value in item.items()
        if name not in {"pk", "sk", "listed_as", "changed_at"}
    }
    listed = IndexEntry(
        item["listed_as"]["S"],
        timestamp_value(item["changed_at"]),
        cast("Mapping[str, str | bool]", attributes),
    )
    return Key(item["pk"]["S"], item["sk"]["S"]), listed
