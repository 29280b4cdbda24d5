"""The decisions of a stored game, as positions that can be decided again: everybody's."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.replay import Asked, Thought
from nim.position import Position
from nim.replay import replay
from nim.rules import Action
from nim.wire import MoveBody


def decisions(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
    """Every decision, in order: the heaps before it are those that it left and what it took."""
    told = [MoveBody.model_validate(move.facts) for move in moves if move.facts is not None]
    for step, move in zip(replay(record, moves), told, strict=True):
        heaps, action = list(move.left), Action(move.heap, move.stones)
        heaps[move.heap] += move.stones
        position = Position(tuple(heaps), move.seat, step.turn)
        thought = step.ours or Thought(seat=move.seat, turn=step.turn, action=str(action))
        legal = {one: str(one) for one in position.legal_actions()}
        yield Asked(replace(step, ours=thought), position, legal)
