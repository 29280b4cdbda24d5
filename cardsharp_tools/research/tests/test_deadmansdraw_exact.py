"""Tests of the exact solver of the last cards, and of bounds on the value of a match.

Both are compared with values from brute force.
"""

import json
from collections import Counter
from itertools import permutations
from pathlib import Path
from random import Random
from statistics import fmean

import pytest
from support.brute_force import action_values, tiny_endgame

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.actions import EffectType, respond
from cardsharp.games.deadmansdraw.cards import SERVER_DECK, Suit, bank_from_cards
from cardsharp.games.deadmansdraw.rules import legal_actions, start
from cardsharp.games.deadmansdraw.simulation import (
    SimulatedDeadMansDrawMatch,
    match_from_state,
    random_card_picker,
)
from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model
from cardsharp_tools.research.deadmansdraw.bounds import (
    BestReplyBounds,
    BoundsOptions,
    NativeSideValues,
    bounds,
)
from cardsharp_tools.research.deadmansdraw.exact_solver import ExactSolver
from cardsharp_tools.research.deadmansdraw.losses import LossesOptions, losses
from cardsharp_tools.research.deadmansdraw.native import NativeEngine
from cardsharp_tools.research.tests.decision_comparison import needs_compiler

BATCHES, POSITIONS_PER_BATCH = 20, 50
FOUR_SUITS = (Suit.KEY, Suit.CANNON, Suit.MERMAID, Suit.SWORD)
ALL_CARDS = 60


def advance_match(match: SimulatedDeadMansDrawMatch, rng: Random) -> SimulatedDeadMansDrawMatch:
    """Return the match some random actions later.

    The match is not over, and effects may be pending.
    """
    for _ in range(rng.randint(0, 3)):
        next_match = match.with_action(
            rng.choice(legal_actions(match.state)), random_card_picker(rng)
        )
        if next_match.state.active_player is None:
            return match
        match = next_match
    return match


@pytest.mark.parametrize("batch", range(BATCHES))
def test_solver_agrees_with_brute_force_on_tiny_decks(engine: NativeEngine, batch: int) -> None:
    rng, effect_counts = Random(f"tiny/{batch}"), Counter[object]()
    solver = ExactSolver(engine, bits=12)
    while effect_counts.total() < POSITIONS_PER_BATCH:
        match = advance_match(tiny_endgame(rng), rng)
        position = match.current_position
        if position.known_top is not None and position.pending is None:
            continue  # nobody tells the small solver that a card was refused
        values, expected_values = solver.option_values(position), action_values(match.state)
        expected_values.pop(respond(EffectType.ORACLE), None)
        assert values == pytest.approx(expected_values, abs=1e-12)
        effect_counts[position.pending and position.pending.effect_type] += 1
    assert len(effect_counts) >= 4


@pytest.mark.parametrize("seed", range(20))
def test_solver_cache_holds_for_other_positions(engine: NativeEngine, seed: int) -> None:
    """Check that values cached for other positions are right with the same draw pile.

    The same four cards are left, and the others lie elsewhere each time.
    """
    rng = Random(f"remembered/{seed}")
    deck = rng.sample([card for card in SERVER_DECK if card.suit in FOUR_SUITS], 14)
    solver = ExactSolver(engine, bits=14)
    for _ in range(30):
        pile, rest = deck[:4], rng.sample(deck[4:], 10)
        first_cut, second_cut = sorted(rng.choices(range(8), k=2))
        banks = bank_from_cards(rest[:first_cut]), bank_from_cards(rest[first_cut:second_cut])
        position = match_from_state(
            start(tuple(pile), tuple(rest[second_cut:]), 0, banks)
        ).current_position
        fresh_values = ExactSolver(engine, bits=14).option_values(position)
        assert solver.option_values(position) == pytest.approx(fresh_values, abs=1e-12)


