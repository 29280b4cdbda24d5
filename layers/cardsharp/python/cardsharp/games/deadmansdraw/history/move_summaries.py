"""Moves of a stored match of Dead Man's Draw as people see them in the match log's table."""

from collections.abc import Sequence

from cardsharp.analysis.replay import header_of
from cardsharp.games.deadmansdraw.history.log_records import MoveSummarizer
from cardsharp.games.deadmansdraw.history.replay import opening_info_and_steps
from cardsharp.store.match_log import MatchRecord, MoveRecord, Summaries


def summarize_moves(record: MatchRecord, moves: Sequence[MoveRecord]) -> Summaries:
    """Return the summaries of a stored match; raise `StoreError` if it cannot be read."""
    public_info, steps = opening_info_and_steps(record, moves)
    tracker = MoveSummarizer(public_info, header_of(record).names)
    return {step.sequence: tracker.summarize(step.past_move, step.played_at) for step in steps}
