"""An OpenAPI document as one page of HTML, to be read without script and without other files."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from html import escape
from typing import Any

from cardsharp.viewer.assets import asset

_STYLE = asset("look.css")

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": (
        "default-src 'none'; "
        f"style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""What goes with the page: nothing may be run, sent, loaded or put around it."""

_Schema = Mapping[str, Any]

_BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "&gt; {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "&lt; {}",
    "minLength": "{} characters or more",
    "maxLength": "{} characters or fewer",
    "minItems": "{} items or more",
    "maxItems": "{} items or fewer",
    "format": "{}",
    "pattern": "pattern {}",
    "default": "otherwise {}",
}
"""How a limit of a value is told, by its name in a schema."""


def page(document: Mapping[str, Any], links: Mapping[str, str]) -> str:
    """The page; `links` are the addresses of other forms of the document by what they are."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(document["info"]["title"])} API</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
{described(document, links)}</main>
</body>
</html>
"""


def described(document: Mapping[str, Any], links: Mapping[str, str]) -> str:
    """What is on the page, as HTML in the classes of `look.css`."""
    info = document["info"]
    others = " · ".join(f'<a href="{escape(at)}">{escape(name)}</a>' for name, at in links.items())
    return f"""<div class="api">
<h1>{escape(info["title"])} <small>{escape(info["version"])}</small></h1>
<p>{escape(info["description"])}</p>
<p>{others}</p>
<ul>
{"".join(_contents(document))}</ul>
{"".join(_operations(document))}<h2>Bodies</h2>
{"".join(_bodies(document))}</div>
"""


def _each(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every operation behind its method and path."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield f"{method.upper()} {path}", operation


def _contents(document: Mapping[str, Any]) -> Iterator[str]:
    for name, operation in _each(document):
        at, said = escape(operation["operationId"]), escape(operation["summary"])
        yield f'<li><a href="#{at}"><code>{escape(name)}</code></a> {said}</li>\n'


def _operations(document: Mapping[str, Any]) -> Iterator[str]:
    for name, operation in _each(document):
        yield f'<section id="{escape(operation["operationId"])}">\n'
        yield f"<h2><code>{escape(name)}</code></h2>\n<p><strong>{escape(operation['summary'])}"
        yield f"</strong></p>\n<p>{escape(operation.get('description') or '')}</p>\n"
        if parameters := operation.get("parameters"):
            rows = (
                [_code(one["name"]), escape(one["in"]), *_field_notes(one, one["schema"])]
                for one in parameters
            )
            yield f"<h3>Parameters</h3>\n{_table(('name', 'in', 'value', ''), rows)}"
        for media, content in operation.get("requestBody", {}).get("content", {}).items():
            yield f"<h3>Body <code>{escape(media)}</code></h3>\n{_shape(content['schema'])}"
        yield f"<h3>Answers</h3>\n{_answers(operation['responses'])}</section>\n"


def _answers(responses: Mapping[str, Any]) -> str:
    rows = []
    for status, response in responses.items():
        bodies = [_value(content["schema"]) for content in response.get("content", {}).values()]
        headers = [
            f"<br>{_code(name)}: {escape(header.get('description', ''))}"
            for name, header in response.get("headers", {}).items()
        ]
        said = escape(response["description"]) + "".join(headers)
        rows.append([escape(status), ", ".join(bodies), said])
    return _table(("status", "body", ""), rows)


def _bodies(document: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in document["components"]["schemas"].items():
        yield f'<section id="schema-{escape(name)}">\n<h3>{escape(name)}</h3>\n'
        yield f"<p>{escape(schema.get('description', ''))}</p>\n{_shape(schema)}</section>\n"


def _shape(schema: _Schema) -> str:
    """What a body is: its fields in a table, or its value."""
    if "properties" not in schema:
        return f"<p>{_value(schema)}</p>\n"
    required = schema.get("required", ())
    rows = (
        [_code(name), *_field_notes({"required": name in required, **_described(one)}, one)]
        for name, one in schema["properties"].items()
    )
    return _table(("field", "value", ""), rows)


def _described(schema: _Schema) -> Mapping[str, Any]:
    return {"description": schema["description"]} if "description" in schema else {}


def _field_notes(described: Mapping[str, Any], schema: _Schema) -> list[str]:
    """The cells that say what a value is, whether it must be there, and what it means."""
    must = "" if described.get("required") else " <em>(may be missing)</em>"
    return [_value(schema) + must, escape(described.get("description", ""))]


def _value(schema: _Schema) -> str:
    """A value in a few words."""
    limits = [text.format(_json(schema[key])) for key, text in _BOUNDS.items() if key in schema]
    return ", ".join([_kind(schema), *limits])


def _kind(schema: _Schema) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#schema-{name}">{name}</a>'
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if choices:
        return " or ".join(map(_value, choices))
    fixed = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else []
    if fixed:
        return " or ".join(map(_json, fixed))
    kind = escape(str(schema.get("type", "any value")))
    return f"{kind} of ({_value(schema['items'])})" if "items" in schema else kind


def _json(value: object) -> str:
    return _code(json.dumps(value, ensure_ascii=False))


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    table = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n"
    return f'<div class="scroll" tabindex="0"><table class="figures">\n{table}</table></div>\n'
