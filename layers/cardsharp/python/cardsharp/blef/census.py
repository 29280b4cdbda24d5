"""How many games there are and how many changed recently, at the same cost for any number.

Every game is counted in two buckets: that of the minute of its last change, and that of the day
on which it expires, or of the hour where that is within an hour of its last change. A change moves
it from bucket to bucket in the transaction that changes it, most changes move nothing, and a bucket
that is past no longer counts. Each bucket is a few items, so that games do not wait for each other;
how many is bounded by time alone.

| pk                  | sk            | attributes                           |
|---------------------|---------------|--------------------------------------|
| census#changed#HOUR | at#HH:MM#n    | game_count, expires_at               |
| census#expiring     | on#DAY[THH]#n | game_count, expires_at               |
"""

import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from cardsharp.blef.records import RECENT
from cardsharp.cloud.dynamodb_items import key, number
from cardsharp.cloud.dynamodb_table import DynamoTable

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from cardsharp.cloud.dynamodb_items import Item

SHARES = 8
"""Items of one bucket."""

_AT = "at#"
_ON = "on#"
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_EXPIRING = "census#expiring"
_KEPT = timedelta(days=2)
"""How long a bucket that is past is kept."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """When a game was last changed, and when it expires."""

    changed: datetime
    expires: datetime


class _Bucket(NamedTuple):
    """The games of one minute or day: where they are counted, and when it is past."""

    partition: str
    name: str
    end: datetime


class Census:
    """The counts in the table of the games."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def moves(
        self, game_uuid: str, before: Lifetime | None, after: Lifetime
    ) -> "list[TransactWriteItemTypeDef]":
        """The writes that count a changed game anew, none if its buckets are the same."""
        shift: Counter[_Bucket] = Counter()
        share = zlib.crc32(game_uuid.encode()) % SHARES
        for entry, by in ((before, -1), (after, 1)):
            if entry is not None:
                shift[_minute_bucket(entry.changed, share)] += by
                shift[_last_bucket(entry, share)] += by
        # A bucket that no longer counts is left alone, for the table may have dropped it.
        oldest = after.changed - RECENT
        return [self._add(bucket, by) for bucket, by in shift.items() if by and bucket.end > oldest]

    def count_active(self, now: datetime) -> int:
        """How many games changed recently, counting the first minute in full."""
        since = now - RECENT
        first = _sum(self._table.under(_hour(since), _AT), _at(since))
        if _hour(now) == _hour(since):
            return first
        return first + _sum(self._table.under(_hour(now), _AT), _AT)

    def count_all(self, now: datetime) -> int:
        """How many games have not expired, counting those of today's and this hour's buckets."""
        past = int((now + _KEPT).timestamp())
        buckets = self._table.under(_EXPIRING, _ON)
        return sum(int(b["game_count"]["N"]) for b in buckets if int(b["expires_at"]["N"]) > past)

    def _add(self, bucket: _Bucket, by: int) -> "TransactWriteItemTypeDef":
        return self._table.updating(
            key(bucket.partition, bucket.name),
            "SET expires_at = :end ADD game_count :by",
            {":end": number(int((bucket.end + _KEPT).timestamp())), ":by": number(by)},
        )


def _minute_bucket(changed: datetime, share: int) -> _Bucket:
    start = changed.astimezone(UTC).replace(second=0, microsecond=0)
    return _Bucket(_hour(start), f"{_at(start)}#{share}", start + _MINUTE)


def _last_bucket(entry: Lifetime, share: int) -> _Bucket:
    """The bucket of the day, or of the hour, in which a game expires."""
    hour = entry.expires.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if entry.expires - entry.changed <= _HOUR:
        return _Bucket(_EXPIRING, f"{_ON}{hour:%Y-%m-%dT%H}#{share}", hour + _HOUR)
    day = hour.replace(hour=0)
    return _Bucket(_EXPIRING, f"{_ON}{day:%Y-%m-%d}#{share}", day + _DAY)


def _hour(moment: datetime) -> str:
    """The partition of an hour's minutes."""
    return f"census#changed#{moment.astimezone(UTC):%Y-%m-%dT%H}"


def _at(moment: datetime) -> str:
    """How the names of a minute's items begin."""
    return f"at#{moment.astimezone(UTC):%H:%M}"


def _sum(items: "Iterable[Item]", since: str) -> int:
    """The sum of the counts of the items whose names are not before `since`."""
    return sum(int(item["game_count"]["N"]) for item in items if item["sk"]["S"] >= since)
