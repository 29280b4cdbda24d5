"""A stored game of Nim; each move is a turn."""

from collections.abc import Iterator, Sequence

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.replay import Step, Thought, parse
from nim.rules import Action
from nim.wire import MoveBody


def replay(_record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Step]:
    """The steps of a game; a move that the service has not told yet is not there."""
    for move in moves:
        if move.facts is not None:
            told = MoveBody.model_validate(move.facts)
            action = str(Action(told.heap, told.stones))
            ours = None if move.intent is None else parse(Thought, move.intent)
            yield Step(
                sequence=move.sequence,
                turn=move.sequence + 1,
                seat=told.seat,
                happened=f"{told.player} takes {action}",
                state={"heaps": told.left},
                ours=ours if ours is not None and ours.action == action else None,
            )
