"""Requests to one DynamoDB table: the only module that reads or writes items.

It handles the pages of a query and the unprocessed items of a batch.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from cardsharp.aws.client import RESPONSE_TIMEOUT_SECONDS, call_with_retries, client
from cardsharp.aws.dynamodb_attributes import Item, Value, string_attribute

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient
    from types_boto3_dynamodb.type_defs import (
        DeleteTypeDef,
        PutTypeDef,
        TransactWriteItemTypeDef,
        UpdateTypeDef,
    )

TableWrite: TypeAlias = "TransactWriteItemTypeDef"  # one write of a transaction

_MAX_BATCH_SIZE = 100  # items in one batch read; limit of DynamoDB


class DynamoTable:
    """The table `name`; every method raises `StoreError` if AWS fails.

    Some methods also raise `ConditionFailed`, as they say. Without `client` one is created when
    it is first needed.
    """

    def __init__(self, name: str, client: "DynamoDBClient | None" = None) -> None:
        self.name = name
        self._injected_client = client
        self._resource_name = f"DynamoDB table {name}"

    @cached_property
    def _client(self) -> "DynamoDBClient":
        return self._injected_client or client("dynamodb", RESPONSE_TIMEOUT_SECONDS)

    def get(
        self,
        key: Mapping[str, Value],
        *,
        consistent_read: bool = True,
        projection: Sequence[str] = (),
    ) -> Item | None:
        """Return an item, or None.

        Without `consistent_read` the item may be a moment old, which costs half as much.
        `projection` limits the read to these attributes, as in the other methods.
        """
        request = {
            "Key": key,
            "ConsistentRead": consistent_read,
            **_build_projection_params(projection),
        }
        return call_with_retries(
            self._resource_name, self._client.get_item, TableName=self.name, **request
        ).get("Item")

    def put(self, item: Item) -> None:
        """Write an item whatever is there."""
        call_with_retries(
            self._resource_name, self._client.put_item, TableName=self.name, Item=item
        )

    def delete(self, key: Mapping[str, Value]) -> None:
        """Remove an item; quiet if there is none."""
        call_with_retries(
            self._resource_name, self._client.delete_item, TableName=self.name, Key=key
        )

    def update_and_return(
        self,
        key: Mapping[str, Value],
        update: str,
        condition: str,
        values: Mapping[str, Value],
        names: Mapping[str, str] | None = None,
    ) -> Item:
        """Update and return an item; an empty `condition` means none.

        A missing item is created. Raises `ConditionFailed` if the condition does not hold.
        """
        request = self.build_update(key, update, condition, values, names)["Update"]
        response = call_with_retries(
            self._resource_name, self._client.update_item, **request, ReturnValues="ALL_NEW"
        )
        return response["Attributes"]

    def build_update(
        self,
        key: Mapping[str, Value],
        update: str,
        condition: str,
        values: Mapping[str, Value],
        names: Mapping[str, str] | None = None,
    ) -> TableWrite:
        """Build an update for `transact_write`; an empty `condition` means none."""
        update_params: UpdateTypeDef = {
            "TableName": self.name,
            "Key": key,
            "UpdateExpression": update,
            "ExpressionAttributeValues": values,
        }
        if names:
            update_params["ExpressionAttributeNames"] = names
        if condition:
            update_params["ConditionExpression"] = condition
        return {"Update": update_params}

    def build_put(self, item: Item, condition: str = "", values: Item | None = None) -> TableWrite:
        """Build the put of a complete item for `transact_write`."""
        put: PutTypeDef = {"TableName": self.name, "Item": item}
        if condition:
            put["ConditionExpression"] = condition
        if values is not None:
            put["ExpressionAttributeValues"] = values
        return {"Put": put}

    def build_delete(
        self,
        key: Mapping[str, Value],
        condition: str = "",
        values: Mapping[str, Value] | None = None,
    ) -> TableWrite:
        """Build the removal of an item for `transact_write`."""
        delete: DeleteTypeDef = {"TableName": self.name, "Key": key}
        if condition:
            delete["ConditionExpression"] = condition
        if values:
            delete["ExpressionAttributeValues"] = values
        return {"Delete": delete}

    def transact_write(self, writes: Sequence[TableWrite]) -> None:
        """Write all or nothing; raise `ConditionFailed` if a condition does not hold."""
        call_with_retries(
            self._resource_name, self._client.transact_write_items, TransactItems=writes
        )

    def query_prefix(
        self, partition: str, prefix: str = "", projection: Sequence[str] = ()
    ) -> Iterator[Item]:
        """Yield a partition's items whose sort keys begin so, in order and as of now."""
        select_params = (
            {**_build_projection_params(projection), "Select": "SPECIFIC_ATTRIBUTES"}
            if projection
            else {}
        )
        keys = _build_key_condition(partition, prefix, "begins_with(sk, :sort)")
        return self._query(**keys, **select_params, ConsistentRead=True)

    def query_above(self, partition: str, sort_key: str, page_size: int) -> Iterator[Item]:
        """Yield a partition's items of greater sort keys, in order and as of now, by the page."""
        return self._query(
            **_build_key_condition(partition, sort_key, "sk > :sort"),
            ConsistentRead=True,
            Limit=page_size,
        )

    def last_key_with_any_attribute(
        self, partition: str, prefix: str, attributes: Sequence[str]
    ) -> Item | None:
        """Return the keys of a partition's last item with this key prefix and one of these.

        The result may be a moment old. Items are read two at a time.
        """
        results = self._query(
            **_build_key_condition(partition, prefix, "begins_with(sk, :sort)"),
            FilterExpression=" OR ".join(f"attribute_exists({name})" for name in attributes),
            ProjectionExpression="pk, sk",
            Select="SPECIFIC_ATTRIBUTES",
            ScanIndexForward=False,
            Limit=2,
        )
        return next(results, None)

    def query_last(self, partition: str, limit: int) -> list[Item]:
        """Return a partition's last items, the very last first; they may be a moment old."""
        results = self._query(
            **_build_key_condition(partition), ScanIndexForward=False, Limit=limit
        )
        return list(islice(results, limit))

    def query_index_keys(
        self,
        index: str,
        condition: str,
        values: Mapping[str, Value],
        page_size: int | None = None,
    ) -> Iterator[Item]:
        """Yield the keys that an index lists, last first, `page_size` at a time."""
        keys = {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}
        paged = {} if page_size is None else {"Limit": page_size}
        return self._query(IndexName=index, **keys, **paged, ScanIndexForward=False)

    def batch_get(
        self, keys: Sequence[Mapping[str, Value]], projection: Sequence[str] = ()
    ) -> Iterator[Item]:
        """Yield the items under these keys as of now, in no order."""
        remaining = list(keys)
        while remaining:
            keys_request: Any = {
                "Keys": remaining[:_MAX_BATCH_SIZE],
                "ConsistentRead": True,
                **_build_projection_params(projection),
            }
            request_items = {self.name: keys_request}
            response = call_with_retries(
                self._resource_name, self._client.batch_get_item, RequestItems=request_items
            )
            yield from response["Responses"].get(self.name, [])
            unprocessed = response.get("UnprocessedKeys", {}).get(self.name)
            remaining = [
                *(unprocessed["Keys"] if unprocessed else ()),
                *remaining[_MAX_BATCH_SIZE:],
            ]

    def _query(self, **params: Any) -> Iterator[Item]:  # noqa: ANN401 - arguments of boto3
        """Yield the items of all pages; request each page only when it is needed."""
        while True:
            page = call_with_retries(
                self._resource_name, self._client.query, TableName=self.name, **params
            )
            yield from page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def build_set_clause(
    attributes: Mapping[str, Value],
) -> tuple[str, dict[str, Value], dict[str, str]]:
    """Return the clause of an update that sets attributes, with its values and its names.

    The names are placeholders, because an attribute may be called as a word that DynamoDB
    reserves.
    """
    return (
        "SET " + ", ".join(f"#{name} = :{name}" for name in attributes),
        {f":{name}": value for name, value in attributes.items()},
        {f"#{name}": name for name in attributes},
    )


def _build_projection_params(attributes: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that limit a read to these attributes; empty for all attributes."""
    return {"ProjectionExpression": ", ".join(attributes)} if attributes else {}


def _build_key_condition(
    partition: str, sort: str = "", sort_condition: str = ""
) -> dict[str, Any]:
    """Return the parameters that query a partition.

    With a sort key only the items that satisfy the condition `sort_condition` are returned.
    """
    condition, values = "pk = :pk", {":pk": string_attribute(partition)}
    if sort:
        condition, values[":sort"] = f"{condition} AND {sort_condition}", string_attribute(sort)
    return {"KeyConditionExpression": condition, "ExpressionAttributeValues": values}
