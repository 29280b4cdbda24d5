"""Attributes and keys of DynamoDB items, as boto3 takes and returns them."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from cardsharp.core.timestamps import from_micros, to_micros

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

Value: TypeAlias = "AttributeValueTypeDef"
Item = Mapping[str, Value]

_MAX_DEPTH = 30  # maps and lists within one another; DynamoDB allows 32 levels
_MAX_DIGITS = 38  # of a number, by the rules of DynamoDB
_MIN_FRACTION = 1e-120  # DynamoDB refuses numbers below 1e-130


def string_attribute(value: str) -> Value:
    """Return a string as an attribute."""
    return {"S": value}


def number_attribute(value: int) -> Value:
    """Return a whole number as an attribute."""
    return {"N": str(value)}


def timestamp_attribute(moment: datetime) -> Value:
    """Return a moment as an attribute, in microseconds."""
    return number_attribute(to_micros(moment))


def timestamp_value(attribute: Value) -> datetime:
    """Return the moment that `timestamp_attribute` made this attribute from."""
    return from_micros(int(attribute["N"]))


def expiry_attribute(moment: datetime) -> Value:
    """Return the second from which a table may delete an item: its attribute `expires_at`."""
    return number_attribute(int(moment.timestamp()))


def item_key(pk: str, sk: str) -> dict[str, Value]:
    """Return the key of an item: its partition and its sort key."""
    return {"pk": string_attribute(pk), "sk": string_attribute(sk)}


def json_attribute(value: object, depth: int = 0) -> Value:
    """Return a JSON value as an attribute: an object as a map, an array as a list.

    Raises ValueError if DynamoDB has no equal value: for a number of too many digits, a text
    with half a surrogate pair, an empty name, or too many levels.
    """
    if depth > _MAX_DEPTH:
        raise ValueError("too many levels")
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case int() | float():
            return {"N": _format_number(value)}
        case str():
            return {"S": _validate_text(value)}
        case list():
            return {"L": [json_attribute(element, depth + 1) for element in value]}
        case dict():
            return {"M": _encode_map(value, depth + 1)}
    raise ValueError(f"no JSON: a {type(value).__name__}")


def json_value(attribute: Value) -> object:
    """Return the JSON value that `json_attribute` made this attribute from."""
    match attribute:
        case {"S": text}:
            return text
        case {"N": text}:
            return _parse_number(text)
        case {"BOOL": flag}:
            return flag
        case {"L": elements}:
            return [json_value(element) for element in elements]
        case {"M": members}:
            return {name: json_value(element) for name, element in members.items()}
        case {"NULL": True}:
            return None
    raise ValueError(f"no JSON: an attribute of type {next(iter(attribute), 'none')}")


def _encode_map(value: Mapping[str, object], depth: int) -> dict[str, Value]:
    if "" in value:
        raise ValueError("a name is empty")
    return {_validate_text(name): json_attribute(member, depth) for name, member in value.items()}


def _format_number(value: float) -> str:
    """Return the digits of a number; write a float with a whole value as an integer."""
    if isinstance(value, int) or value.is_integer():
        digits = str(int(value))
        if len(digits.removeprefix("-")) > _MAX_DIGITS:
            raise ValueError("a number has too many digits")
        return digits
    if not abs(value) >= _MIN_FRACTION:
        raise ValueError("a number is too small")
    return repr(value)


def _parse_number(text: str) -> float:
    if text.removeprefix("-").isdigit():
        return int(text)
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() else float(text)


def _validate_text(text: str) -> str:
    text.encode()  # raises ValueError for half a surrogate pair
    return text
