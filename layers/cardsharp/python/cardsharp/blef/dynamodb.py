"""The games in one DynamoDB table.

| pk        | sk          | attributes                                                          |
|-----------|-------------|---------------------------------------------------------------------|
| game#UUID | game        | game_version, game_json, changed_at, expires_at, write_receipts,    |
|           |             | and if public: listed_as, nicknames_json, is_started                |
| game#UUID | round#00012 | round_json, expires_at                                              |
| caller#…  | games       | game_count, expires_at: of a caller's day, by a digest               |
| census#…  |             | see `census`                                                        |

The index by-change (listed_as, changed_at) holds public games only, and of them what the list
shows. The table has no stream: a record of it would carry hands. Moments are microseconds, but
expires_at, the table's time to live, is in seconds.
Actions used: GetItem, Query, PutItem, UpdateItem.
"""

import itertools
import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cardsharp.blef.census import Census, Lifetime
from cardsharp.blef.codec import decode_game, decode_round, encode_game, encode_round
from cardsharp.blef.records import RECENT, WHOLE_LIFE, ClosedRound, GameRecord
from cardsharp.blef.state import Round
from cardsharp.blef.store import LIST_LIMIT, Listing, Saved, caller_on, closed_at, moment_of
from cardsharp.cloud.aws import Unmet
from cardsharp.cloud.codec import from_micros
from cardsharp.cloud.dynamodb_items import key, moment, number, text
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.ports import Clock
from cardsharp.errors import Conflict

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from cardsharp.cloud.dynamodb_items import Item, Value

RECEIPTS = 12
"""Writes that a game remembers: more than can follow one while its answer is awaited."""

_PUBLIC = "public"
_LISTING = ("listed_as", "nicknames_json", "is_started")


class DynamoGames:
    """A `GameStore` in the table of that name, in the region of AWS_DEFAULT_REGION."""

    def __init__(self, table: str, clock: Clock, client: "DynamoDBClient | None" = None) -> None:
        self._table = DynamoTable(table, client)
        self._census = Census(self._table)
        self._clock = clock

    def create(self, game: GameRecord) -> None:
        """Keep a new game."""
        after = _entry(game, self._clock.now())
        put = _put(game, after, 1, (secrets.token_hex(8),), "attribute_not_exists(pk)")
        try:
            self._write(put, self._census.moves(game.uuid, None, after))
        except Unmet:
            # Nobody else knows the new uuid: it was our own write whose answer was lost.
            return

    def admit(self, caller: str, most: int) -> bool:
        """Count a game that a caller creates today; False where `most` are counted already."""
        now = self._clock.now()
        try:
            self._table.update(
                key(f"caller#{caller_on(now.date(), caller)}", "games"),
                "SET expires_at = :end ADD game_count :one",
                "attribute_not_exists(pk) OR game_count < :most",
                {
                    ":end": number(int((now + timedelta(days=1)).timestamp())),
                    ":one": number(1),
                    ":most": number(most),
                },
            )
        except Unmet:
            return False
        return True

    def read(self, game_uuid: str) -> Saved | None:
        """A game as of now, with every change that was acknowledged, or None."""
        item = self._table.get(_key(game_uuid))
        if item is None:
            return None
        expires = datetime.fromtimestamp(int(item["expires_at"]["N"]), UTC)
        if expires <= self._clock.now():
            return None
        return Saved(
            game=decode_game(game_uuid, item["game_json"]["S"]),
            version=int(item["game_version"]["N"]),
            changed=from_micros(int(item["changed_at"]["N"])),
            expires=expires,
            receipts=_receipts(item),
        )

    def write(self, saved: Saved, game: GameRecord, closed: Round | None = None) -> Saved:
        """Put `game` in the place of what was read; raises `Conflict` if that has changed."""
        after = _entry(game, moment_of(self._clock.now(), saved.changed))
        receipt = secrets.token_hex(8)
        receipts = (*saved.receipts, receipt)[-RECEIPTS:]
        put = _put(game, after, saved.version + 1, receipts, "game_version = :before")
        put.values[":before"] = number(saved.version)
        others = self._census.moves(game.uuid, Lifetime(saved.changed, saved.expires), after)
        if closed is not None:
            others.append(self._round(game, closed_at(after.changed, closed)))
        try:
            self._write(put, others)
        except Unmet as unmet:
            now = self._table.get(_key(game.uuid))
            if now is None or receipt not in _receipts(now):
                raise Conflict("The game was changed by somebody else.") from unmet
        return Saved(game, saved.version + 1, after.changed, after.expires, receipts)

    def closed_round(self, game_uuid: str, number: int) -> ClosedRound | None:
        """A closed round of a game, or None."""
        item = self._table.get(_round_key(game_uuid, number))
        return None if item is None else decode_round(item["round_json"]["S"])

    def listed(self) -> list[Listing]:
        """The public games that changed recently, by uuid; a change may show late."""
        now = self._clock.now()
        found = self._table.listed(
            "by-change",
            "listed_as = :public AND changed_at > :since",
            {":public": text(_PUBLIC), ":since": moment(now - RECENT)},
        )
        listings = (_listing(item) for item in itertools.islice(found, LIST_LIMIT))
        return sorted(listings, key=lambda listing: listing.uuid)

    def count_active(self) -> int:
        """How many games changed recently, to the minute."""
        return self._census.count_active(self._clock.now())

    def count_all(self) -> int:
        """How many games there are; one may be counted up to a day after it expired."""
        return self._census.count_all(self._clock.now())

    def _write(self, put: "_Put", others: "list[TransactWriteItemTypeDef]") -> None:
        """Write the game, and all or nothing with what goes with it; raises `Unmet`."""
        if not others:
            self._table.update(put.key, put.update, put.condition, put.values)
            return
        update = self._table.updating(put.key, put.update, put.values, put.condition)
        self._table.write([update, *others])

    def _round(self, game: GameRecord, closed: ClosedRound) -> "TransactWriteItemTypeDef":
        """The write of a closed round, which outlives the game."""
        item = {
            **_round_key(game.uuid, closed.round.number),
            "round_json": text(encode_round(closed)),
            "expires_at": number(int((game.created + WHOLE_LIFE).timestamp())),
        }
        return self._table.putting(item, "attribute_not_exists(pk)")


