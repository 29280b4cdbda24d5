"""Repository of an arena's matches in one DynamoDB table.

| pk        | sk          | attributes                                                        |
|-----------|-------------|-------------------------------------------------------------------|
| match#ID  | head        | match_zip, move_count, expires_at, and while it runs listed_as,   |
|           |             | whose turn it is, and changed_at, when it began                   |
| match#ID  | move#000012 | move_zip, receipt, expires_at                                     |
| matches   | ID          | expires_at: there is such a match; ids ascend with time           |
| player#ID | ID          | the same, for each player of the match                            |
| running   | ID          | the same, until the match has ended                               |

The index by-change (listed_as, changed_at) lists the matches that wait for a player. The bodies
are compressed JSON: a match takes 0.6 kB instead of 2.5. A move is written together with the
match after it, on condition that there is no other move since: of two concurrent actions, only
the first succeeds.

Each counter that all processes of an arena share is an item: pk `count#DIGEST` of a key, which
may name an address; sk, the BEGIN of its window; many, the count; expires_at.

Actions used: GetItem, BatchGetItem, Query, PutItem, UpdateItem, DeleteItem.
"""

import hashlib
import logging
import secrets
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from pydantic import TypeAdapter, ValidationError

from cardsharp.aws.client import ConditionFailed
from cardsharp.aws.dynamodb_attributes import (
    Item,
    Value,
    expiry_attribute,
    item_key,
    number_attribute,
    string_attribute,
    timestamp_attribute,
)
from cardsharp.aws.dynamodb_table import DynamoTable, TableWrite
from cardsharp.core.clock import TimeSource
from cardsharp.errors import StoreError, WriteConflict
from cardsharp.games.deadmansdraw.arena.access.throttling import WindowCount
from cardsharp.games.deadmansdraw.arena.match import (
    ArenaMatch,
    ArenaMove,
    from_snapshot,
    to_snapshot,
)
from cardsharp.games.deadmansdraw.arena.storage.match_repository import (
    ANY_MATCH_CREATED,
    MOVE_PLAYED,
    TURN_OVER,
    TURN_STARTED,
    MoveListener,
    WaitTopic,
    ignore_move,
)

MAX_NEWEST = 25  # entries that a waiting client's read looks at: they fit into half a read unit
MAX_FINISHED = 1_000  # ended matches that a process remembers: nothing can happen in them any more
_MATCHES_PARTITION = "matches"
_RUNNING_PARTITION = "running"
_CHANGE_INDEX = "by-change"
_TURN_CONDITION = "listed_as = :turn"
_MOVE_ADAPTER = TypeAdapter(ArenaMove)

_DECODE_ERRORS = (ValidationError, zlib.error)

_log = logging.getLogger(__name__)


