"""The original Blef service's manners around our rules, as strict as docs/spec/blef.md has them.

Everything is a GET; a missing value is `{}`; an error is `{"error": …}`; no header tells a version;
nobody chooses a uuid and nobody waits. Of its parameters it knows those that are documented, and a
repeated one is a fault of its own. Its makers went on and added keys, so a state has one more.
"""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import requests
from world.network import asked_of

from support.blef_bot import BlefPlace
from workbench.cloud.http_events import Answered

KNOWN = {
    "join": ("nickname",),
    "start": ("admin_uuid",),
    "play": ("player_uuid", "action_id"),
    "state": ("player_uuid", "round"),
}
"""The parameters of each operation (section 5)."""

_JSON = (("Content-Type", "application/json"),)


@dataclass
class OriginalPlace(BlefPlace):
    """A game at the original, played whole: each player begins with one card."""

    posted: int = 0
    """How many requests were refused for being no GET."""

    def step_of(self, request: requests.PreparedRequest) -> str:
        operation = _operation(request)
        return {"join": "join", "play": "act"}.get(operation, "view")

    def ask(self, request: requests.PreparedRequest) -> Answered:
        if request.method != "GET":
            self.posted += 1
            return _answered(405, {"error": "405 - Method Not Allowed"}, (("Allow", ""),))
        parts = urlsplit(str(request.url))
        query = parse_qsl(parts.query)
        if len(dict(query)) < len(query):
            return _answered(500, {"error": "500 - Internal server error"})
        known = {k: v for k, v in query if k in KNOWN[_operation(request)]}
        plain = requests.Request("GET", parts._replace(query=urlencode(known)).geturl()).prepare()
        answer = asked_of(self.client.api, plain, self.clock)
        return _answered(answer.status, _worded(json.loads(answer.body)))

    def _shorten(self) -> None:
        """Play it whole."""


def _operation(request: requests.PreparedRequest) -> str:
    last = urlsplit(str(request.url)).path.rpartition("/")[2]
    return last if last in KNOWN else "state"


def _worded(body: Any) -> Any:  # noqa: ANN401 - JSON
    """Our answer in the original's words."""
    if "error" in body:
        return {"error": body["error"]}
    if "history" not in body:
        return body
    return {name: {} if value is None else value for name, value in body.items()} | {"room": 42}


def _answered(status: int, body: object, more: tuple[tuple[str, str], ...] = ()) -> Answered:
    return Answered(status, (*_JSON, *more), json.dumps(body).encode())
