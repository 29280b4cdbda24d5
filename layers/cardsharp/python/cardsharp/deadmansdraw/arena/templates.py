"""The pages that are made here, so that they are read without script; what they show is escaped."""

from functools import partial
from pathlib import Path
from urllib.parse import quote

from jinja2 import FileSystemLoader
from markupsafe import Markup, escape

from cardsharp.viewer.base import templates

FOLDER = Path(__file__).with_name("page")


def rendered(name: str, **content: object) -> Markup:
    """The page, or piece of one, of that name with this content."""
    return Markup(_PAGES.get_template(name).render(content, alone=None))  # noqa: S704 - escaped there


def _bold(text: object, when: bool) -> Markup:
    return Markup("<b>{}</b>").format(text) if when else escape(text)


_PAGES = templates(FileSystemLoader(FOLDER))
_PAGES.globals |= {"quoted": partial(quote, safe=""), "bold": _bold}
