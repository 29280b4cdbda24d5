"""How bodies and moments are stored, the same in every match log."""

import json
import re
from datetime import UTC, datetime, timedelta

from cardsharp.cloud.packing import unpack
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord, NoteRecord
from cardsharp.errors import StoreError

MAX_BODY_BYTES = 64_000
"""So that 50 bodies fit into a DynamoDB transaction of 4 MB; the same limit holds at home."""

NOTE_LIFE = timedelta(days=14)
"""How long a debugging note is kept."""

WITHDRAWN = "withdrawn"
"""The kind of the note that keeps a move which the arena has lost."""

_HALF = re.compile("[\ud800-\udfff]")
"""Half of a pair in UTF-16, which a JSON text may name and no other text can hold."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def encode(body: Body) -> str:
    """A body as JSON text; raises `StoreError` if it is no JSON or too large."""
    try:
        text = json.dumps(body, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        if not text.isascii() and _HALF.search(text):
            text = json.dumps(body, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise StoreError(f"The match log stores JSON only: {error}.") from error
    size = len(text.encode())
    if size > MAX_BODY_BYTES:
        raise StoreError(f"The match log stores at most {MAX_BODY_BYTES} bytes, not {size}.")
    return text


def decode(stored: str | bytes) -> dict[str, object]:
    """The body that `encode` made this text from, packed or not; raises `StoreError` if none."""
    try:
        body = json.loads(stored if isinstance(stored, str) else unpack(stored))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"no JSON object: {error}") from None
    if not isinstance(body, dict):
        raise StoreError(f"no JSON object: a {type(body).__name__}")
    return body


def readable(**stored: str | bytes | None) -> tuple[dict[str, Body | None], str | None]:
    """The bodies by their names, None for one that cannot be read, and which and why that is."""
    bodies: dict[str, Body | None] = {}
    faults = []
    for name, text in stored.items():
        try:
            bodies[name] = None if text is None else decode(text)
        except StoreError as error:
            bodies[name] = None
            faults.append(f"its {name} is {error}")
    return bodies, "; ".join(faults) or None


def reopened(match: MatchRecord, now: datetime) -> NoteRecord:
    """What stays of the outcome of a match that is opened again."""
    finished = None if match.finished is None else match.finished.isoformat()
    return NoteRecord("reopened", now, {"outcome": match.outcome, "finished": finished})


def withdrawn(move: MoveRecord, now: datetime) -> NoteRecord:
    """What stays of a move that the arena no longer has."""
    body = {"sequence": move.sequence, "intent": move.intent, "facts": move.facts}
    return NoteRecord(WITHDRAWN, now, body)


def to_micros(moment: datetime) -> int:
    """A moment as whole microseconds since 1970, which order and round-trip exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The moment that `to_micros` made this number from."""
    return _EPOCH + micros * _MICROSECOND
