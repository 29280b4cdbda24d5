"""A stack's finished matches as a match log on this machine, before its table drops them."""

from collections.abc import Iterable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MatchLog, MatchRecord, Status
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.errors import StoreError

_OWNER = "export"
_TTL = timedelta(minutes=1)
_ALL = 1_000_000


class _Then(SystemClock):
    """The clock, but for the moment that is written down."""

    moment: datetime

    def now(self) -> datetime:
        """The moment that was set last."""
        return self.moment


def export(source: MatchLog, path: Path) -> int:
    """Copy the finished matches that a file has not got yet; how many.

    Each keeps its moments, intents and facts; notes are left out, as they expire anyway.

    Raises:
        StoreError: one of the logs failed, or a match has moves that cannot be read.
    """
    clock = _Then()
    with closing(SqliteLog(path, clock)) as target:
        missing = [one for one in _finished(source) if target.match(one.match_id) is None]
        for match in missing:
            _copy(match, source, target, clock)
    return len(missing)


def _finished(source: MatchLog) -> Iterable[MatchRecord]:
    return source.matches(status=Status.FINISHED, limit=_ALL)


def _copy(match: MatchRecord, source: MatchLog, target: MatchLog, clock: _Then) -> None:
    moves = source.moves(match.match_id)
    faults = [one for one in (match.fault, *(move.fault for move in moves)) if one is not None]
    if faults or match.finished is None:
        raise StoreError(f"Match {match.match_id} cannot be read whole: {'; '.join(faults)}.")
    clock.moment = match.started
    lease = target.take(match.match_id, _OWNER, _TTL, match.header)
    if lease is None:
        raise StoreError(f"Match {match.match_id} is being copied by somebody else.")
    for move in moves:
        if move.intent is not None:
            target.intend(lease, move.sequence, move.intent)
    target.record(lease, {one.sequence: one.facts for one in moves if one.facts is not None})
    clock.moment = match.finished
    target.finish(lease, match.outcome or {})
