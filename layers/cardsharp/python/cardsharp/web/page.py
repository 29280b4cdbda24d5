"""An OpenAPI document as one page of HTML, to be read without script and without other files."""

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from cardsharp.viewer.assets import asset, own_headers

_STYLE = asset("look.css")
HEADERS = own_headers(_STYLE)  # what goes with the page


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
    # Here, for no other answer of a service needs it.
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    made = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    made.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
    text = Path(__file__).with_name("document.jinja").read_text("utf-8")
    return made.from_string(text).render(told=document, links=links)
