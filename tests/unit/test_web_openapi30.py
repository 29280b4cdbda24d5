"""A schema of OpenAPI 3.0 takes what the schema of 3.1 takes from which it was made."""

from typing import Any

import pytest
from openapi_schema_validator import OAS30Validator, OAS31Validator

from cardsharp.web.openapi30 import schema_of

VALUES: tuple[object, ...] = (
    *(None, True, False, -1, 0, 1, 1.5, 4, 5, 6, "", "a", "b", "abc"),
    *([], [1], ["a"], ["a", 1], [1, "a"], [None], {}, {"x": 1}, {"x": None}, {"x": "a", "y": 2}),
)

SAID_ALIKE: dict[str, dict[str, Any] | bool] = {
    "anything": True,
    "nothing": False,
    "null alone": {"type": "null", "title": "None"},
    "a type or null": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    "bounds or null": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "null"}]},
    "texts or null": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]},
    "a constant or null": {"anyOf": [{"const": "a"}, {"type": "null"}]},
    "three, one of them null": {
        "anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}],
        "description": "Anything of these.",
    },
    "exactly one, or null": {"oneOf": [{"type": "integer"}, {"type": "null"}]},
    "a limit beside a choice": {
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "enum": ["a", None],
    },
    "a list of types": {"type": ["string", "integer"], "minimum": 1},
    "a list of one type": {"type": ["string"]},
    "a list of types with null": {"type": ["string", "null"], "minLength": 1},
    "a list of types and values": {"type": ["string", "null"], "enum": ["a"]},
    "a list of types and null among the values": {"type": ["string", "null"], "enum": ["a", None]},
    "a constant": {"const": 5, "type": "integer"},
    "null as a constant": {"const": None},
    "above": {"type": "number", "exclusiveMinimum": 4},
    "below": {"type": "number", "exclusiveMaximum": 5},
    "the stricter bound is inclusive": {"type": "number", "minimum": 5, "exclusiveMinimum": 1},
    "the stricter bound is exclusive": {"type": "number", "minimum": 1, "exclusiveMinimum": 4},
    "the same bound twice": {"type": "number", "maximum": 4, "exclusiveMaximum": 4},
    "a list of anything": {"type": "array"},
    "a list": {"type": "array", "items": {"type": ["integer", "null"]}, "maxItems": 1},
    "fields": {
        "type": "object",
        "properties": {"x": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "required": ["x"],
        "additionalProperties": False,
    },
    "not": {"not": {"type": ["string", "null"]}},
    "all of": {"allOf": [{"type": "number"}, {"exclusiveMaximum": 5}]},
}


def takes(validator: Any, schema: object) -> list[object]:  # noqa: ANN401
    """Which of the values are valid."""
    return [repr(value) for value in VALUES if validator(schema).is_valid(value)]


@pytest.mark.parametrize("told", SAID_ALIKE.values(), ids=SAID_ALIKE)
def test_the_same_values_are_valid(told: dict[str, Any] | bool) -> None:
    made = schema_of(told)
    OAS30Validator.check_schema(made)
    assert takes(OAS30Validator, made) == takes(OAS31Validator, told)