@dataclass(frozen=True, slots=True)
class _Put:
    """The write of a whole game, as a conditional update."""

    key: "dict[str, Value]"
    update: str
    condition: str
    values: "dict[str, Value]"


def _put(
    game: GameRecord, entry: Lifetime, version: int, receipts: tuple[str, ...], condition: str
) -> _Put:
    """The write of a game; a private one leaves the index."""
    values: dict[str, Value] = {
        ":game_version": number(version),
        ":game_json": text(encode_game(game)),
        ":changed_at": moment(entry.changed),
        ":expires_at": number(int(entry.expires.timestamp())),
        ":write_receipts": text(" ".join(receipts)),
    }
    if game.public:
        values[":listed_as"] = text(_PUBLIC)
        values[":nicknames_json"] = text(json.dumps(game.nicknames))
        values[":is_started"] = {"BOOL": game.round is not None}
    update = "SET " + ", ".join(f"{name[1:]} = {name}" for name in values)
    if not game.public:
        update += f" REMOVE {', '.join(_LISTING)}"
    return _Put(_key(game.uuid), update, condition, values)


def _entry(game: GameRecord, changed: datetime) -> Lifetime:
    return Lifetime(changed, game.expires(changed))


def _key(game_uuid: str) -> "dict[str, Value]":
    return key(f"game#{game_uuid}", "game")


def _round_key(game_uuid: str, round_number: int) -> "dict[str, Value]":
    return key(f"game#{game_uuid}", f"round#{round_number:05}")


def _receipts(item: "Item") -> tuple[str, ...]:
    return tuple(item["write_receipts"]["S"].split())


def _listing(item: "Item") -> Listing:
    return Listing(
        uuid=item["pk"]["S"].partition("#")[2],
        nicknames=tuple(json.loads(item["nicknames_json"]["S"])),
        started=item["is_started"]["BOOL"],
        changed=from_micros(int(item["changed_at"]["N"])),
    )
