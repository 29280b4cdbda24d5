"""How many games there are and how many changed recently, at the same cost for any number.

Every game is counted in two buckets: that of the minute of its last change, and that of the day
on which it expires, or of the hour where that is within an hour of its last change. A change moves
it from bucket to bucket in the transaction that changes it, most changes move nothing, and a bucket
that is past no longer counts. Each bucket is a few items, so that games do not wait for each other;
how many is bounded by time alone.

| partition           | sort          | body                                 |
|---------------------|---------------|--------------------------------------|
| census#changed#HOUR | at#HH:MM#n    | a count, kept for a while beyond     |
| census#expiring     | on#DAY[THH]#n | the same                             |
"""

import zlib
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from cardsharp.blef.records import RECENT
from cardsharp.keep.port import Add, Document, Keep, Key

SHARES = 8  # items of one bucket
_ON = "on#"
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_EXPIRING = "census#expiring"
_KEPT = timedelta(days=2)  # how long a bucket that is past is kept


class Lifetime(NamedTuple):
    """When a game was last changed, and when it expires."""

    changed: datetime
    expires: datetime


class _Bucket(NamedTuple):
    """The games of one minute or day: where they are counted, and when it is past."""

    partition: str
    name: str
    end: datetime


def moves(game_uuid: str, before: Lifetime | None, after: Lifetime) -> list[Add]:
    """The writes that count a changed game anew, none if its buckets are the same."""
    shift: Counter[_Bucket] = Counter()
    share = zlib.crc32(game_uuid.encode()) % SHARES
    for entry, by in ((before, -1), (after, 1)):
        if entry is not None:
            shift[_minute_bucket(entry.changed, share)] += by
            shift[_last_bucket(entry, share)] += by
    # A bucket that no longer counts is left alone, for it may have been dropped.
    oldest = after.changed - RECENT
    return [
        Add(Key(bucket.partition, bucket.name), by, bucket.end + _KEPT)
        for bucket, by in shift.items()
        if by and bucket.end > oldest
    ]


def count_active(keep: Keep, now: datetime) -> int:
    """How many games changed recently, counting the first minute in full."""
    since = now - RECENT
    first = _sum(keep.range(_hour(since), after=_at(since)))
    return first if _hour(now) == _hour(since) else first + _sum(keep.range(_hour(now)))


def count_all(keep: Keep, now: datetime) -> int:
    """How many games have not expired, counting those of today's and this hour's buckets."""
    found = keep.range(_EXPIRING, after=f"{_ON}{now.astimezone(UTC):%Y-%m-%d}")
    return _sum(one for one in found if one.expires is not None and one.expires > now + _KEPT)


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


def _sum(counts: Iterable[Document]) -> int:
    return sum(int(str(one.body["count"])) for one in counts)
