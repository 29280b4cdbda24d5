"""DynamoDB items of headers, moves and notes."""

import uuid
from datetime import datetime, timedelta

from cardsharp.aws.dynamodb_attributes import (
    Item,
    Value,
    item_key,
    number_attribute,
    string_attribute,
)
from cardsharp.store.codec import NOTE_TTL, compress, decode_all, encode, from_micros, to_micros
from cardsharp.store.match_log import Body, DebugNote, Lease, MatchRecord, MatchStatus, MoveRecord

AttributeInput = str | int | datetime | timedelta | Body

MOVE_PREFIX = "move#"
NOTE_PREFIX = "note#"
HEADER_SORT_KEY = "header"


def timestamp_attribute(value: datetime) -> Value:
    """Return a moment as an attribute, in microseconds."""
    return number_attribute(to_micros(value))


def to_attribute(value: AttributeInput) -> Value:
    """Return a value as an attribute: times in microseconds, and bodies compressed.

    So an item stays below the kilobyte of a write unit.
    """
    match value:
        case str():
            return string_attribute(value)
        case int():
            return number_attribute(value)
        case datetime():
            return timestamp_attribute(value)
        case timedelta():
            return number_attribute(value // timedelta(microseconds=1))
        case _:
            return {"B": compress(encode(value))}


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
        "body_json": to_attribute(note.body),
        "expires_at": number_attribute(int((note.created_at + NOTE_TTL).timestamp())),
    }


def match_from_item(item: Item) -> MatchRecord:
    """Return a header item as a record; an unreadable one as finished, so nobody attends it."""
    match_id = item["pk"]["S"].partition("#")[2]
    try:
        return _match_of(match_id, item)
    except (KeyError, ValueError, OverflowError) as error:
        fault = f"its item is broken: {error!r}"
        return MatchRecord(match_id, MatchStatus.FINISHED, from_micros(0), {}, read_error=fault)


def _match_of(match_id: str, item: Item) -> MatchRecord:
    lease = None
    if "lease_owner" in item:
        lease = Lease(
            match_id,
            item["lease_owner"]["S"],
            int(item["lease_fence"]["N"]),
            _span(item["lease_idle"]) if "lease_idle" in item else timedelta(0),
        )
    bodies, fault = decode_all(
        header=_body(item, "header_json"), outcome=_body(item, "outcome_json")
    )
    return MatchRecord(
        match_id=match_id,
        status=MatchStatus(item["match_status"]["S"]),
        started_at=_moment(item["started_at"]),
        header=bodies["header"] or {},
        lease_version=int(item["claim_beat"]["N"]) if "claim_beat" in item else 0,
        ttl=_span(item["claim_ttl"]) if "claim_ttl" in item else None,
        lease=lease,
        is_queued="announced_idle" in item,
        outcome=bodies["outcome"],
        finished_at=_moment(item["finished_at"]) if "finished_at" in item else None,
        read_error=fault,
    )


def move_from_item(item: Item) -> MoveRecord:
    """Return the record of a move item."""
    sequence = int(item["sk"]["S"].removeprefix(MOVE_PREFIX))
    bodies, fault = decode_all(intent=_body(item, "intent_json"), facts=_body(item, "facts_json"))
    return MoveRecord(sequence, **bodies, read_error=fault)


def note_from_item(item: Item) -> DebugNote:
    """Return the note of a note item; a body that cannot be read is empty."""
    micros = int(item["sk"]["S"].removeprefix(NOTE_PREFIX).partition("#")[0])
    bodies, _ = decode_all(body=_stored(item["body_json"]))
    return DebugNote(item["kind"]["S"], from_micros(micros), bodies["body"] or {})


def _moment(value: Value) -> datetime:
    return from_micros(int(value["N"]))


def _body(item: Item, name: str) -> str | bytes | None:
    return _stored(item[name]) if name in item else None


def _stored(value: Value) -> str | bytes:
    """Return a stored body: compressed, or a text as version 0.2 wrote it."""
    return value["B"] if "B" in value else value["S"]


def _span(value: Value) -> timedelta:
    return timedelta(microseconds=int(value["N"]))
