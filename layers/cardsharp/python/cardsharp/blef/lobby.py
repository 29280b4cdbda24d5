"""`GET /`: the lobby, a page by which people play by the documented API, and need nothing else."""

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from cardsharp.blef.actions import BETS
from cardsharp.blef.service import DEFAULT_NAMES
from cardsharp.viewer.assets import asset
from cardsharp.web.route import Answer

AGENTS = tuple(one.partition("=")[0].strip() for one in DEFAULT_NAMES.split(";"))
"""The bots that the page offers to invite; a service may have others, or none."""

_FOLDER = Path(__file__).with_name("page")


def lobby() -> Answer:
    """The page, with its style and script in it and allowed by their hashes."""
    style = asset("look.css") + _text("lobby.css")
    script = _text("lobby.js")
    for name, told in (("bets", [bet.name for bet in BETS]), ("agents", AGENTS)):
        script = script.replace(f"{{{{ {name} }}}}", json.dumps(told))
    page = _text("lobby.html").replace("{{ style }}", style).replace("{{ script }}", script)
    return Answer(page, headers={**_HEADERS, "Content-Security-Policy": _policy(style, script)})


_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing but the page's own style and script, which ask this service alone."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
