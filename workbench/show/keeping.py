"""A whole match written into a match log at once."""

from collections.abc import Sequence
from datetime import timedelta

from cardsharp.cloud.ports import MatchLog, MatchRecord, MoveRecord

_OWNER = "archive"
_TTL = timedelta(minutes=1)


def keep_match(record: MatchRecord, moves: Sequence[MoveRecord], target: MatchLog) -> bool:
    """Write a finished match with its moves; False if the log has it already.

    Raises:
        StoreError: the log failed.
    """
    lease = target.take(record.match_id, _OWNER, _TTL, record.header)
    if lease is None:
        return False
    for move in moves:
        if move.intent is not None:
            target.intend(lease, move.sequence, move.intent)
    target.record(lease, {move.sequence: move.facts for move in moves if move.facts is not None})
    target.finish(lease, record.outcome or {})
    return True
