"""Short responses recorded at the real arena, with the recorded ids and names."""

import json
from typing import Any

from support.recordings import SAMPLES

_BODIES = json.loads((SAMPLES / "arena_bodies.json").read_text("utf-8"))


def _body(name: str) -> bytes:
    return json.dumps(_BODIES[name], separators=(",", ":")).encode()


MATCH = "6b006509d06c4dfa5a8e02ca"
RUNNING = _body("running")  # a match in its first turn, GET with showevents
FINISHED = _body("finished")  # the 410 of GET with waitactive
DRAW_RESPONSE = _body("drawn")  # the answer to a Draw
CLOSING = _body("closing")  # the 410 of an action
WHOAMI_RESPONSE, CREATED = _body("who"), _body("created")
NOT_YOUR_TURN, NO_MATCH, NOT_VISIBLE = map(_body, ("not_your_turn", "no_match", "not_visible"))


def running_view() -> dict[str, Any]:
    """Return the parsed body of `RUNNING`, for tests that change it."""
    return dict(json.loads(RUNNING))
