"""Finished matches copied from one match log to another, so that they outlive their cloud."""

from datetime import timedelta

from cardsharp.cloud.ports import Body, MatchLog

_OWNER = "archive"
_TTL = timedelta(minutes=1)


def copy_match(match_id: str, source: MatchLog, target: MatchLog, more: Body) -> None:
    """Copy a finished match with all its moves; quiet if the target has it.

    `more` is added to its header.

    Raises:
        StoreError: one of the logs failed.
    """
    record = source.match(match_id)
    if record is None or record.outcome is None:
        return
    lease = target.take(match_id, _OWNER, _TTL, {**record.header, **more})
    if lease is None:
        return
    moves = source.moves(match_id)
    for move in moves:
        if move.intent is not None:
            target.intend(lease, move.sequence, move.intent)
    target.record(lease, {move.sequence: move.facts for move in moves if move.facts is not None})
    for note in source.notes(match_id):
        target.note(match_id, note.kind, note.body)
    target.finish(lease, record.outcome)
