"""A match as the JSON text that every later version reads: a snapshot with its format's number.

| format | versions    | what it changed                                           |
|--------|-------------|-----------------------------------------------------------|
| 1      | 0.1.0       | no number; who plays is under `seats`                     |
| 1      | from 0.2.0  | no number; who plays is under `pairing`, like today       |
| 2      | from 0.3.0  | the number                                                |

Where a field is renamed or means something else, the number grows and `_brought_up` learns the
step. `tests/samples/stores` holds a file of each version, and every test run plays on in them.
"""

from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.errors import StoreError

FORMAT = 2

_MATCH = TypeAdapter(Match)


class NewerSnapshot(StoreError):
    """A newer Cardsharp wrote it, so nobody here can say what it holds."""


def snapshot_of(match: Match) -> bytes:
    """The match as JSON text in today's format."""
    return to_json({"format": FORMAT, **_MATCH.dump_python(match, mode="json")})


def match_of(snapshot: str | bytes, match_id: str) -> Match:
    """The match of a snapshot; raises `StoreError`, or `NewerSnapshot` for a format to come."""
    try:
        return _MATCH.validate_python(_brought_up(from_json(snapshot), match_id))
    except (ValidationError, ValueError, TypeError, AttributeError):
        raise StoreError(
            f"The stored match {match_id} cannot be read. It is kept as it is, and not played."
        ) from None


def _brought_up(raw: dict[str, Any], match_id: str) -> dict[str, Any]:
    """What today's `Match` is made of, from a snapshot of any format up to today's."""
    found = raw.get("format", 1)
    if found > FORMAT:
        raise NewerSnapshot(
            f"A newer Cardsharp stored the match {match_id} (format {found}, "
            f"known up to {FORMAT}); install that one or name another data file."
        )
    if "seats" in raw:
        raw["pairing"] = raw.pop("seats")
    return raw
