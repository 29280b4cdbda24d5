"""The document of an API, and its page: all escaped, nothing loaded, nothing run."""

import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from pydantic import BaseModel

from cardsharp.web.page import HEADERS, page
from cardsharp.web.reading import Messages, Parameters


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
