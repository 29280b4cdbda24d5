"""The lab's compiled engine beside plain Python, decision by decision."""

import ctypes
from collections.abc import Iterator

import pytest

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType
from cardsharp.deadmansdraw.cards import SERVER_DECK
from cardsharp.deadmansdraw.position import Position
from workbench.lab import native
from workbench.lab.dice import Purpose, dice
from workbench.lab.native import NativePolicy
from workbench.lab.selfplay import Maker, Match, deal, fair_chance

needs_compiler = pytest.mark.skipif(
    native.why_not() is not None, reason=f"no compiled engine: {native.why_not()}"
)

CODES = {card: code for code, card in enumerate(SERVER_DECK)}
MOST = 1000


def code_of(action: Action) -> int:
    """The number by which core.h knows an action."""
    if action in (DRAW, END_TURN):
        return 60 if action == DRAW else 61
    card = action.response.card if action.response else None
    return 62 if card is None else CODES[card]


def compiled_decisions(policy: NativePolicy, seed: int, number: int) -> list[int]:
    """What the compiled policy decides in a match of random moves (native/trace.c)."""
    engine = native.load()
    assert engine is not None
    found = (ctypes.c_int32 * MOST)()
    decide_all = engine.library.decide_all
    decide_all.argtypes = (
        ctypes.c_void_p,
        ctypes.c_uint64,
        ctypes.c_uint64,
        ctypes.POINTER(ctypes.c_int32),
        ctypes.c_int,
    )
    return list(found[: decide_all(policy.address, seed, number, found, MOST)])


def plain_decisions(maker: Maker, seed: int, number: int) -> Iterator[tuple[Position, int]]:
    """The same match in plain Python: each position and what the strategy decides there."""
    driver, own = dice(seed, number, Purpose.FIRST), dice(seed, number, Purpose.SECOND)
    match = Match(
        deal(dice(seed, number, Purpose.DECK)), fair_chance(dice(seed, number, Purpose.CHANCE))
    )
    player = maker(own)
    while match.state.active is not None:
        position = match.position()
        move = player.decide(position).action
        yield position, code_of(move)
        pending = position.pending
        oracle = pending is not None and pending.effect_type is EffectType.ORACLE
        moves = sorted(position.legal_actions(), key=code_of)
        by_policy = bool(driver.randrange(2)) or oracle
        match.play(move if by_policy else moves[driver.randrange(len(moves))])
