"""The perfect player as the judge: who is to act wins or loses, and nothing lies between."""

from collections.abc import Sequence
from random import Random

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.judge import Judge
from cardsharp.strategy import Decision
from nim.position import Position
from nim.rules import Action
from nim.strategies import build
from nim.wire import MoveBody


class Solution(Judge):
    """The exact worth of every action."""

    name = "perfect"

    def weigh(self, position: Position, also: Sequence[Action] = ()) -> Decision[Action]:
        """What the perfect player does, with the worth of everything that may be taken."""
        del also
        return build(self.name, Random(0)).decide(position)

    def result(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """1 where the first player took the last stone."""
        del record
        told = [MoveBody.model_validate(move.facts) for move in moves if move.facts is not None]
        if not told or any(told[-1].left):
            return None
        return float(told[-1].seat == 0)


JUDGE = Solution()
