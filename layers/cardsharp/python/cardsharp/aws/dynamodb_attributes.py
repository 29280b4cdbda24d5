"""Attributes and keys of DynamoDB items, as boto3 takes and returns them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

Value: TypeAlias = "AttributeValueTypeDef"
Item = Mapping[str, Value]


def string_attribute(value: str) -> Value:
    """Return a string as an attribute."""
    return {"S": value}


def number_attribute(value: int) -> Value:
    """Return a whole number as an attribute."""
    return {"N": str(value)}


def item_key(pk: str, sk: str) -> dict[str, Value]:
    """Return the key of an item: its partition and its sort key."""
    return {"pk": string_attribute(pk), "sk": string_attribute(sk)}
