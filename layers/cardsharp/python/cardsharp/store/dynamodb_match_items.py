"""DynamoDB items of headers, moves and notes, as docs/match-log.md describes them.

Earlier versions called a body `header_json` and not `header`, and stored it as JSON text (0.2)
or packed (0.3). Where an item has both, the earlier one counts: whoever replaces a body removes
it.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta

from cardsharp.aws.dynamodb_attributes import (
    Item,
    Value,
    expiry_attribute,
    item_key,
    json_attribute,
    json_value,
    number_attribute,
    string_attribute,
    timestamp_attribute,
    timestamp_value,
)
from cardsharp.core.timestamps import duration_to_micros, from_micros, to_micros
from cardsharp.store.codec import StoredBody
from cardsharp.store.match_log import (
    Body,
    DebugNote,
    Lease,
    MatchRecord,
    MatchStatus,
    MoveRecord,
    MoveSummary,
)
from cardsharp.store.match_records import (
    NOTE_TTL,
    decode_bodies_and_errors,
    encode_body,
    unreadable_match,
)

AttributeInput = str | int | datetime | timedelta | Body

LEGACY_NAMES: Mapping[str, str] = {
    **{name: f"{name}_json" for name in ("header", "outcome", "intent", "facts")},
    "details": "body_json",
}
"""The bodies of items, and what they were called up to version 0.3."""

SUMMARY_NAMES = ("sequence", *(field.name for field in fields(MoveSummary)))
"""The attributes of a move that people read and no program."""

MOVE_PREFIX = "move#"
NOTE_PREFIX = "note#"
HEADER_SORT_KEY = "header"


def to_attribute(value: AttributeInput) -> Value:
    """Return a value as an attribute: times in microseconds, and bodies as maps."""
    match value:
        case str():
            return string_attribute(value)
        case int():
            return number_attribute(value)
        case datetime():
            return timestamp_attribute(value)
        case timedelta():
            return number_attribute(duration_to_micros(value))
        case _:
            return map_or_json_attribute(value)


def map_or_json_attribute(body: Body) -> Value:
    """Return a body as a map, or as JSON text if a map cannot hold all of its values."""
    text = encode_body(body)
    try:
        return json_attribute(json.loads(text))
    except ValueError:
        return string_attribute(text)


def iso_text(moment: datetime) -> str:
    """Return a moment as a person reads it, such as 2026-11-30T09:15:02.125Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def move_summary_attributes(sequence: int, summary: MoveSummary) -> dict[str, Value]:
    """Return the attributes of a move's item that people read, from the summary of the move."""
    moment = summary.played_at
    values = {
        "sequence": sequence,
        **{field.name: getattr(summary, field.name) for field in fields(summary)},
        "played_at": None if moment is None else iso_text(moment),
    }
    # A name may have half a surrogate pair, which no attribute can hold.
    return {
        name: json_attribute(json.loads(_replace_surrogates(json.dumps(value, ensure_ascii=False))))
        for name, value in values.items()
        if value is not None
    }


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def expression_values(**fields: AttributeInput) -> dict[str, Value]:
    """Return the values of an expression, each under its name after a colon."""
    return {f":{name}": to_attribute(value) for name, value in fields.items()}


def match_partition(match_id: str) -> str:
    """Return the partition key of all items of a match."""
    return f"match#{match_id}"


def header_key(match_id: str) -> dict[str, Value]:
    """Return the key of a match's header."""
    return item_key(match_partition(match_id), HEADER_SORT_KEY)


def move_key(match_id: str, sequence: int) -> dict[str, Value]:
    """Return the key of one move, padded so that keys sort as sequences do."""
    return item_key(match_partition(match_id), f"{MOVE_PREFIX}{sequence:06}")


def note_item(match_id: str, note: DebugNote) -> dict[str, Value]:
    """Return the item of a debugging note, with its expiry."""
    return {
        **item_key(
            match_partition(match_id),
            f"{NOTE_PREFIX}{to_micros(note.created_at):020}#{uuid.uuid4()}",
        ),
        "kind": string_attribute(note.kind),
        "created_at_iso": string_attribute(iso_text(note.created_at)),
        "details": map_or_json_attribute(note.body),
        "expires_at": expiry_attribute(note.created_at + NOTE_TTL),
    }


def match_from_item(item: Item) -> MatchRecord:
    """Return a header item as a record; an unreadable one as finished, so nobody attends it."""
    match_id = item["pk"]["S"].partition("#")[2]
    try:
        return _to_match_record(match_id, item)
    except (KeyError, ValueError, OverflowError) as error:
        return unreadable_match(match_id, f"its item is broken: {error!r}")


def _to_match_record(match_id: str, item: Item) -> MatchRecord:
    lease = None
    if "lease_owner" in item:
        lease = Lease(
            match_id,
            item["lease_owner"]["S"],
            int(item["lease_fence"]["N"]),
            _to_timedelta(item["lease_idle"]) if "lease_idle" in item else timedelta(0),
        )
    bodies, fault = decode_bodies_and_errors(
        header=_read_stored_body(item, "header"), outcome=_read_stored_body(item, "outcome")
    )
    return MatchRecord(
        match_id=match_id,
        status=MatchStatus(item["match_status"]["S"]),
        started_at=timestamp_value(item["started_at"]),
        header=bodies["header"] or {},
        lease_version=int(item["claim_beat"]["N"]) if "claim_beat" in item else 0,
        ttl=_to_timedelta(item["claim_ttl"]) if "claim_ttl" in item else None,
        lease=lease,
        is_queued="announced_idle" in item,
        outcome=bodies["outcome"],
        finished_at=timestamp_value(item["finished_at"]) if "finished_at" in item else None,
        read_error=fault,
    )


def move_from_item(item: Item) -> MoveRecord:
    """Return the record of a move item."""
    sequence = int(item["sk"]["S"].removeprefix(MOVE_PREFIX))
    bodies, fault = decode_bodies_and_errors(
        intent=_read_stored_body(item, "intent"), facts=_read_stored_body(item, "facts")
    )
    return MoveRecord(sequence, **bodies, read_error=fault)


def note_from_item(item: Item) -> DebugNote:
    """Return the note of a note item; a body that cannot be read is empty."""
    micros = int(item["sk"]["S"].removeprefix(NOTE_PREFIX).partition("#")[0])
    bodies, _ = decode_bodies_and_errors(details=_read_stored_body(item, "details"))
    return DebugNote(item["kind"]["S"], from_micros(micros), bodies["details"] or {})


def _read_stored_body(item: Item, name: str) -> StoredBody | None:
    """Return a stored body: a map, JSON text, or packed."""
    attribute = item.get(LEGACY_NAMES[name], item.get(name))
    match attribute:
        case None:
            return None
        case {"B": packed}:
            return packed
        case {"S": text}:
            return text
    value = json_value(attribute)
    return value if isinstance(value, dict) else json.dumps(value)


def _to_timedelta(value: Value) -> timedelta:
    return timedelta(microseconds=int(value["N"]))