class DynamoMatchRepository:
    """`MatchRepository` in a DynamoDB table.

    A match is stored for `retention` after its last move, and `on_move` is called with it after
    every move.
    """

    def __init__(
        self, table: DynamoTable, retention: timedelta, on_move: MoveListener = ignore_move
    ) -> None:
        self._table = table
        self._retention = retention
        self._on_move = on_move
        self._finished_matches: dict[str, ArenaMatch] = {}

    # --- what there is ---------------------------------------------------------------------

    def get(self, match_id: str) -> ArenaMatch | None:
        """Return the match with this id; raise `StoreError` if it is stored but unreadable."""
        if match_id in self._finished_matches:
            return self._finished_matches[match_id]
        item = self._table.get(_head_key(match_id))
        return None if item is None else self._decode_match(item)

    def move_history(self, match_id: str) -> list[ArenaMove]:
        """All moves of a match that there is."""
        items = self._table.query_prefix(f"match#{match_id}", "move#")
        try:
            return [
                _MOVE_ADAPTER.validate_json(_decompress_value(item["move_zip"])) for item in items
            ]
        except _DECODE_ERRORS:
            raise StoreError(f"The stored moves of match {match_id} cannot be read.") from None

    def all_matches(self) -> Iterable[ArenaMatch]:
        """Return every match of the arena."""
        return self._read_listed_matches(_MATCHES_PARTITION)

    def running_matches(self) -> Iterable[ArenaMatch]:
        """Every match that has not ended."""
        return (
            match
            for match in self._read_listed_matches(_RUNNING_PARTITION)
            if not match.is_finished
        )

    def matches_of(self, player_id: str) -> Iterable[ArenaMatch]:
        """The matches in which a player takes part."""
        return self._read_listed_matches(f"player#{player_id}")

    def matches_waiting_for(self, player_id: str) -> Iterable[ArenaMatch]:
        """Return the matches that wait for a player's action; a new turn may appear late."""
        items = self._table.query_index_keys(
            _CHANGE_INDEX, _TURN_CONDITION, _turn_values(player_id)
        )
        ids = [item["pk"]["S"].partition("#")[2] for item in items]
        return (match for match in self._read_matches(ids) if match.active_player == player_id)

    def topic_version(self, topic: WaitTopic) -> object:
        """Return a value that changes when the topic does.

        The read costs at most half a read unit and may be slightly out of date.
        """
        if topic.kind == TURN_STARTED:
            items = self._table.query_index_keys(
                _CHANGE_INDEX, _TURN_CONDITION, _turn_values(topic.subject_id), page_size=MAX_NEWEST
            )
            return frozenset(item["pk"]["S"] for item in islice(items, MAX_NEWEST))
        if topic.kind in {TURN_OVER, MOVE_PLAYED}:
            item = self._table.get(_head_key(topic.subject_id), consistent_read=False)
            return None if item is None else item["move_count"]["N"]
        listed = _MATCHES_PARTITION if topic == ANY_MATCH_CREATED else f"player#{topic.subject_id}"
        return [item["sk"]["S"] for item in self._table.query_last(listed, MAX_NEWEST)]

    # --- what happens ----------------------------------------------------------------------

    def save_move(self, match: ArenaMatch, move: ArenaMove) -> None:
        """Store a match after a move; raise `StoreError`, `WriteConflict` if another was first."""
        receipt = secrets.token_hex(8)
        expires: Item = {"expires_at": expiry_attribute(match.last_move_at + self._retention)}
        moved: Item = {
            "move_zip": _compress_value(_MOVE_ADAPTER.dump_json(move)),
            "receipt": string_attribute(receipt),
        }
        moved_key = item_key(f"match#{match.id}", f"move#{move.sequence:06}")
        writes = [
            self._build_head_put(match, expires),
            self._table.build_put({**moved_key, **moved, **expires}),
        ]
        if move.sequence == 0:
            players = (f"player#{player}" for player in sorted(set(match.pairing.players)))
            partitions = (_MATCHES_PARTITION, _RUNNING_PARTITION, *players)
            writes += [
                self._table.build_put({**item_key(partition, match.id), **expires})
                for partition in partitions
            ]
        if match.is_finished:
            writes.append(self._table.build_delete(item_key(_RUNNING_PARTITION, match.id)))
        try:
            self._table.transact_write(writes)
        except ConditionFailed:
            # Unless it is our own write, of which the answer was lost.
            stored = self._table.get(moved_key)
            if stored is None or stored["receipt"]["S"] != receipt:
                raise WriteConflict("Another request has changed this match.") from None
        self._on_move(match)

    def _build_head_put(self, match: ArenaMatch, expires: Item) -> TableWrite:
        """Return the write of a match, on condition that no move was made since it was read."""
        item: dict[str, Value] = {
            **_head_key(match.id),
            "match_zip": _compress_value(to_snapshot(match)),
            "move_count": number_attribute(match.moves),
            **expires,
        }
        if match.active_player is not None:
            item["listed_as"] = _turn_values(match.active_player)[":turn"]
            item["changed_at"] = timestamp_attribute(match.started_at)
        if match.moves == 1:
            return self._table.build_put(item, "attribute_not_exists(pk)")
        return self._table.build_put(
            item, "move_count = :before", {":before": number_attribute(match.moves - 1)}
        )

    # --- reading ---------------------------------------------------------------------------

    def _read_listed_matches(self, partition: str) -> Iterator[ArenaMatch]:
        return self._read_matches([item["sk"]["S"] for item in self._table.query_prefix(partition)])

    def _read_matches(self, ids: list[str]) -> Iterator[ArenaMatch]:
        yield from (
            self._finished_matches[match_id]
            for match_id in ids
            if match_id in self._finished_matches
        )
        keys = [_head_key(match_id) for match_id in ids if match_id not in self._finished_matches]
        for item in self._table.batch_get(keys):
            try:
                yield self._decode_match(item)
            except StoreError as error:  # harms itself alone: the list has the others
                # An error, so that an alarm tells it: nobody ends the turns of this match.
                _log.error("%s", error)

    def _decode_match(self, item: Item) -> ArenaMatch:
        """Return the match of a head item; raise `StoreError` if it is unreadable."""
        match_id = item["pk"]["S"].partition("#")[2]
        try:
            match = from_snapshot(_decompress_value(item["match_zip"]), match_id)
        except zlib.error:
            raise StoreError(f"The stored match {match_id} cannot be read.") from None
        if match.is_finished:
            if len(self._finished_matches) >= MAX_FINISHED:
                self._finished_matches.clear()
            self._finished_matches[match.id] = match
        return match


def _head_key(match_id: str) -> dict[str, Value]:
    return item_key(f"match#{match_id}", "head")


def _turn_values(player_id: str) -> dict[str, Value]:
    return {":turn": string_attribute(f"turn#{player_id}")}


def _compress_value(raw: bytes) -> Value:
    return {"B": zlib.compress(raw)}


def _decompress_value(value: Value) -> bytes:
    return zlib.decompress(value["B"])


class DynamoWindowCounter:
    """Window counter in a table; a window begins at a multiple of its length."""

    def __init__(self, table: DynamoTable, clock: TimeSource) -> None:
        self._table, self._clock = table, clock

    def count(self, name: str, window: timedelta) -> WindowCount:
        """Count one more request and return the window's count; raises `StoreError`."""
        seconds = int(window.total_seconds())
        begins = int(self._clock().timestamp()) // seconds * seconds
        ends = begins + seconds
        item = self._table.update_and_return(
            item_key(f"count#{hashlib.sha256(name.encode()).hexdigest()}", str(begins)),
            "SET expires_at = :end ADD many :one",
            "",
            {":end": number_attribute(ends + seconds), ":one": number_attribute(1)},
        )
        return WindowCount(int(item["many"]["N"]), datetime.fromtimestamp(ends, UTC))
