"""An OpenAPI document as one HTML page that needs neither scripts nor other files."""

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from cardsharp.pages.assets import read_asset, standalone_headers

_STYLE = read_asset("look.css")
HEADERS = standalone_headers(_STYLE)  # what goes with the page


def render_page(document: Mapping[str, Any], links: Mapping[str, str]) -> str:
    """Return an HTML page of the document; `links` are addresses of its other forms by name."""
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
{render_body(document, links)}</main>
</body>
</html>
"""


def render_body(document: Mapping[str, Any], links: Mapping[str, str]) -> str:
    """Return the content of the page, as HTML with the classes of `look.css`."""
    # Here, for no other answer of a service needs it.
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
    template_source = Path(__file__).with_name("document.jinja").read_text("utf-8")
    return environment.from_string(template_source).render(told=document, links=links)
