"""A stack's finished matches as a match log on this machine, before its table drops them."""

from collections.abc import Sequence
from pathlib import Path

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.errors import InvalidInput, StoreError
from cardsharp.store.dynamodb_match_reader import DynamoMatchReader
from cardsharp.store.dynamodb_match_upgrade import legacy_finished_match_ids, rewrite_match
from cardsharp.store.match_log import (
    NO_SUMMARIES,
    MatchReader,
    MatchRecord,
    MatchStatus,
    MoveRecord,
    Summaries,
)
from cardsharp_tools.match_sources.match_logs import game_of_match, import_match, open_log

_MAX_MATCHES = 1_000_000


def export_missing_matches(source: MatchReader, path: Path) -> int:
    """Copy the finished matches that a file lacks, in order of play; return their number.

    Each keeps its moments, intents and facts; notes are left out, as they expire anyway. Raises
    `StoreError` if one of the logs failed, or, when all others are copied, if a match cannot be
    read whole.
    """
    faults: list[str] = []
    with open_log(f"sqlite:{path}") as target:
        finished = source.matches(status=MatchStatus.FINISHED, limit=_MAX_MATCHES)
        missing = [record for record in finished if target.match(record.match_id) is None]
        for match in reversed(missing):
            moves = source.moves(match.match_id)
            fault = "; ".join(
                filter(None, (match.read_error, *(move.read_error for move in moves)))
            )
            if fault or match.finished_at is None:
                faults.append(f"Match {match.match_id} cannot be read completely: {fault}.")
            elif not import_match(match, moves, target):
                faults.append(f"Another process is copying match {match.match_id}.")
    copied = len(missing) - len(faults)
    if faults:
        raise StoreError("\n".join([*faults, f"All other matches were copied: {copied}."]))
    return copied


def rewrite_legacy_matches(table: DynamoTable, reader: DynamoMatchReader) -> int:
    """Rewrite the finished matches of earlier versions as plain attributes; return how many."""
    ids = legacy_finished_match_ids(table)
    for match_id in ids:
        rewrite_match(table, reader, match_id, _summarize_moves)
    return len(ids)


def _summarize_moves(record: MatchRecord, moves: Sequence[MoveRecord]) -> Summaries:
    try:
        lazy_import = game_of_match(record).summarize_moves
    except InvalidInput:
        return NO_SUMMARIES
    return NO_SUMMARIES if lazy_import is None else lazy_import.load()(record, moves)
