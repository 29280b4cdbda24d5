"""The matches of an arena in one DynamoDB table.

| pk        | sk          | attributes                                                        |
|-----------|-------------|-------------------------------------------------------------------|
| match#ID  | head        | match_zip, move_count, expires_at, and while it runs listed_as,   |
|           |             | whose turn it is, and changed_at, when it began                   |
| match#ID  | move#000012 | move_zip, receipt, expires_at                                     |
| matches   | ID          | expires_at: there is such a match; ids ascend with time           |
| player#ID | ID          | the same, of one who takes part in it                             |
| running   | ID          | the same, until it has ended                                      |

The index by-change (listed_as, changed_at) names the matches that wait for a player. The bodies
are JSON, compressed: a match takes 0.6 kB in place of 2.5. A move is written together with the
match after it, on condition that nobody has moved since: one of two who act at once is first.

The counts that all processes of an arena share are an item each: pk `count#DIGEST` of a key, which
may name an address, sk when it BEGINS, and many, expires_at.
Actions used: GetItem, BatchGetItem, Query, PutItem, UpdateItem, DeleteItem.
"""

import hashlib
import logging
import secrets
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from cardsharp.cloud.aws import Unmet
from cardsharp.cloud.clock import Now
from cardsharp.cloud.dynamodb_items import Item, Value, key, moment, number, text
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.arena.limits import Counted
from cardsharp.deadmansdraw.arena.lobby import (
    ANY_MATCH,
    MATCH,
    MOVED,
    TURN,
    Moved,
    Signal,
    nobody_told,
)
from cardsharp.deadmansdraw.arena.match import Match, Move, match_of, snapshot_of
from cardsharp.errors import Conflict, StoreError

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

NEWEST = 25  # entries that a waiting client's read looks at: they fit into half a read unit
MOST_ENDED = 1_000  # ended matches that a process remembers: nothing can happen in them any more
_MATCHES = "matches"
_RUNNING = "running"
_INDEX = "by-change"
_AT_TURN = "listed_as = :turn"
_MOVE = TypeAdapter(Move)

_UNREADABLE = (ValidationError, zlib.error)

_log = logging.getLogger(__name__)


