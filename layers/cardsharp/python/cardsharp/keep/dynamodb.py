"""Documents in one DynamoDB table: an item each.

| attribute | what it is |
|---|---|
| pk, sk | the key |
| doc_version, doc_body | the version, and the body as JSON; a store may call the body otherwise |
| expires_at | the second from which it is as if it were not there: the table's time to live |
| doc_count | in their place, of a document that is a count |
| r0 to r11 | receipts of the last writes, by which a writer whose answer was lost knows its own |
| listed_as, changed_at, and what a list shows | by the index by-change of those names |

A table from before there was this port may call version, body and count otherwise. Where it had no
version, an item is of the first; a body that stood in other attributes is read by its store.
Actions used: GetItem, Query, UpdateItem, DeleteItem.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, cast

from cardsharp.cloud.aws import Unmet
from cardsharp.cloud.codec import decode, encode, from_micros
from cardsharp.cloud.dynamodb_items import Item, Value, moment, number, text
from cardsharp.cloud.dynamodb_items import key as item_key
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import Clock
from cardsharp.errors import Conflict
from cardsharp.keep.port import Add, Change, Delete, Document, Key, Listed, Put

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_Update = tuple[str, str, dict[str, Value]]  # what is to be done, under what condition, values

RECEIPTS = 12  # writes that an item remembers: more than can follow one while its answer is awaited

_ABSENT = "(attribute_not_exists(pk) OR expires_at <= :now)"
_ANY = "(attribute_not_exists(pk) OR attribute_exists(pk))"
_LIVE = "(attribute_not_exists(expires_at) OR expires_at > :now)"
_SINCE = "listed_as = :list AND changed_at > :since"


class DynamoKeep:
    """A `Keep` in the table of that name, in the region of AWS_DEFAULT_REGION.

    `body`, `version` and `count` are what the table calls these; `earlier` reads the body of an
    item that has no such attribute yet.
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
        earlier: Callable[[Item], Mapping[str, object]] | None = None,
    ) -> None:
        self._table = DynamoTable(table, client)
        self._clock = clock
        self._body, self._version, self._count = body, version, count
        self._earlier = earlier

    def get(self, key: Key) -> Document | None:
        """See `Keep`."""
        item = self._table.get(item_key(*key))
        return None if item is None or not self._is_live(item) else self._document(item)

    def range(self, partition: str, after: str = "", most: int = 1000) -> Sequence[Document]:
        """See `Keep`."""
        found = filter(self._is_live, self._table.after(partition, after, most))
        return [self._document(item) for item in islice(found, most)]

    def commit(self, *changes: Change) -> None:
        """See `Keep`."""
        receipt = secrets.token_hex(4)
        try:
            self._write(changes, receipt)
        except Unmet as unmet:
            if not self._is_written(changes, receipt):
                raise Conflict("The document was changed by somebody else.") from unmet

    def close(self) -> None:
        """See `Keep`."""

    def entries(self, name: str, since: datetime, most: int) -> Sequence[tuple[Key, Listed]]:
        """See `Keep`."""
        asked = {":list": text(name), ":since": moment(since)}
        found = self._table.listed("by-change", _SINCE, asked)
        return [_entry(item) for item in islice(found, most)]

    def _write(self, changes: Sequence[Change], receipt: str) -> None:
        """One document by a plain write, which costs half of one in a transaction."""
        first, *others = changes
        if isinstance(first, Delete) and first.expected is None:
            self._table.delete(item_key(*first.key))
        elif others or isinstance(first, Delete):
            self._table.write([self._entry(change, receipt) for change in changes])
        else:
            self._table.update(item_key(*first.key), *self._update(first, receipt))

    def _entry(self, change: Change, receipt: str) -> "TransactWriteItemTypeDef":
        key = item_key(*change.key)
        if not isinstance(change, Delete):
            return self._table.updating(key, *self._update(change, receipt))
        condition, values = self._condition(change.expected)
        told = {"ConditionExpression": condition, "ExpressionAttributeValues": values}
        return {"Delete": {"TableName": self._table.name, "Key": key, **told}}  # type: ignore[typeddict-item]

    def _update(self, change: Put | Add, receipt: str) -> _Update:
        return self._adding(change) if isinstance(change, Add) else self._putting(change, receipt)

    def _adding(self, add: Add) -> _Update:
        condition, values = _ANY, {":by": number(add.by), ":end": _second(add.expires)}
        if add.most is not None:
            condition = f"(attribute_not_exists({self._count}) OR {self._count} <= :room)"
            values[":room"] = number(add.most - add.by)
        return f"SET expires_at = :end ADD {self._count} :by", condition, values

    def _putting(self, put: Put, receipt: str) -> _Update:
        written = {
            self._version: number((put.expected or 0) + 1),
            self._body: text(encode(put.body)),
            _slot(put): text(receipt),
        }
        removed = []
        if put.expires is None:
            removed.append("expires_at")
        else:
            written["expires_at"] = _second(put.expires)
        if put.listed is None:
            removed.append("listed_as")
        else:
            written |= {"listed_as": text(put.listed.name), "changed_at": moment(put.listed.at)}
            for name, value in put.listed.shown.items():
                written[name] = {"BOOL": value} if isinstance(value, bool) else text(value)
        condition, values = self._condition(put.expected)
        values |= {f":{name}": value for name, value in written.items()}
        sets = {name: f":{name}" for name in written}
        if put.expected is None:
            sets[self._version] = f"if_not_exists({self._version}, :none) + :{self._version}"
            values[":none"] = number(0)
        update = "SET " + ", ".join(f"{name} = {value}" for name, value in sets.items())
        update += f" REMOVE {', '.join(removed)}" if removed else ""
        return update, condition, values

    def _condition(self, expected: int | None) -> tuple[str, dict[str, Value]]:
        if expected is None:
            return _ANY, {}
        values = {":now": number(self._now())}
        if not expected:
            return _ABSENT, values
        same, values[":expected"] = f"{self._version} = :expected", number(expected)
        if expected == 1:
            unread = f"attribute_exists(pk) AND attribute_not_exists({self._version})"
            same = f"({same} OR ({unread}))"
        return f"({same} AND {_LIVE})", values

    def _is_written(self, changes: Sequence[Change], receipt: str) -> bool:
        """Whether it was our own write whose answer was lost: all of it is there, or none."""
        for change in changes:
            if isinstance(change, Put):
                item = self._table.get(item_key(*change.key))
                return item is not None and item.get(_slot(change)) == text(receipt)
        return False

    def _is_live(self, item: Item) -> bool:
        return "expires_at" not in item or int(item["expires_at"]["N"]) > self._now()

    def _now(self) -> int:
        return int(self._clock.now().timestamp())

    def _document(self, item: Item) -> Document:
        end = item.get("expires_at")
        return Document(
            Key(item["pk"]["S"], item["sk"]["S"]),
            int(item.get(self._version, number(1))["N"]),
            self._read(item),
            None if end is None else datetime.fromtimestamp(int(end["N"]), UTC),
        )

    def _read(self, item: Item) -> Mapping[str, object]:
        if self._count in item:
            return {"count": int(item[self._count]["N"])}
        if self._earlier is not None and self._body not in item:
            return self._earlier(item)
        return decode(item[self._body]["S"])


def _slot(put: Put) -> str:
    """The attribute of a write's receipt, which the next so many writes leave alone."""
    return f"r{((put.expected or 0) + 1) % RECEIPTS}"


def _second(end: datetime) -> Value:
    return number(int(end.timestamp()))


def _entry(item: Item) -> tuple[Key, Listed]:
    """An entry of a list: what the index has of it."""
    shown = {name: next(iter(value.values())) for name, value in item.items()}
    key = Key(str(shown.pop("pk")), str(shown.pop("sk")))
    name, at = str(shown.pop("listed_as")), from_micros(int(str(shown.pop("changed_at"))))
    return key, Listed(name, at, cast("Mapping[str, str | bool]", shown))
