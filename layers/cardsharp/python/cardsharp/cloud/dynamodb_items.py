"""How headers, moves and notes look as DynamoDB items."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from cardsharp.cloud.codec import NOTE_LIFE, encode, from_micros, pack, readable, to_micros
from cardsharp.cloud.ports import Body, Lease, MatchRecord, MoveRecord, NoteRecord, Status

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

Value: TypeAlias = "AttributeValueTypeDef"
Item = Mapping[str, Value]

Told = str | int | datetime | timedelta | Body

MOVE = "move#"
NOTE = "note#"
HEADER = "header"


def text(value: str) -> "Value":
    """A string as an attribute."""
    return {"S": value}


def number(value: int) -> "Value":
    """A whole number as an attribute."""
    return {"N": str(value)}


def moment(value: datetime) -> "Value":
    """A moment as an attribute."""
    return number(to_micros(value))


def attribute(value: Told) -> "Value":
    """Any of these as an attribute: moments and durations in microseconds, and bodies packed.

    So an item stays below the kilobyte of a write unit.
    """
    match value:
        case str():
            return text(value)
        case int():
            return number(value)
        case datetime():
            return moment(value)
        case timedelta():
            return number(value // timedelta(microseconds=1))
        case _:
            return {"B": pack(encode(value))}


def values(**told: Told) -> "dict[str, Value]":
    """Attributes as an expression refers to them, by their names after a colon."""
    return {f":{name}": attribute(value) for name, value in told.items()}


def partition(match_id: str) -> str:
    """The partition key of all that belongs to a match."""
    return f"match#{match_id}"


def key(pk: str, sk: str) -> "dict[str, Value]":
    """An item's key."""
    return {"pk": text(pk), "sk": text(sk)}


def header_key(match_id: str) -> "dict[str, Value]":
    """The key of a match's header."""
    return key(partition(match_id), HEADER)


def move_key(match_id: str, sequence: int) -> "dict[str, Value]":
    """The key of one move; the padding makes the order of keys that of sequences."""
    return key(partition(match_id), f"{MOVE}{sequence:06}")


def note_item(match_id: str, note: NoteRecord) -> "dict[str, Value]":
    """A debugging note with the second at which the table may drop it."""
    return {
        **key(partition(match_id), f"{NOTE}{to_micros(note.at):020}#{uuid.uuid4()}"),
        "kind": text(note.kind),
        "body_json": attribute(note.body),
        "expires_at": number(int((note.at + NOTE_LIFE).timestamp())),
    }


def to_match(item: "Item") -> MatchRecord:
    """A header item as its record; nobody shall attend one without a meaning."""
    match_id = item["pk"]["S"].partition("#")[2]
    try:
        return _match_of(match_id, item)
    except (KeyError, ValueError, OverflowError) as error:
        fault = f"its item is broken: {error!r}"
        return MatchRecord(match_id, Status.FINISHED, from_micros(0), {}, fault=fault)


def _match_of(match_id: str, item: "Item") -> MatchRecord:
    lease = None
    if "lease_owner" in item:
        lease = Lease(
            match_id,
            item["lease_owner"]["S"],
            int(item["lease_fence"]["N"]),
            _span(item["lease_idle"]) if "lease_idle" in item else timedelta(0),
        )
    bodies, fault = readable(header=_body(item, "header_json"), outcome=_body(item, "outcome_json"))
    return MatchRecord(
        match_id=match_id,
        status=Status(item["match_status"]["S"]),
        started=_moment(item["started_at"]),
        header=bodies["header"] or {},
        beat=int(item["claim_beat"]["N"]) if "claim_beat" in item else 0,
        ttl=_span(item["claim_ttl"]) if "claim_ttl" in item else None,
        lease=lease,
        announced="announced_idle" in item,
        outcome=bodies["outcome"],
        finished=_moment(item["finished_at"]) if "finished_at" in item else None,
        fault=fault,
    )


def to_move(item: "Item") -> MoveRecord:
    """A move item as its record."""
    sequence = int(item["sk"]["S"].removeprefix(MOVE))
    bodies, fault = readable(intent=_body(item, "intent_json"), facts=_body(item, "facts_json"))
    return MoveRecord(sequence, **bodies, fault=fault)


def to_note(item: "Item") -> NoteRecord:
    """A note item as its record; a body that cannot be read is empty."""
    micros = int(item["sk"]["S"].removeprefix(NOTE).partition("#")[0])
    bodies, _ = readable(body=_stored(item["body_json"]))
    return NoteRecord(item["kind"]["S"], from_micros(micros), bodies["body"] or {})


def _moment(value: "Value") -> datetime:
    return from_micros(int(value["N"]))


def _body(item: "Item", name: str) -> str | bytes | None:
    return _stored(item[name]) if name in item else None


def _stored(value: "Value") -> str | bytes:
    """A stored body: packed, or a text as version 0.2 wrote it."""
    return value["B"] if "B" in value else value["S"]


def _span(value: "Value") -> timedelta:
    return timedelta(microseconds=int(value["N"]))
