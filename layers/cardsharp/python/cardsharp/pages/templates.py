"""Templates that all pages extend, and the site that the pages belong to."""

from collections.abc import Sequence
from typing import NamedTuple

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cardsharp.pages.assets import csp_hash, read_asset


class SiteInfo(NamedTuple):
    """Configuration of a site: name, paths of matches and assets, links between the pages.

    `has_analysis` is True if it serves the cost of decisions at a match's address with
    `/analysis`. `poll_milliseconds` is the pause of a page before its next request, if the
    server answers at once that nothing is new.
    """

    name: str
    matches_path: str = "/matches"
    assets_path: str = "/page"
    links: Sequence[tuple[str, str]] = ()
    has_analysis: bool = False
    poll_milliseconds: int = 1000


class StandalonePage(NamedTuple):
    """Content of a page that is a single file: style, script, data, and the matching policy."""

    content_security_policy: str
    style: Markup
    script: Markup
    data: str


def template_environment(*loaders: BaseLoader) -> Environment:
    """Return an environment of these templates, which may extend shared ones like `base.html`."""
    return Environment(
        loader=ChoiceLoader([*loaders, PackageLoader("cardsharp.pages", "page")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def standalone_page(extra_style: str, script: str = "", data: str = "") -> StandalonePage:
    """Return the content of a page that is a single file, opens from disk and loads nothing.

    All texts are from this package, so they are not escaped.
    """
    style = read_asset("look.css") + extra_style
    policy = f"default-src 'none'; style-src {csp_hash(style)}"
    if script:
        policy += f"; script-src {csp_hash(script)}"
    return StandalonePage(policy, Markup(style), Markup(script), data)  # noqa: S704 - our own files
