"""The document of an API in OpenAPI 3.0, and its page: all escaped, nothing loaded, nothing run."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from openapi_schema_validator import OAS30Validator, OAS31Validator
from pydantic import BaseModel
from support.recorded import SAMPLES

from cardsharp.web.openapi30 import schema_of
from cardsharp.web.page import HEADERS, page
from cardsharp.web.reading import Messages, Parameters

VALUES: tuple[object, ...] = (
    *(None, True, False, -1, 0, 1, 1.5, 4, 5, 6, "", "a", "b", "abc"),
    *([], [1], ["a"], ["a", 1], [1, "a"], [None], {}, {"x": 1}, {"x": None}, {"x": "a", "y": 2}),
)

SAID_ALIKE = json.loads((SAMPLES / "schemas.json").read_text("utf-8"))
"""Schemas of JSON Schema, which the document says as OpenAPI 3.0 does."""


def takes(validator: Any, schema: object) -> list[object]:  # noqa: ANN401
    """Which of the values are valid."""
    return [repr(value) for value in VALUES if validator(schema).is_valid(value)]


@pytest.mark.parametrize("told", SAID_ALIKE.values(), ids=SAID_ALIKE)
def test_the_same_values_are_valid(told: dict[str, Any] | bool) -> None:
    made = schema_of(told)
    OAS30Validator.check_schema(made)
    assert takes(OAS30Validator, made) == takes(OAS31Validator, told)


class Asked(BaseModel):
    """A question with a field that may be null, which has no single type."""

    name: str | None = None
    tags: tuple[str, ...] = ()


@pytest.mark.parametrize("reading", [Messages(), Parameters()])
def test_a_parameter_that_may_be_null_is_described(reading: Messages | Parameters) -> None:
    """It made the document of an API a failure of the server."""
    name, tags = reading.describe(Asked, "GET", ())["parameters"]  # type: ignore[misc]
    assert name["schema"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert tags.get("explode", isinstance(reading, Parameters))


EVIL = "<script>alert('\"&')</script>"


def document(text: str) -> dict[str, Any]:
    """A document that has the text wherever a game may put one."""
    schema = {"type": text, "description": text, "pattern": text, "default": text}
    fields = {"properties": {text: schema, "e": {"enum": [text]}, "c": {"const": text}}}
    reference = {"$ref": f"#/components/schemas/{text}"}
    content = {text: {"schema": {"items": {"anyOf": [reference, schema]}, "type": "array"}}}
    operation = {
        "operationId": text,
        "summary": text,
        "description": text,
        "parameters": [{"name": text, "in": text, "description": text, "schema": schema}],
        "requestBody": {"content": content},
        "responses": {
            text: {
                "description": text,
                "headers": {text: {"description": text}},
                "content": content,
            }
        },
    }
    return {
        "info": {"title": text, "version": text, "description": text},
        "paths": {text: {text: operation}},
        "components": {"schemas": {text: {"description": text, **fields}}},
    }


def test_no_text_of_a_document_is_taken_for_html() -> None:
    told = page(document(EVIL), {EVIL: EVIL})
    plain = page(document("plain"), {"plain": "plain"})
    assert "&lt;script&gt;" in told
    tags = r"<(/?\w+)"
    assert re.findall(tags, told) == re.findall(tags, plain)


def test_only_the_styles_of_the_page_itself_are_allowed() -> None:
    told = page(document("plain"), {})
    [style] = re.findall(r"<style>(.*?)</style>", told, re.DOTALL)
    allowed = b64encode(sha256(style.encode()).digest()).decode()
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{allowed}'; ")
    assert "style=" not in told
    assert not re.search(r"<(script|link|img|iframe|form)|src=|url\(|@import|https?:", told)
