"""What players of Dead Man's Draw decide on tables written by hand (`samples/decisions.txt`)."""

from random import Random

import pytest
from support.positions import card, effect, position
from support.recorded import rows

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import build


def table_of(text: str) -> Position:
    """The table of a line, such as `area Key3 Hook2; own Map4; pending Hook`."""
    found = dict(part.strip().split(" ", 1) for part in text.split(";") if part.strip())
    if "pending" not in found:
        return position(**found)
    name, *more = found.pop("pending").split()
    owed = int(more.pop()) if more and more[-1].isdigit() else 0
    return position(**found, pending=effect(EffectType(name), " ".join(more), owed))


def action_of(text: str, table: Position) -> Action:
    if text in {"Draw", "EndTurn"}:
        return DRAW if text == "Draw" else END_TURN
    assert table.pending is not None
    return respond(table.pending.effect_type, None if text == "none" else card(text))


@pytest.mark.parametrize("line", rows("decisions"))
def test_a_player_decides_as_it_is_written(line: str) -> None:
    told, action = line.split(" -> ")
    name, _, shown = told.partition(" ")
    table = table_of(shown)
    assert build(name, Random(0)).decide(table).action == action_of(action, table)
