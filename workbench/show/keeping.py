"""A whole match written into a match log at once, or copied to another."""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime, timedelta

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Body, MatchLog, MatchRecord, MoveRecord

_OWNER = "archive"
_TTL = timedelta(minutes=1)

_then: ContextVar[datetime | None] = ContextVar("then", default=None)


class KeepersClock(SystemClock):
    """Shows the time at which a match began while it is written into a log after its end."""

    def now(self) -> datetime:
        """That time, else the current one."""
        return _then.get() or super().now()


def keep_match(record: MatchRecord, moves: Sequence[MoveRecord], target: MatchLog) -> bool:
    """Write a finished match, timed by a `KeepersClock`; False if it is there; or `StoreError`."""
    before = _then.set(record.started)
    try:
        lease = target.take(record.match_id, _OWNER, _TTL, record.header)
        if lease is None:
            return False
        for move in moves:
            if move.intent is not None:
                target.intend(lease, move.sequence, move.intent)
        target.record(lease, {one.sequence: one.facts for one in moves if one.facts is not None})
        _then.set(record.finished)
        target.finish(lease, record.outcome or {})
    finally:
        _then.reset(before)
    return True


def copy_match(match_id: str, source: MatchLog, target: MatchLog, more: Body) -> None:
    """Copy a finished match that `target` lacks, with `more` in its header; raises `StoreError`."""
    record = source.match(match_id)
    if record is None or record.outcome is None:
        return
    told = replace(record, header={**record.header, **more})
    if keep_match(told, source.moves(match_id), target):
        for note in source.notes(match_id):
            target.note(match_id, note.kind, note.body)
