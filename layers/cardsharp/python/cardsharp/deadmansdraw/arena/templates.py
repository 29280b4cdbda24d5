"""The pages that are made here, so that they are read without script; what they show is escaped."""

from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

FOLDER = Path(__file__).with_name("page")


def rendered(name: str, **content: object) -> str:
    """The page of that name with this content."""
    return _PAGES.get_template(name).render(content)


def _quoted(text: str) -> str:
    """A text as a value in an address."""
    return quote(text, safe="")


def _bold(text: object, when: bool) -> Markup:
    return Markup("<b>{}</b>").format(text) if when else escape(text)


_PAGES = Environment(
    loader=FileSystemLoader(FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_PAGES.globals |= {"quoted": _quoted, "bold": _bold}
