"""Helpers that compare decisions of the compiled engine with those of plain Python."""

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

StrategyFactory = Callable[[Random], Strategy]


def native_action_number(action: Action) -> int:
    """Return the number of an action in core.h."""
    if action in (DRAW, END_TURN):
        return 60 if action == DRAW else 61
    return 62 if action.card is None else CARD_NUMBER[action.card]


def assert_same_decisions(
    compiled_player: NativePlayer, strategy_factory: StrategyFactory, match_count: int
) -> None:
    """Assert that a compiled policy decides as the Python strategy in matches of random moves."""
    for pair_number in range(match_count):
        python_trace = list(python_decisions(strategy_factory, 11, pair_number))
        assert len(python_trace) > 30
        native_trace = _trace_native_decisions(compiled_player, 11, pair_number, None, None)
        for (position, python_code), compiled_code in zip(python_trace, native_trace, strict=True):
            assert python_code == compiled_code, position


def compiled_options(
    captain: NativePlayer, seed: int, pair_number: int
) -> list[list[tuple[int, float]]]:
    """Return the compiled options and values in each position of such a match.

    A position without a choice has none.
    """
    options, option_counts = (
        (NativeOption * (MAX_MATCHES * MAX_OPTIONS))(),
        (ctypes.c_int32 * MAX_MATCHES)(),
    )
    decision_count = len(
        _trace_native_decisions(captain, seed, pair_number, options, option_counts)
    )
    starts = range(0, MAX_OPTIONS * decision_count, MAX_OPTIONS)
    return [
        [(option.action, option.value) for option in options[start : start + option_count]]
        for start, option_count in zip(starts, option_counts, strict=False)
    ]


def _trace_native_decisions(
    native_player: NativePlayer, seed: int, pair_number: int, *outputs: object
) -> list[int]:
    """Return a native player's decisions in a match of random moves (native/decision_trace.c)."""
    engine = load_engine()
    assert engine is not None
    decisions, trace_decisions = (ctypes.c_int32 * MAX_MATCHES)(), engine.library.trace_decisions
    declare_function(trace_decisions, "PQQiPPP")
    return list(
        decisions[
            : trace_decisions(
                native_player.policy, seed, pair_number, MAX_MATCHES, decisions, *outputs
            )
        ]
    )


def python_decisions(
    strategy_factory: StrategyFactory, seed: int, pair_number: int
) -> Iterator[tuple[DeadMansDrawPosition, int]]:
    """Play a match in plain Python; yield each position and what the strategy decides there."""
    driver_rng, player_rng = (
        pair_rng(seed, pair_number, RngPurpose.FIRST),
        pair_rng(seed, pair_number, RngPurpose.SECOND),
    )
    card_picker = random_card_picker(pair_rng(seed, pair_number, RngPurpose.CHANCE))
    match = match_from_state(deal_state(pair_rng(seed, pair_number, RngPurpose.DECK)))
    player = strategy_factory(player_rng)
    while match.state.active_player is not None:
        position = match.current_position
        move = player.decide(position).action
        yield position, native_action_number(move)
        pending = position.pending
        is_oracle = pending is not None and pending.effect_type is EffectType.ORACLE
        moves = sorted(position.legal_actions(), key=native_action_number)
        follows_policy = bool(driver_rng.randrange(2)) or is_oracle
        move = move if follows_policy else moves[driver_rng.randrange(len(moves))]
        match = match.with_action(move, card_picker)
