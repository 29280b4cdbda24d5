"""An OpenAPI document as one HTML page that needs neither scripts nor other files.

Import this module only to answer a request for the page: no other response needs Jinja.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader
from markupsafe import Markup

from cardsharp.pages.templates import (
    SiteInfo,
    standalone_headers,
    standalone_page,
    template_environment,
)
from cardsharp.server.routing import ApiResponse

_ENVIRONMENT = template_environment(FileSystemLoader(Path(__file__).with_name("templates")))
_ENVIRONMENT.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)


def document_page(
    document: Mapping[str, Any], document_links: Mapping[str, str], site: SiteInfo
) -> ApiResponse:
    """Return the page of an OpenAPI document.

    `document_links` are addresses of its other forms by name.
    """
    page = standalone_page()
    text = _ENVIRONMENT.get_template("document_page.jinja").render(
        told=document, links=document_links, site=site, alone=page
    )
    return ApiResponse(text, headers=standalone_headers(page))


def document_fragment(document: Mapping[str, Any], document_links: Mapping[str, str]) -> Markup:
    """Return the content of the page of an OpenAPI document, with the classes of `look.css`."""
    template = _ENVIRONMENT.get_template("document.jinja")
    return Markup(template.render(told=document, links=document_links))  # noqa: S704 - escaped in there
