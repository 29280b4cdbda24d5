"""Small answers recorded on the real server (ids and names as recorded)."""

import json
from typing import Any

from support.recordings import SAMPLES

_BODIES = json.loads((SAMPLES / "arena_bodies.json").read_text("utf-8"))


def _raw(name: str) -> bytes:
    return json.dumps(_BODIES[name], separators=(",", ":")).encode()


MATCH = "6b006509d06c4dfa5a8e02ca"
RUNNING = _raw("running")  # a match in its first turn, GET with showevents
FINISHED = _raw("finished")  # the 410 of GET with waitactive
DRAW_RESPONSE = _raw("drawn")  # the answer to a Draw
CLOSING = _raw("closing")  # the 410 of an action
WHOAMI_RESPONSE, CREATED = _raw("who"), _raw("created")
NOT_YOUR_TURN, NO_MATCH, NOT_VISIBLE = map(_raw, ("not_your_turn", "no_match", "not_visible"))


def running() -> dict[str, Any]:
    """`RUNNING` loaded, for tests that change it."""
    return dict(json.loads(RUNNING))
