"""The look-ahead on sums agrees with the rules, card by card and choice by choice."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.expectimax import value
from support.matches import RunningMatch
from support.positions import KINDS, opening, small_opening

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, respond
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import apply
from cardsharp.deadmansdraw.simulation import fair_chance
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.strategies.lookahead import Lookahead

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


@settings(max_examples=40, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from(KINDS))
def test_a_known_card_leads_where_the_rules_lead(seed: int, kind: str) -> None:
    """In whole matches, each unseen card drawn in the search gives the points it really gives."""
    rng = Random(seed)
    match = RunningMatch(opening(kind, rng), fair_chance(rng))
    while match.state.active is not None:
        position = match.position()
        if position.pending is None and position.known_top is None:
            for card in rng.sample(position.unseen, min(8, len(position.unseen))):
                check_next_card(replace(position, known_top=card))
        match.play(rng.choice(position.legal_actions()))


def check_next_card(position: Position) -> None:
    """Compare a draw of the known card where neither an effect nor a bonus leaves it open."""
    picks: list[int] = []

    def noted(pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
        picks.append(number)
        return pile[:number]

    state, _ = apply(position.state(), DRAW, noted)
    if state.pending is None and not state.between_turns:
        state, _ = apply(state, END_TURN, noted)
    if state.pending is None and not picks:
        look = Lookahead(position)
        points = state.scores[position.me] - state.scores[1 - position.me]
        assert look.draw(look.root) == pytest.approx(points, abs=1e-9), position
