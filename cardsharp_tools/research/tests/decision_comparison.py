"""The lab's compiled engine beside plain Python, decision by decision."""

import ctypes
from collections.abc import Callable, Iterator
from random import Random

import pytest

from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.simulation import (
    deal_state,
    match_from_state,
    random_card_picker,
)
from cardsharp.games.deadmansdraw.strategies import Strategy
from cardsharp.games.deadmansdraw.strategies.search.card_sets import CARD_NUMBER
from cardsharp_tools.lab.rng import RngPurpose, pair_rng
from cardsharp_tools.research.c_library import declare_function, unavailable_reason
from cardsharp_tools.research.deadmansdraw.exact_solver import MAX_OPTIONS, NativeOption
from cardsharp_tools.research.deadmansdraw.native import NativePlayer, load_engine

needs_compiler = pytest.mark.skipif(
    unavailable_reason() is not None, reason=f"no compiled engine: {unavailable_reason()}"
)

MAX_MATCHES = 1000

Maker = Callable[[Random], Strategy]


def action_code(action: Action) -> int:
    """The number by which core.h knows an action."""
    if action in (DRAW, END_TURN):
        return 60 if action == DRAW else 61
    return 62 if action.card is None else CARD_NUMBER[action.card]


def assert_same_decisions(twin: NativePlayer, maker: Maker, matches: int) -> None:
    """The compiled policy decides as the plain strategy in matches of random moves."""
    for pair_number in range(matches):
        plain = list(python_decisions(maker, 11, pair_number))
        assert len(plain) > 30
        compiled = _trace_native_decisions(twin, 11, pair_number, None, None)
        for (position, python_code), compiled_code in zip(plain, compiled, strict=True):
            assert python_code == compiled_code, position


def compiled_options(
    captain: NativePlayer, seed: int, pair_number: int
) -> list[list[tuple[int, float]]]:
    """The options of each position of such a match, none where there is no choice."""
    options, option_counts = (
        (NativeOption * (MAX_MATCHES * MAX_OPTIONS))(),
        (ctypes.c_int32 * MAX_MATCHES)(),
    )
    decided = len(_trace_native_decisions(captain, seed, pair_number, options, option_counts))
    starts = range(0, MAX_OPTIONS * decided, MAX_OPTIONS)
    return [
        [(option.action, option.value) for option in options[start : start + many]]
        for start, many in zip(starts, option_counts, strict=False)
    ]


def _trace_native_decisions(
    twin: NativePlayer, seed: int, pair_number: int, *outputs: object
) -> list[int]:
    """Return a native player's decisions in a match of random moves (native/trace.c)."""
    engine = load_engine()
    assert engine is not None
    decisions, decide_all = (ctypes.c_int32 * MAX_MATCHES)(), engine.library.decide_all
    declare_function(decide_all, "PQQiPPP")
    return list(
        decisions[: decide_all(twin.policy, seed, pair_number, MAX_MATCHES, decisions, *outputs)]
    )


def python_decisions(
    maker: Maker, seed: int, pair_number: int
) -> Iterator[tuple[DeadMansDrawPosition, int]]:
    """The same match in plain Python: each position and what the strategy decides there."""
    driver, player_rng = (
        pair_rng(seed, pair_number, RngPurpose.FIRST),
        pair_rng(seed, pair_number, RngPurpose.SECOND),
    )
    card_picker = random_card_picker(pair_rng(seed, pair_number, RngPurpose.CHANCE))
    match = match_from_state(deal_state(pair_rng(seed, pair_number, RngPurpose.DECK)))
    player = maker(player_rng)
    while match.state.active_player is not None:
        position = match.current_position
        move = player.decide(position).action
        yield position, action_code(move)
        pending = position.pending
        oracle = pending is not None and pending.effect_type is EffectType.ORACLE
        moves = sorted(position.legal_actions(), key=action_code)
        by_policy = bool(driver.randrange(2)) or oracle
        move = move if by_policy else moves[driver.randrange(len(moves))]
        match = match.with_action(move, card_picker)