class TableLobby:
    """A `Lobby` in a table; `life` is how long a match is kept, `moved` is told of every move."""

    def __init__(self, table: DynamoTable, life: timedelta, moved: Moved = nobody_told) -> None:
        self._table = table
        self._life = life
        self._moved = moved
        self._ended: dict[str, Match] = {}

    # --- what there is ---------------------------------------------------------------------

    def find(self, match_id: str) -> Match | None:
        """The match with this id; raises `StoreError` where it is stored but cannot be read."""
        if match_id in self._ended:
            return self._ended[match_id]
        item = self._table.get(_head(match_id))
        return None if item is None else self._read(item)

    def history(self, match_id: str) -> list[Move]:
        """All moves of a match that there is."""
        items = self._table.under(f"match#{match_id}", "move#")
        try:
            return [_MOVE.validate_json(_unzipped(item["move_zip"])) for item in items]
        except _UNREADABLE:
            raise StoreError(f"The stored moves of match {match_id} cannot be read.") from None

    def all(self) -> Iterable[Match]:
        """Every match."""
        return self._listed(_MATCHES)

    def running(self) -> Iterable[Match]:
        """Every match that has not ended."""
        return (match for match in self._listed(_RUNNING) if not match.finished)

    def of_player(self, player_id: str) -> Iterable[Match]:
        """The matches in which a player takes part."""
        return self._listed(f"player#{player_id}")

    def at_turn(self, player_id: str) -> Iterable[Match]:
        """The matches that wait for a player's action; a moment passes until a turn is known."""
        found = self._table.listed(_INDEX, _AT_TURN, _turn(player_id))
        ids = [item["pk"]["S"].partition("#")[2] for item in found]
        return (match for match in self._matches(ids) if match.active_player == player_id)

    def look(self, signal: Signal) -> object:
        """What a signal shows, for at most half a read unit, perhaps as of a moment ago."""
        if signal.kind == TURN:
            found = self._table.listed(_INDEX, _AT_TURN, _turn(signal.of), page=NEWEST)
            return frozenset(item["pk"]["S"] for item in islice(found, NEWEST))
        if signal.kind in {MATCH, MOVED}:
            item = self._table.get(_head(signal.of), of_now=False)
            return None if item is None else item["move_count"]["N"]
        listed = _MATCHES if signal == ANY_MATCH else f"player#{signal.of}"
        return [item["sk"]["S"] for item in self._table.last(listed, NEWEST)]

    # --- what happens ----------------------------------------------------------------------

    def commit(self, match: Match, move: Move) -> None:
        """Store a match after a move; raises `StoreError`, or `Conflict` if another was first."""
        receipt = secrets.token_hex(8)
        expires: Item = {"expires_at": number(int((match.last_move_at + self._life).timestamp()))}
        moved: Item = {"move_zip": _zipped(_MOVE.dump_json(move)), "receipt": text(receipt)}
        moved_key = key(f"match#{match.id}", f"move#{move.sequence:06}")
        writes = [
            self._head(match, expires),
            self._table.putting({**moved_key, **moved, **expires}),
        ]
        if move.sequence == 0:
            players = (f"player#{one}" for one in sorted(set(match.pairing.players)))
            entries = (_MATCHES, _RUNNING, *players)
            writes += [self._table.putting({**key(one, match.id), **expires}) for one in entries]
        if match.finished:
            running = {"TableName": self._table.name, "Key": key(_RUNNING, match.id)}
            writes.append({"Delete": running})  # type: ignore[typeddict-item]
        try:
            self._table.write(writes)
        except Unmet:
            # Unless it is our own write, of which the answer was lost.
            stored = self._table.get(moved_key)
            if stored is None or stored["receipt"]["S"] != receipt:
                raise Conflict("Somebody else has moved in this match.") from None
        self._moved(match)

    def _head(self, match: Match, expires: Item) -> "TransactWriteItemTypeDef":
        """The write of a match where nobody has moved since it was read."""
        item: dict[str, Value] = {
            **_head(match.id),
            "match_zip": _zipped(snapshot_of(match)),
            "move_count": number(match.moves),
            **expires,
        }
        if match.active_player is not None:
            item["listed_as"] = _turn(match.active_player)[":turn"]
            item["changed_at"] = moment(match.started_at)
        if match.moves == 1:
            return self._table.putting(item, "attribute_not_exists(pk)")
        return self._table.putting(
            item, "move_count = :before", {":before": number(match.moves - 1)}
        )

    # --- reading ---------------------------------------------------------------------------

    def _listed(self, partition: str) -> Iterator[Match]:
        return self._matches([item["sk"]["S"] for item in self._table.under(partition)])

    def _matches(self, ids: list[str]) -> Iterator[Match]:
        yield from (self._ended[one] for one in ids if one in self._ended)
        others = [_head(one) for one in ids if one not in self._ended]
        for item in self._table.batch(others):
            try:
                yield self._read(item)
            except StoreError as error:  # harms itself alone: the list has the others
                _log.warning("%s", error)

    def _read(self, item: Item) -> Match:
        """The match of a head; raises `StoreError` where it cannot be read."""
        match_id = item["pk"]["S"].partition("#")[2]
        try:
            match = match_of(_unzipped(item["match_zip"]), match_id)
        except zlib.error:
            raise StoreError(f"The stored match {match_id} cannot be read.") from None
        if match.finished:
            if len(self._ended) >= MOST_ENDED:
                self._ended.clear()
            self._ended[match.id] = match
        return match


def _head(match_id: str) -> dict[str, Value]:
    return key(f"match#{match_id}", "head")


def _turn(player_id: str) -> dict[str, Value]:
    return {":turn": text(f"turn#{player_id}")}


def _zipped(raw: bytes) -> Value:
    return {"B": zlib.compress(raw)}


def _unzipped(value: Value) -> bytes:
    return zlib.decompress(value["B"])


class TableCounts:
    """Counts in a table; a stretch begins at a multiple of its length."""

    def __init__(self, table: DynamoTable, clock: Now) -> None:
        self._table, self._clock = table, clock

    def count(self, name: str, length: timedelta) -> Counted:
        """Count one more; raises `StoreError`."""
        seconds = int(length.total_seconds())
        begins = int(self._clock().timestamp()) // seconds * seconds
        ends = begins + seconds
        item = self._table.update(
            key(f"count#{hashlib.sha256(name.encode()).hexdigest()}", str(begins)),
            "SET expires_at = :end ADD many :one",
            "attribute_not_exists(pk) OR many > :none",
            {":end": number(ends + seconds), ":one": number(1), ":none": number(0)},
        )
        return Counted(int(item["many"]["N"]), datetime.fromtimestamp(ends, UTC))
