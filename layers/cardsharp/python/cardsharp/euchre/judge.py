"""`pimc` as the judge of Euchre: the points that a side expects to make of the deal, less theirs.

A match of the log is one deal, so what it does to the game to ten is not told.
"""

from collections.abc import Sequence

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.euchre.actions import Action
from cardsharp.euchre.decisions import asking
from cardsharp.euchre.luck import luck_of
from cardsharp.euchre.position import Position
from cardsharp.euchre.replay import dealt_of
from cardsharp.euchre.rules import score
from cardsharp.euchre.strategies.base import Decision
from cardsharp.euchre.strategies.pimc import Pimc
from cardsharp.euchre.table import turn
from cardsharp.judge import Judge


class EnginesJudgement(Judge):
    """What the engine thinks over the worlds that a position allows, the same ones each time."""

    name = "pimc"
    unit = "points of the deal"
    form = "+.2f"
    total = 0.0
    stake = 4.0
    """The most that a deal brings: all tricks, alone."""
    chance_deals = True

    def weigh(self, position: Position, also: Sequence[Action] = ()) -> Decision:
        """Its decision; one without a choice has no worth, which is no loss."""
        return Pimc().weigh(position, also)

    def result(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """The points of the seats 0 and 2, less those of 1 and 3."""
        told = list(asking(record, moves))
        if not told or len(told) < len(moves):
            return None
        table = told[-1].table.after(told[-1].seat, told[-1].action)
        if turn(table) is not None:
            return None
        points = score(table).points
        return float(points[0] - points[1])

    def chance(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """What the deal brought, where the record tells all of it."""
        del moves
        cards = dealt_of(record)
        return None if cards is None else luck_of(cards)


JUDGE = EnginesJudgement()
