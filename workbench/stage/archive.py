"""Matches copied from one match log to another, so that they outlive their cloud."""

from dataclasses import replace

from cardsharp.cloud.ports import Body, MatchLog
from workbench.show.keeping import keep_match


def copy_match(match_id: str, source: MatchLog, target: MatchLog, more: Body) -> None:
    """Copy a finished match with all its moves; quiet if the target has it.

    `more` is added to its header.

    Raises:
        StoreError: one of the logs failed.
    """
    record = source.match(match_id)
    if record is None or record.outcome is None:
        return
    told = replace(record, header={**record.header, **more})
    if keep_match(told, source.moves(match_id), target):
        for note in source.notes(match_id):
            target.note(match_id, note.kind, note.body)
