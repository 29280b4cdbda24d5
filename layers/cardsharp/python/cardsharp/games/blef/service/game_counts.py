"""Counts of all games and of recently changed games, at a cost independent of their number.

Every game is counted in two buckets: the minute of its last change, and the day on which it
expires. The hour replaces the day where the game expires within an hour of its last change. A
change moves the game between buckets in the same transaction; most changes move nothing. A past
bucket no longer counts. Each bucket is sharded over a few items, so that games do not contend
for one. The number of buckets is bounded by time alone.

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

from cardsharp.games.blef.service.records import ACTIVE_WINDOW
from cardsharp.store.documents import Document, DocumentStore, Increment, Key

SHARD_COUNT = 8  # items of one bucket
_EXPIRY_PREFIX = "on#"
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_EXPIRY_PARTITION = "census#expiring"
_RETENTION = timedelta(days=2)  # how long a bucket that is past is kept


class ChangeAndExpiryTimes(NamedTuple):
    """Times of a game's last change and of its expiry."""

    changed_at: datetime
    expires_at: datetime


class _CountBucket(NamedTuple):
    """Bucket of one minute, hour or day: its key, and its end."""

    partition: str
    name: str
    end: datetime


def build_count_updates(
    game_uuid: str, old_times: ChangeAndExpiryTimes | None, new_times: ChangeAndExpiryTimes
) -> list[Increment]:
    """Build the writes that move a changed game to its new count bucket; empty if unchanged."""
    shift: Counter[_CountBucket] = Counter()
    shard = zlib.crc32(game_uuid.encode()) % SHARD_COUNT
    for lifetime, by in ((old_times, -1), (new_times, 1)):
        if lifetime is not None:
            shift[_find_minute_bucket(lifetime.changed_at, shard)] += by
            shift[_find_expiry_bucket(lifetime, shard)] += by
    # A bucket that no longer counts is left alone, for it may have been dropped.
    oldest = new_times.changed_at - ACTIVE_WINDOW
    return [
        Increment(Key(bucket.partition, bucket.name), by, bucket.end + _RETENTION)
        for bucket, by in shift.items()
        if by and bucket.end > oldest
    ]


def count_recently_changed_games(documents: DocumentStore, current_time: datetime) -> int:
    """Return the number of games changed within `ACTIVE_WINDOW`.

    The first minute of the window counts in full.
    """
    since = current_time - ACTIVE_WINDOW
    first_hour_count = _sum_counts(
        documents.query(_hour_partition(since), exclusive_start=_minute_prefix(since))
    )
    return (
        first_hour_count
        if _hour_partition(current_time) == _hour_partition(since)
        else first_hour_count + _sum_counts(documents.query(_hour_partition(current_time)))
    )


def count_unexpired_games(document_store: DocumentStore, current_time: datetime) -> int:
    """Return the number of unexpired games, counting today's and this hour's buckets in full."""
    buckets = document_store.query(
        _EXPIRY_PARTITION,
        exclusive_start=f"{_EXPIRY_PREFIX}{current_time.astimezone(UTC):%Y-%m-%d}",
    )
    return _sum_counts(
        bucket
        for bucket in buckets
        if bucket.expires_at is not None and bucket.expires_at > current_time + _RETENTION
    )


def _find_minute_bucket(changed: datetime, shard: int) -> _CountBucket:
    start = changed.astimezone(UTC).replace(second=0, microsecond=0)
    return _CountBucket(_hour_partition(start), f"{_minute_prefix(start)}#{shard}", start + _MINUTE)


def _find_expiry_bucket(lifetime: ChangeAndExpiryTimes, shard: int) -> _CountBucket:
    """Return the bucket of the day, or of the hour, in which a game expires."""
    hour = lifetime.expires_at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if lifetime.expires_at - lifetime.changed_at <= _HOUR:
        return _CountBucket(
            _EXPIRY_PARTITION, f"{_EXPIRY_PREFIX}{hour:%Y-%m-%dT%H}#{shard}", hour + _HOUR
        )
    day = hour.replace(hour=0)
    return _CountBucket(_EXPIRY_PARTITION, f"{_EXPIRY_PREFIX}{day:%Y-%m-%d}#{shard}", day + _DAY)


def _hour_partition(moment: datetime) -> str:
    """Return the partition of the minutes of an hour."""
    return f"census#changed#{moment.astimezone(UTC):%Y-%m-%dT%H}"


def _minute_prefix(moment: datetime) -> str:
    """Return the prefix of the names of a minute's items."""
    return f"at#{moment.astimezone(UTC):%H:%M}"


def _sum_counts(counts: Iterable[Document]) -> int:
    return sum(int(str(document.body["count"])) for document in counts)