@needs_compiler
def test_losses_run_resumes_from_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A losses run with the same command resumes, and most of its losses are exact."""

    def run_losses(**overrides: object) -> dict[str, dict[str, float]]:
        losses(options=LossesOptions(cards=2, as_json=True, **overrides))  # type: ignore[arg-type]
        document: dict[str, dict[str, dict[str, float]]] = json.loads(capsys.readouterr().out)
        return document["byLeft"]

    full_run, output_file = run_losses(matches=6), tmp_path / "kept.jsonl"
    run_losses(matches=2, out=output_file)
    assert run_losses(matches=6, out=output_file) == full_run
    totals = full_run["all"]
    assert totals["positions"] == totals["solved"] >= totals["exact"] > totals["positions"] / 2
    assert 0 <= totals["loss"] < 10
    with pytest.raises(ConfigError, match="belongs to another run"):
        run_losses(matches=6, seed=2, out=output_file)


def build_exact_bounds(engine: NativeEngine, exact_from_cards: int) -> BestReplyBounds:
    """Return the bounds of captain against perfect play; the exact solver plays the last cards."""
    solver, captain = ExactSolver(engine, bits=12), engine.captain_player(load_model(WEIGHT_FILE))
    return BestReplyBounds(
        engine, solver, solver.perfect_endgame_player(captain, ALL_CARDS), captain, exact_from_cards
    )


def bounds_by_pile_order(
    bounds: BestReplyBounds, match: SimulatedDeadMansDrawMatch
) -> list[list[NativeSideValues]]:
    """Return the bounds of every order of the draw pile, each with another seed of picks."""
    orders = permutations(match.state.draw_pile)
    return [
        bounds.bounds_from_position(match.current_position, pile_order, seed)
        for seed, pile_order in enumerate(orders)
    ]


@pytest.mark.parametrize("batch", range(4))
def test_bounds_have_no_gap_if_the_judge_is_exact(engine: NativeEngine, batch: int) -> None:
    """Check that both bounds equal the value if the judge is exact.

    Knowing coming cards is then worth at most its price, also with Maps and bonuses.
    """
    rng, exact_bounds = (
        Random(f"bounds/{batch}"),
        build_exact_bounds(engine, exact_from_cards=ALL_CARDS),
    )
    for _ in range(60):
        match = tiny_endgame(rng)
        match_value = max(action_values(match.state).values())
        for side_bounds in bounds_by_pile_order(exact_bounds, match):
            for bound, value in zip(side_bounds, (match_value, 1 - match_value), strict=True):
                assert bound.clairvoyant_share == pytest.approx(value, abs=1e-9)
                assert bound.player_share == pytest.approx(value, abs=1e-9)
                assert bound.stronger_share < value + 1e-9


def test_bounds_enclose_the_value_if_the_judge_is_wrong(engine: NativeEngine) -> None:
    """Check the bounds in the mean over all orders of the draw pile.

    The correction for knowledge of the order is 0 in the mean for a player that does not
    know it.
    """
    rng, inexact_bounds, gaps = (
        Random("bounds"),
        build_exact_bounds(engine, exact_from_cards=0),
        list[float](),
    )
    for _ in range(80):
        match = tiny_endgame(
            rng, excluded_suits=(Suit.MAP, Suit.CHEST)
        )  # no pick, so the orders are all chance
        match_value = max(action_values(match.state).values())
        sides_by_order = bounds_by_pile_order(inexact_bounds, match)
        for side, value in enumerate((match_value, 1 - match_value)):
            all_orders = [sides[side] for sides in sides_by_order]
            assert fmean(bound.player_share for bound in all_orders) == pytest.approx(
                value, abs=1e-9
            )
            assert fmean(bound.stronger_share for bound in all_orders) < value + 1e-9
            gaps.append(fmean(bound.clairvoyant_share for bound in all_orders) - value)
    assert min(gaps) > -1e-9
    assert max(gaps) > 0.01


@needs_compiler
def test_bounds_run_resumes_from_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run_bounds(**overrides: object) -> dict[str, dict[str, float]]:
        options = {"cards": 4, "exact_cards": 2, "as_json": True, **overrides}
        bounds(options=BoundsOptions(**options))  # type: ignore[arg-type]
        document: dict[str, dict[str, float]] = json.loads(capsys.readouterr().out)
        return document

    full_run, output_file = run_bounds(matches=8), tmp_path / "kept.jsonl"
    run_bounds(matches=3, out=output_file)
    resumed = run_bounds(matches=8, out=output_file)
    assert (resumed["below"], resumed["above"]) == (full_run["below"], full_run["above"])
    assert full_run["below"]["points"] < full_run["above"]["points"] + 1e-9
    assert run_bounds(matches=8, nodes=1)["above"] is None
    with pytest.raises(ConfigError, match="belongs to another run"):
        run_bounds(matches=8, seed=2, out=output_file)
