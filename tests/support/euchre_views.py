"""Views of dealt deals, to ask players about."""

from cardsharp.euchre.actions import Question
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.rules import turn
from support.euchre_random import decisions


def views(count: int, *questions: Question) -> list[Position]:
    """What is asked in that many deals played at random; of some questions only, or of all."""
    found = []
    for seed in range(count):
        for deal in decisions(seed):
            now = turn(deal.table)
            assert now is not None
            if not questions or now.question in questions:
                found.append(project(deal, now.seat))
    return found
