"""Parts of the compiled engine of Euchre, asked one by one."""

import ctypes
from collections.abc import Sequence

from cardsharp.euchre.actions import Action
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision
from cardsharp.euchre.strategies.layout import Mask, layout
from cardsharp.euchre.strategies.playout import PlayStage, Seating
from cardsharp.euchre.strategies.thumb import CALLER
from research.euchre.compiled import Answer, action_of, decision_of, opened, told_of


def ruled(view: Position) -> Action:
    """What the compiled `rules` decides."""
    return action_of(view.question, opened().euchre_rules(*told_of(view)))


def answered(view: Position, worlds: int) -> Decision:
    """The best answer to others who play by the rules, over so many worlds; of a card only."""
    answer = Answer()
    opened().euchre_answer(*told_of(view), worlds, ctypes.byref(answer))
    return decision_of(view.question, answer, "The best answer to `rules`.")


def makes(table: Seating, hands: Sequence[Mask], stage: PlayStage, need: int) -> tuple[bool, int]:
    """What the compiled exact search finds before a trick, and the positions it looked at."""
    nodes = ctypes.c_int64()
    back = layout(table.trump).back
    sets = (ctypes.c_int * 4)(*(back(hand & ~stage.gone) for hand in hands))
    out = sum(1 << seat for seat in table.out)
    caller = table.place.index(CALLER)
    found = opened().euchre_makes(
        sets, table.trump, caller, out, stage.seat, need, ctypes.byref(nodes)
    )
    return bool(found), nodes.value
