"""What all pages load, and how they are served: files of our own under a strict policy."""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files

ASSETS: Mapping[str, str] = {
    "look.css": "text/css; charset=utf-8",
    "viewer.css": "text/css; charset=utf-8",
    "match.js": "text/javascript; charset=utf-8",
    "offer.js": "text/javascript; charset=utf-8",
    "motion.js": "text/javascript; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "list.js": "text/javascript; charset=utf-8",
    "viewer.svg": "image/svg+xml",
}
"""What the pages load, with the types that they are served as.

`look.css` is the look of every page: colours, type, buttons, tables; other styles only add to it.
"""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of every page that is served: nothing inline, nothing foreign."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def hashed(text: str) -> str:
    """That by which a policy allows a style or a script that stands in the page."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def own_headers(style: str, script: str = "") -> Mapping[str, str]:
    """What goes with a page that loads nothing: its script alone may run, and ask its service.

    Nothing else may be run, sent, loaded or put around it.
    """
    runs = f"script-src {hashed(script)}; connect-src 'self'; " if script else ""
    return {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": f"default-src 'none'; style-src {hashed(style)}; {runs}"
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


def whole_script() -> str:
    """The script of a match's page with what it imports, for a page that loads nothing."""
    motion = asset("motion.js").replace("export function", "function")
    return motion + asset("match.js").replace('import { moving } from "./motion.js";\n', "")


@cache
def asset(name: str) -> str:
    """The text of a file that pages load."""
    return files("cardsharp.viewer").joinpath("page", name).read_text(encoding="utf-8")
