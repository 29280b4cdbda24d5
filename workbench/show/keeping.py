"""A whole match written into a match log at once."""

from collections.abc import Sequence
from contextvars import ContextVar
from datetime import datetime, timedelta

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Lease, MatchLog, MatchRecord, MoveRecord

_OWNER = "archive"
_TTL = timedelta(minutes=1)

_then: ContextVar[datetime | None] = ContextVar("then", default=None)


class KeepersClock(SystemClock):
    """Shows the time at which a match began while it is written into a log after its end."""

    def now(self) -> datetime:
        """That time, else the current one."""
        return _then.get() or super().now()


def keep_match(record: MatchRecord, moves: Sequence[MoveRecord], target: MatchLog) -> bool:
    """Write a finished match with its moves; False if the log has it already.

    It keeps its times where the log is told the time by a `KeepersClock`.

    Raises:
        StoreError: the log failed.
    """
    before = _then.set(record.started)
    try:
        lease = target.take(record.match_id, _OWNER, _TTL, record.header)
        return lease is not None and _written(record, moves, target, lease)
    finally:
        _then.reset(before)


def _written(
    record: MatchRecord, moves: Sequence[MoveRecord], target: MatchLog, lease: Lease
) -> bool:
    """Write what came after the match's beginning; True."""
    for move in moves:
        if move.intent is not None:
            target.intend(lease, move.sequence, move.intent)
    target.record(lease, {move.sequence: move.facts for move in moves if move.facts is not None})
    _then.set(record.finished)
    target.finish(lease, record.outcome or {})
    return True
