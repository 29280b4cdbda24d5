"""Parts of records, notes and errors that both adapters of the match log make alike."""

from datetime import UTC, date, datetime, time, timedelta

from cardsharp.core.timestamps import from_micros
from cardsharp.errors import StoreError, WriteConflict
from cardsharp.store.codec import StoredBody, decode, encode
from cardsharp.store.match_log import Body, DebugNote, Lease, MatchRecord, MatchStatus, MoveRecord

NOTE_TTL = timedelta(days=14)  # how long a debugging note is kept
WITHDRAWN = "withdrawn"  # the kind of the note that keeps a move which the arena has lost


def encode_body(body: Body) -> str:
    """Return a body as JSON text; raise `StoreError` if it is no JSON or too large."""
    return encode(body, "match log")


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


def unreadable_match(match_id: str, read_error: str) -> MatchRecord:
    """Return the record of a broken header: as finished, so that no worker attends the match."""
    return MatchRecord(match_id, MatchStatus.FINISHED, from_micros(0), {}, read_error=read_error)


def lease_conflict(lease: Lease) -> WriteConflict:
    """Return the error about a write under a lease that is lost."""
    return WriteConflict(f"Match {lease.match_id} is no longer held by {lease.owner}.")


def day_bounds(day: date) -> tuple[datetime, datetime]:
    """Return the first and the last moment of a UTC day."""
    return datetime.combine(day, time.min, UTC), datetime.combine(day, time.max, UTC)


def reopened_outcome_note(match: MatchRecord, timestamp: datetime) -> DebugNote:
    """Return the note that preserves the outcome of a match which is reopened."""
    finished = None if match.finished_at is None else match.finished_at.isoformat()
    return DebugNote("reopened", timestamp, {"outcome": match.outcome, "finished": finished})


def retracted_move_note(move: MoveRecord, timestamp: datetime) -> DebugNote:
    """Return the note that preserves a move which the arena no longer has."""
    body = {"sequence": move.sequence, "intent": move.intent, "facts": move.facts}
    return DebugNote(WITHDRAWN, timestamp, body)
