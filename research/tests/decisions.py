"""The lab's compiled engine beside plain Python, decision by decision."""

import ctypes
from collections.abc import Callable, Iterator
from random import Random

import pytest

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.simulation import deal, fair_chance, match_from
from cardsharp.deadmansdraw.strategies import Strategy
from cardsharp.deadmansdraw.strategies.search.sets import NUMBER
from research.compiling import declare, why_not
from research.deadmansdraw.engine import Twin, load
from research.deadmansdraw.exact import MOST_OPTIONS, COption
from workbench.lab.dice import DicePurpose, dice

needs_compiler = pytest.mark.skipif(
    why_not() is not None, reason=f"no compiled engine: {why_not()}"
)

MOST = 1000

Maker = Callable[[Random], Strategy]


def code_of(action: Action) -> int:
    """The number by which core.h knows an action."""
    if action in (DRAW, END_TURN):
        return 60 if action == DRAW else 61
    return 62 if action.card is None else NUMBER[action.card]


def assert_alike(twin: Twin, maker: Maker, matches: int) -> None:
    """The compiled policy decides as the plain strategy in matches of random moves."""
    for number in range(matches):
        plain = list(plain_decisions(maker, 11, number))
        assert len(plain) > 30
        compiled = _traced(twin, 11, number, None, None)
        for (position, code), other in zip(plain, compiled, strict=True):
            assert code == other, position


def compiled_options(captain: Twin, seed: int, number: int) -> list[list[tuple[int, float]]]:
    """The options of each position of such a match, none where there is no choice."""
    options, numbers = (COption * (MOST * MOST_OPTIONS))(), (ctypes.c_int32 * MOST)()
    decided = len(_traced(captain, seed, number, options, numbers))
    starts = range(0, MOST_OPTIONS * decided, MOST_OPTIONS)
    return [
        [(option.action, option.value) for option in options[start : start + many]]
        for start, many in zip(starts, numbers, strict=False)
    ]


def _traced(twin: Twin, seed: int, number: int, *found: object) -> list[int]:
    """What it decides in a match of random moves (native/trace.c)."""
    engine = load()
    assert engine is not None
    decisions, decide_all = (ctypes.c_int32 * MOST)(), engine.library.decide_all
    declare(decide_all, "PQQiPPP")
    return list(decisions[: decide_all(twin.policy, seed, number, MOST, decisions, *found)])


def plain_decisions(maker: Maker, seed: int, number: int) -> Iterator[tuple[Position, int]]:
    """The same match in plain Python: each position and what the strategy decides there."""
    driver, own = dice(seed, number, DicePurpose.FIRST), dice(seed, number, DicePurpose.SECOND)
    chance = fair_chance(dice(seed, number, DicePurpose.CHANCE))
    match = match_from(deal(dice(seed, number, DicePurpose.DECK)))
    player = maker(own)
    while match.state.active is not None:
        position = match.position
        move = player.decide(position).action
        yield position, code_of(move)
        pending = position.pending
        oracle = pending is not None and pending.effect_type is EffectType.ORACLE
        moves = sorted(position.legal_actions(), key=code_of)
        by_policy = bool(driver.randrange(2)) or oracle
        move = move if by_policy else moves[driver.randrange(len(moves))]
        match = match.after(move, chance)
