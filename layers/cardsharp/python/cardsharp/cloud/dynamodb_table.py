"""One DynamoDB table: the few requests that the match log makes, with pages and left-overs."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from cardsharp.cloud.aws import ANSWER, call, client
from cardsharp.cloud.dynamodb_items import Item, Value, text

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient
    from types_boto3_dynamodb.type_defs import PutTypeDef, TransactWriteItemTypeDef, UpdateTypeDef

_BATCH = 100  # items in one batch read, by the rules of DynamoDB


class DynamoTable:
    """The table `name`; every method raises `StoreError` if AWS fails, `Unmet` as it says.

    Without `client` one is made when it is first needed.
    """

    def __init__(self, name: str, client: "DynamoDBClient | None" = None) -> None:
        self.name = name
        self._given = client
        self._thing = f"DynamoDB table {name}"

    @cached_property
    def _client(self) -> "DynamoDBClient":
        return self._given or client("dynamodb", ANSWER)

    def get(
        self, key: Mapping[str, Value], *, of_now: bool = True, shown: Sequence[str] = ()
    ) -> Item | None:
        """An item as of now, or as of a moment ago, which costs half as much; or None.

        Of the item only the `shown` attributes where they are named; so with the other reads.
        """
        asked = {"Key": key, "ConsistentRead": of_now, **_only(shown)}
        return call(self._thing, self._client.get_item, TableName=self.name, **asked).get("Item")

    def put(self, item: Item) -> None:
        """Write an item whatever is there."""
        call(self._thing, self._client.put_item, TableName=self.name, Item=item)

    def delete(self, key: Mapping[str, Value]) -> None:
        """Remove an item; quiet if there is none."""
        call(self._thing, self._client.delete_item, TableName=self.name, Key=key)

    def update(
        self,
        key: Mapping[str, Value],
        update: str,
        condition: str,
        values: Mapping[str, Value],
    ) -> Item:
        """Update an item and return it; raises `Unmet` if the condition does not hold."""
        told = self.updating(key, update, condition, values)["Update"]
        answer = call(self._thing, self._client.update_item, **told, ReturnValues="ALL_NEW")
        return answer["Attributes"]

    def updating(
        self,
        key: Mapping[str, Value],
        update: str,
        condition: str,
        values: Mapping[str, Value],
    ) -> "TransactWriteItemTypeDef":
        """An update as one of the writes of `write`; `condition` is empty where there is none."""
        told: UpdateTypeDef = {
            "TableName": self.name,
            "Key": key,
            "UpdateExpression": update,
            "ExpressionAttributeValues": values,
        }
        return {"Update": {**told, "ConditionExpression": condition} if condition else told}

    def putting(
        self, item: Item, condition: str = "", values: Item | None = None
    ) -> "TransactWriteItemTypeDef":
        """The writing of a whole item as one of them."""
        put: PutTypeDef = {"TableName": self.name, "Item": item}
        if condition:
            put["ConditionExpression"] = condition
        if values is not None:
            put["ExpressionAttributeValues"] = values
        return {"Put": put}

    def write(self, writes: "Sequence[TransactWriteItemTypeDef]") -> None:
        """Write all or nothing; raises `Unmet` if a condition does not hold."""
        call(self._thing, self._client.transact_write_items, TransactItems=writes)

    def under(self, partition: str, prefix: str = "", shown: Sequence[str] = ()) -> Iterator[Item]:
        """Yield a partition's items whose sort keys begin so, in order and as of now."""
        named = {**_only(shown), "Select": "SPECIFIC_ATTRIBUTES"} if shown else {}
        keys = _keys(partition, prefix, "begins_with(sk, :sort)")
        return self._query(**keys, **named, ConsistentRead=True)

    def after(self, partition: str, sort: str, most: int) -> Iterator[Item]:
        """Yield a partition's items of greater sort keys, in order and as of now, by the page."""
        return self._query(**_keys(partition, sort, "sk > :sort"), ConsistentRead=True, Limit=most)

    def last_under(self, partition: str, prefix: str, attribute: str) -> Item | None:
        """The keys of a partition's last item whose sort key begins so and that has an attribute.

        As of a moment ago, read two at a time.
        """
        found = self._query(
            **_keys(partition, prefix, "begins_with(sk, :sort)"),
            FilterExpression=f"attribute_exists({attribute})",
            ProjectionExpression="pk, sk",
            Select="SPECIFIC_ATTRIBUTES",
            ScanIndexForward=False,
            Limit=2,
        )
        return next(found, None)

    def last(self, partition: str, most: int) -> list[Item]:
        """A partition's last items, the very last first, as of a moment ago."""
        found = self._query(**_keys(partition), ScanIndexForward=False, Limit=most)
        return list(islice(found, most))

    def listed(
        self,
        index: str,
        condition: str,
        values: Mapping[str, Value],
        page: int | None = None,
    ) -> Iterator[Item]:
        """Yield the keys that an index lists, last first; `page` is how many are read at a time."""
        keys = {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}
        paged = {} if page is None else {"Limit": page}
        return self._query(IndexName=index, **keys, **paged, ScanIndexForward=False)

    def batch(
        self, keys: Sequence[Mapping[str, Value]], shown: Sequence[str] = ()
    ) -> Iterator[Item]:
        """Yield the items under these keys as of now, in no order."""
        left = list(keys)
        while left:
            asked: Any = {"Keys": left[:_BATCH], "ConsistentRead": True, **_only(shown)}
            wanted = {self.name: asked}
            answer = call(self._thing, self._client.batch_get_item, RequestItems=wanted)
            yield from answer["Responses"].get(self.name, [])
            again = answer.get("UnprocessedKeys", {}).get(self.name)
            left = [*(again["Keys"] if again else ()), *left[_BATCH:]]

    def _query(self, **asked: Any) -> Iterator[Item]:  # noqa: ANN401 - arguments of boto3
        """Yield the items of all pages; a page is asked for when it is needed."""
        while True:
            page = call(self._thing, self._client.query, TableName=self.name, **asked)
            yield from page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _only(shown: Sequence[str]) -> dict[str, Any]:
    """What asks for these attributes alone, where some are named."""
    return {"ProjectionExpression": ", ".join(shown)} if shown else {}


def _keys(partition: str, sort: str = "", fits: str = "") -> dict[str, Any]:
    """What asks for a partition's items; where a sort key is named, for those that `fits` it."""
    condition, values = "pk = :pk", {":pk": text(partition)}
    if sort:
        condition, values[":sort"] = f"{condition} AND {fits}", text(sort)
    return {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}
