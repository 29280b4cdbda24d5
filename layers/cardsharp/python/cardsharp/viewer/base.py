"""What all pages share: the site that they belong to, and the templates that they extend."""

from collections.abc import Sequence
from typing import NamedTuple

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cardsharp.viewer.assets import asset, hashed


class Site(NamedTuple):
    """Where the pages are served: their name, what leads from page to page, and the assets.

    `judged` is whether it says what decisions cost, at a match's address with `/analysis`. `pause`
    are the milliseconds after which a page asks again that was told at once of nothing new.
    """

    name: str
    matches: str = "/matches"
    assets: str = "/page"
    links: Sequence[tuple[str, str]] = ()
    judged: bool = False
    pause: int = 1000


class Alone(NamedTuple):
    """What a page holds that is one file: its style, and the policy that allows just that."""

    policy: str
    style: Markup
    script: Markup
    data: str


def templates(*loaders: BaseLoader) -> Environment:
    """The templates of these places, which may extend `base.html` and the other shared ones."""
    return Environment(
        loader=ChoiceLoader([*loaders, PackageLoader("cardsharp.viewer", "page")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def alone(more_style: str, script: str = "", data: str = "") -> Alone:
    """What makes a page one file, which opens from disk and loads nothing; all texts are ours."""
    style = asset("look.css") + more_style
    policy = f"default-src 'none'; style-src {hashed(style)}"
    if script:
        policy += f"; script-src {hashed(script)}"
    return Alone(policy, Markup(style), Markup(script), data)  # noqa: S704 - our own files
