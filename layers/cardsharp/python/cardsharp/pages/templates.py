"""Templates that all pages extend, and the site that the pages belong to."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cardsharp.pages.assets import BASE_ASSETS, csp_hash


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


def standalone_page(
    extra_style: str = "", script: str = "", data: str = "", *, may_connect: bool = False
) -> StandalonePage:
    """Return the content of a page that is a single file, opens from disk and loads nothing.

    With `may_connect` its script may send requests to its own server. All texts are from this
    library, so they are not escaped.
    """
    style = BASE_ASSETS.read("look.css") + extra_style
    policy = f"default-src 'none'; style-src {csp_hash(style)}"
    if script:
        policy += f"; script-src {csp_hash(script)}"
    if may_connect:
        policy += "; connect-src 'self'"
    return StandalonePage(policy, Markup(style), Markup(script), data)  # noqa: S704 - our own files


def standalone_headers(page: StandalonePage) -> Mapping[str, str]:
    """Return the headers with which a page that is a single file is served.

    Only its own script may run. Other scripts, forms, files and frames are blocked.
    """
    return {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": f"{page.content_security_policy}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
