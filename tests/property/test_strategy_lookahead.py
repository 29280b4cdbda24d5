"""The look-ahead on sums agrees with the rules, card by card and choice by choice."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.expectimax import value
from support.matches import RunningMatch
from support.positions import small_opening

from cardsharp.deadmansdraw.actions import Action, respond
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.simulation import fair_chance
from cardsharp.deadmansdraw.strategies import build

SEEDS = st.integers(0, 10**9)


def options(position: Position) -> list[tuple[Action, float]]:
    """The values that steady gives, but for an Oracle's refusal, which is never better."""
    decision = build("steady", Random(0)).decide(position)
    refusal = None if position.pending is None else respond(position.pending.effect_type)
    return [
        (option.action, option.value) for option in decision.options if option.action != refusal
    ]


@settings(max_examples=120, deadline=None, derandomize=True)
@given(SEEDS)
def test_values_equal_an_exhaustive_search_by_the_rules(seed: int) -> None:
    """Every option in every state of a small table's first turn has its exact value."""
    rng = Random(seed)
    match = RunningMatch(small_opening(rng), fair_chance(rng))
    while match.state.active is not None and not match.state.between_turns:
        position = match.position()
        for action, worth in options(position):
            assert worth == pytest.approx(value(position, action), abs=1e-9), (position, action)
        match.play(rng.choice(position.legal_actions()))
