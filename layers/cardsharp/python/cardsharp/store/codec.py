"""Bodies of the match log as JSON text, and the notes it makes."""

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from cardsharp.errors import StoreError
from cardsharp.store.match_log import Body, DebugNote, MatchRecord, MoveRecord
from cardsharp.store.packed_bodies import unpack

StoredBody = str | bytes | Mapping[str, object]  # JSON text, packed by versions up to 0.3, or plain

MAX_STORED_BODY_BYTES = (
    64_000  # of JSON text; an item of DynamoDB has four bodies at most, and 400 KB
)
NOTE_TTL = timedelta(days=14)  # how long a debugging note is kept
WITHDRAWN = "withdrawn"  # the kind of the note that keeps a move which the arena has lost
_HALF = re.compile("[\ud800-\udfff]")  # half a UTF-16 pair, which only JSON may name


def encode(body: Body) -> str:
    """Return a body as JSON text; raise `StoreError` if it is no JSON or too large."""
    try:
        text = json.dumps(body, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        if not text.isascii() and _HALF.search(text):
            text = json.dumps(body, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise StoreError(f"The match log stores JSON only: {error}.") from error
    byte_count = len(text.encode())
    if byte_count > MAX_STORED_BODY_BYTES:
        raise StoreError(
            f"The match log stores at most {MAX_STORED_BODY_BYTES} bytes, not {byte_count}."
        )
    return text


def decode(stored: StoredBody) -> dict[str, object]:
    """Return a stored body, of whatever version; raise `StoreError` if it is no JSON object."""
    if isinstance(stored, Mapping):
        return dict(stored)
    try:
        body = json.loads(stored if isinstance(stored, str) else unpack(stored))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"no JSON object: {error}") from None
    if not isinstance(body, dict):
        raise StoreError(f"no JSON object: a {type(body).__name__}")
    return body


def decode_bodies_and_errors(
    **stored: StoredBody | None,
) -> tuple[dict[str, Body | None], str | None]:
    """Return the bodies by name, None for an unreadable one, and why they are unreadable."""
    bodies: dict[str, Body | None] = {}
    faults = []
    for name, stored_body in stored.items():
        try:
            bodies[name] = None if stored_body is None else decode(stored_body)
        except StoreError as error:
            bodies[name] = None
            faults.append(f"its {name} is {error}")
    return bodies, "; ".join(faults) or None


def reopened_outcome_note(match: MatchRecord, timestamp: datetime) -> DebugNote:
    """Return the note that preserves the outcome of a match which is reopened."""
    finished = None if match.finished_at is None else match.finished_at.isoformat()
    return DebugNote("reopened", timestamp, {"outcome": match.outcome, "finished": finished})


def retracted_move_note(move: MoveRecord, timestamp: datetime) -> DebugNote:
    """Return the note that preserves a move which the arena no longer has."""
    body = {"sequence": move.sequence, "intent": move.intent, "facts": move.facts}
    return DebugNote(WITHDRAWN, timestamp, body)
