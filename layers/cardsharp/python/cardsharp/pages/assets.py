"""Static files that all pages load, and the headers of a strict security policy."""

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
"""Assets of the pages with their content types.

`look.css` is the look of every page: colours, type, buttons, tables; other styles only add to it.
"""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of every page that is served: nothing inline, nothing foreign."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def csp_hash(text: str) -> str:
    """Return the source expression that allows an inline style or script in a policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def standalone_headers(style: str, script: str = "") -> Mapping[str, str]:
    """Return the headers of a page that loads no files; only its script may run and connect.

    The script may send requests to its service. Other scripts, forms, files and frames are
    blocked.
    """
    runs = f"script-src {csp_hash(script)}; connect-src 'self'; " if script else ""
    return {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": f"default-src 'none'; style-src {csp_hash(style)}; {runs}"
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


def bundled_script() -> str:
    """The script of a match's page with what it imports, for a page that loads nothing."""
    motion = read_asset("motion.js").replace("export function", "function")
    return motion + read_asset("match.js").replace('import { moving } from "./motion.js";\n', "")


@cache
def read_asset(name: str) -> str:
    """The text of a file that pages load."""
    return files("cardsharp.pages").joinpath("page", name).read_text(encoding="utf-8")
