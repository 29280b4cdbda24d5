"""Documents in one DynamoDB table: an item each.

| attribute | what it is |
|---|---|
| pk, sk | the key |
| doc_version, doc_body | the version, and the body as JSON; a store may call the body otherwise |
| expires_at | the second from which it is as if it were not there: the table's time to live |
| doc_receipt | by what a writer whose answer was lost knows its own write again |

An item without a version is from before there was this port, and is of the first; one whose body
stood in several attributes is read by the store that had them.
Actions used: GetItem, Query, UpdateItem, DeleteItem.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from cardsharp.cloud.aws import Unmet
from cardsharp.cloud.codec import decode, encode
from cardsharp.cloud.dynamodb_items import key as item_key
from cardsharp.cloud.dynamodb_items import number, text
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import Clock
from cardsharp.errors import Conflict
from cardsharp.keep.port import Change, Delete, Document, Key, Put

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

    from cardsharp.cloud.dynamodb_items import Item, Value

_ABSENT = "(attribute_not_exists(pk) OR expires_at <= :now)"
_ANY = "(attribute_not_exists(pk) OR attribute_exists(pk))"
_LIVE = "(attribute_not_exists(expires_at) OR expires_at > :now)"
_SAME = f"(doc_version = :expected AND {_LIVE})"
_FIRST = (
    "((doc_version = :expected OR (attribute_exists(pk) AND attribute_not_exists(doc_version))) "
    f"AND {_LIVE})"
)


class DynamoKeep:
    """A `Keep` in the table of that name, in the region of AWS_DEFAULT_REGION.

    `body` is the attribute in which the table has had its bodies since before there was this port,
    and `earlier` the body of an item that has no such attribute yet.
    """

    def __init__(
        self,
        table: str,
        clock: Clock,
        client: "DynamoDBClient | None" = None,
        body: str = "doc_body",
        earlier: "Callable[[Item], Mapping[str, object]] | None" = None,
    ) -> None:
        self._table = DynamoTable(table, client)
        self._clock = clock
        self._body = body
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
        receipt = secrets.token_hex(8)
        try:
            self._write(changes, receipt)
        except Unmet as unmet:
            if not self._is_written(changes, receipt):
                raise Conflict("The document was changed by somebody else.") from unmet

    def close(self) -> None:
        """See `Keep`."""

    def _write(self, changes: Sequence[Change], receipt: str) -> None:
        """One document by a plain write, which costs half of one in a transaction."""
        first, *others = changes
        if isinstance(first, Delete) and first.expected is None:
            self._table.delete(item_key(*first.key))
            return
        if not others and isinstance(first, Put):
            told = self._update(first, receipt)
            condition, values = told["ConditionExpression"], told["ExpressionAttributeValues"]
            self._table.update(told["Key"], told["UpdateExpression"], condition, values)
            return
        self._table.write([self._entry(change, receipt) for change in changes])

    def _entry(self, change: Change, receipt: str) -> Any:  # noqa: ANN401 - as below
        if isinstance(change, Put):
            return {"Update": {"TableName": self._table.name, **self._update(change, receipt)}}
        key = {"TableName": self._table.name, "Key": item_key(*change.key)}
        return {"Delete": {**key, **self._condition(change)}}

    def _update(self, put: Put, receipt: str) -> Any:  # noqa: ANN401 - arguments of boto3
        condition, version = self._condition(put), ":version"
        values = {
            ":version": number((put.expected or 0) + 1),
            ":body": text(encode(put.body)),
            ":receipt": text(receipt),
            **condition["ExpressionAttributeValues"],
        }
        if put.expected is None:
            version = "if_not_exists(doc_version, :none) + :version"
            values[":none"] = number(0)
        update = f"SET doc_version = {version}, {self._body} = :body, doc_receipt = :receipt"
        if put.expires is None:
            update += " REMOVE expires_at"
        else:
            update += ", expires_at = :end"
            values[":end"] = number(int(put.expires.timestamp()))
        return {
            "Key": item_key(*put.key),
            "UpdateExpression": update,
            "ConditionExpression": condition["ConditionExpression"],
            "ExpressionAttributeValues": values,
        }

    def _condition(self, change: Change) -> dict[str, Any]:
        if change.expected is None:
            return {"ConditionExpression": _ANY, "ExpressionAttributeValues": {}}
        values: Mapping[str, Value] = {":now": number(self._now())}
        if not change.expected:
            return {"ConditionExpression": _ABSENT, "ExpressionAttributeValues": values}
        values = {**values, ":expected": number(change.expected)}
        same = _SAME if change.expected > 1 else _FIRST
        return {"ConditionExpression": same, "ExpressionAttributeValues": values}

    def _is_written(self, changes: Sequence[Change], receipt: str) -> bool:
        """Whether it was our own write whose answer was lost: all of it is there, or none."""
        for change in changes:
            if isinstance(change, Put):
                item = self._table.get(item_key(*change.key))
                return item is not None and item.get("doc_receipt") == text(receipt)
        return False

    def _is_live(self, item: "Item") -> bool:
        return "expires_at" not in item or int(item["expires_at"]["N"]) > self._now()

    def _now(self) -> int:
        return int(self._clock.now().timestamp())

    def _document(self, item: "Item") -> Document:
        end, body = item.get("expires_at"), item.get(self._body)
        earlier = self._earlier if body is None else None
        return Document(
            Key(item["pk"]["S"], item["sk"]["S"]),
            int(item.get("doc_version", number(1))["N"]),
            decode(item[self._body]["S"]) if earlier is None else earlier(item),
            None if end is None else datetime.fromtimestamp(int(end["N"]), UTC),
        )
