"""An OpenAPI 3.1 document told in OpenAPI 3.0, for generators of clients that know no later one.

Both describe the same API. Where 3.0 has no word for what a schema asks, the word is left out, and
the older document allows more, never less (save within `not` and `oneOf`, where none of our models
uses such a word). It knows what pydantic writes: not a list of types, nor patterns of names.
Source: the Schema Object of https://spec.openapis.org/oas/v3.0.3 and that of 3.1.
"""

from collections.abc import Mapping
from typing import Any, cast

from cardsharp.web.reading import Json

VERSION = "3.0.3"

NULL: Json = {"type": "object", "nullable": True, "enum": [None]}
"""The schema of null alone, for which 3.0 has no type."""

_ANNOTATIONS = ("title", "description", "default", "example", "deprecated")
_ONE_SCHEMA = ("not", "items", "additionalProperties")
_SCHEMAS = ("allOf", "anyOf", "oneOf")
_TAKEN_OVER = frozenset(
    {
        "type",
        "enum",
        "format",
        "required",
        "multipleOf",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "discriminator",
        "readOnly",
        "writeOnly",
        "xml",
        "externalDocs",
    }
)
"""What is said in 3.0 as in 3.1."""

_LIMITS = (("minimum", "exclusiveMinimum", max), ("maximum", "exclusiveMaximum", min))


def older(document: Json) -> Json:
    """The same document in OpenAPI 3.0."""
    schemas = cast("dict[str, Any]", document["components"])["schemas"]
    return {
        **cast("Json", _outside(document)),
        "openapi": VERSION,
        "components": {"schemas": {name: schema_of(told) for name, told in schemas.items()}},
    }


def schema_of(told: Any) -> Json:  # noqa: ANN401 (a schema is a JSON object or a boolean)
    """A schema of 3.1 as one of 3.0."""
    if isinstance(told, bool):
        return {} if told else {"not": {}}
    if "$ref" in told:
        return _referring(told)
    if told.get("type") == "null":
        return {**NULL, **_annotations(told)}
    if {"type": "null"} in told.get("anyOf", ()):
        return _nullable(told)
    return _plain(told)


def _outside(part: object) -> object:
    """A part of the document outside of its schemas, with the schemas that it holds."""
    if isinstance(part, Mapping):
        return {
            key: schema_of(value) if key == "schema" else _outside(value)
            for key, value in part.items()
        }
    if isinstance(part, list):
        return [_outside(value) for value in part]
    return part


def _referring(told: Mapping[str, Any]) -> Json:
    """A reference; in 3.0 nothing may stand beside it."""
    beside = {key: value for key, value in told.items() if key != "$ref"}
    alone: Json = {"$ref": told["$ref"]}
    return {**schema_of(beside), "allOf": [alone, *_listed(beside, "allOf")]} if beside else alone


def _listed(told: Mapping[str, Any], key: str) -> list[Json]:
    return [schema_of(one) for one in told.get(key, ())]


def _nullable(told: Mapping[str, Any]) -> Json:
    """A choice of which null is one: a flag where one other is left, else an alternative."""
    choices = [schema_of(one) for one in told["anyOf"] if one != {"type": "null"}]
    outside = {key: value for key, value in told.items() if key != "anyOf"}
    noted = _annotations(outside)
    if len(choices) == 1 and "type" in choices[0] and noted.keys() >= outside.keys():
        [other] = choices
        made: Json = {**other, **noted, "nullable": True}
        if "enum" in other:
            named = cast("list[object]", other["enum"])
            made["enum"] = [*(one for one in named if one is not None), None]
        return made
    return {**_plain(outside), "anyOf": [*choices, NULL]}


def _annotations(told: Mapping[str, Any]) -> Json:
    """What a schema says without asking for anything."""
    noted = {key: told[key] for key in _ANNOTATIONS if key in told}
    if told.get("examples"):
        noted["example"] = told["examples"][0]
    return noted


def _plain(told: Mapping[str, Any]) -> Json:
    """A schema without references, and of one type at most."""
    made = {
        **_annotations(told),
        **{key: value for key, value in told.items() if key in _TAKEN_OVER},
    }
    made |= {key: _listed(told, key) for key in _SCHEMAS if key in told}
    made |= {key: schema_of(told[key]) for key in _ONE_SCHEMA if key in told}
    if "properties" in told:
        made["properties"] = {name: schema_of(one) for name, one in told["properties"].items()}
    if "const" in told:
        made["enum"] = [told["const"]]
    if "prefixItems" in told:
        made["items"] = _any_place(told)
    elif told.get("type") == "array":
        made.setdefault("items", {})
    return made | _limits(told)


def _any_place(told: Mapping[str, Any]) -> Json:
    """What may be anywhere in a list of which 3.1 says what is in each place."""
    rest = told.get("items", True)
    return {"anyOf": [*_listed(told, "prefixItems"), *([schema_of(rest)] if rest else [])]}


def _limits(told: Mapping[str, Any]) -> Json:
    """The bounds of a number: in 3.0 a flag says that one is not itself within."""
    made: Json = {}
    for inclusive, exclusive, stricter in _LIMITS:
        if exclusive not in told:
            continue
        bound = told[exclusive]
        if inclusive in told and stricter(told[inclusive], bound) != bound:
            continue
        made |= {inclusive: bound, exclusive: True}
    return made
