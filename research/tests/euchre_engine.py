"""Parts of the compiled engine of Euchre, asked one by one."""

import ctypes
from collections.abc import Sequence

from cardsharp.euchre.actions import Action
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies.layout import Mask, layout
from cardsharp.euchre.strategies.playout import PlayStage, Seating
from cardsharp.euchre.strategies.thumb import CALLER
from research.euchre.compiled import action_of, opened, told_of


def ruled(view: Position) -> Action:
    """What the compiled `rules` decides."""
    return action_of(view.question, opened().euchre_rules(*told_of(view)))


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
