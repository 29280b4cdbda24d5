"""Perfect play of the last cards, and bounds on either side, against trying everything."""

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

BATCHES, EACH = 20, 50
FEW = (Suit.KEY, Suit.CANNON, Suit.MERMAID, Suit.SWORD)
ALL = 60


def advance_match(match: SimulatedDeadMansDrawMatch, rng: Random) -> SimulatedDeadMansDrawMatch:
    """The match some random actions later, not ended, so that effects are pending too."""
    for _ in range(rng.randint(0, 3)):
        later = match.with_action(rng.choice(legal_actions(match.state)), random_card_picker(rng))
        if later.state.active_player is None:
            return match
        match = later
    return match


@pytest.mark.parametrize("batch", range(BATCHES))
def test_tiny_decks_as_by_trying_everything(engine: NativeEngine, batch: int) -> None:
    dice, kinds = Random(f"tiny/{batch}"), Counter[object]()
    solver = ExactSolver(engine, bits=12)
    while kinds.total() < EACH:
        match = advance_match(tiny_endgame(dice), dice)
        position = match.current_position
        if position.known_top is not None and position.pending is None:
            continue  # nobody tells the small solver that a card was refused
        values, right = solver.option_values(position), action_values(match.state)
        right.pop(respond(EffectType.ORACLE), None)
        assert values == pytest.approx(right, abs=1e-12)
        kinds[position.pending and position.pending.effect_type] += 1
    assert len(kinds) >= 4


@pytest.mark.parametrize("seed", range(20))
def test_solver_cache_holds_for_other_positions(engine: NativeEngine, seed: int) -> None:
    """The same four cards are left, and the others lie elsewhere each time."""
    dice = Random(f"remembered/{seed}")
    deck = dice.sample([card for card in SERVER_DECK if card.suit in FEW], 14)
    solver = ExactSolver(engine, bits=14)
    for _ in range(30):
        pile, rest = deck[:4], dice.sample(deck[4:], 10)
        first_cut, second_cut = sorted(dice.choices(range(8), k=2))
        banks = bank_from_cards(rest[:first_cut]), bank_from_cards(rest[first_cut:second_cut])
        position = match_from_state(
            start(tuple(pile), tuple(rest[second_cut:]), 0, banks)
        ).current_position
        afresh = ExactSolver(engine, bits=14).option_values(position)
        assert solver.option_values(position) == pytest.approx(afresh, abs=1e-12)


@needs_compiler
def test_losses_run_resumes_from_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same command goes on; of what captain loses nearly all is known exactly."""

    def run_losses(**overrides: object) -> dict[str, dict[str, float]]:
        losses(options=LossesOptions(cards=2, as_json=True, **overrides))  # type: ignore[arg-type]
        document: dict[str, dict[str, dict[str, float]]] = json.loads(capsys.readouterr().out)
        return document["byLeft"]

    at_once, output_file = run_losses(matches=6), tmp_path / "kept.jsonl"
    run_losses(matches=2, out=output_file)
    assert run_losses(matches=6, out=output_file) == at_once
    every = at_once["all"]
    assert every["positions"] == every["solved"] >= every["exact"] > every["positions"] / 2
    assert 0 <= every["loss"] < 10
    with pytest.raises(ConfigError, match="belongs to another run"):
        run_losses(matches=6, seed=2, out=output_file)


def build_exact_bounds(engine: NativeEngine, exact_from_cards: int) -> BestReplyBounds:
    """Return the bounds of captain against perfect play; the exact solver plays the last cards."""
    solver, captain = ExactSolver(engine, bits=12), engine.captain_player(load_model(WEIGHT_FILE))
    return BestReplyBounds(
        engine, solver, solver.perfect_player(captain, ALL), captain, exact_from_cards
    )


def bounds_by_pile_order(
    bounds: BestReplyBounds, match: SimulatedDeadMansDrawMatch
) -> list[list[NativeSideValues]]:
    """The bounds of every order of the pile, each with other picks."""
    orders = permutations(match.state.draw_pile)
    return [
        bounds.values_from_position(match.current_position, pile_order, seed)
        for seed, pile_order in enumerate(orders)
    ]


@pytest.mark.parametrize("batch", range(4))
def test_bounds_have_no_gap_if_the_judge_is_exact(engine: NativeEngine, batch: int) -> None:
    """Check that both bounds equal the value if the judge is exact.

    Knowing coming cards is then worth at most its price, also with Maps and bonuses.
    """
    dice, trial = Random(f"bounds/{batch}"), build_exact_bounds(engine, exact_from_cards=ALL)
    for _ in range(60):
        match = tiny_endgame(dice)
        right = max(action_values(match.state).values())
        for sides in bounds_by_pile_order(trial, match):
            for bound, value in zip(sides, (right, 1 - right), strict=True):
                assert bound.best == pytest.approx(value, abs=1e-9)
                assert bound.itself == pytest.approx(value, abs=1e-9)
                assert bound.stronger < value + 1e-9


def test_bounds_enclose_the_value_if_the_judge_is_wrong(engine: NativeEngine) -> None:
    """Over all orders: what is paid is 0 in the mean for who does not know them."""
    dice, trial, gaps = (
        Random("bounds"),
        build_exact_bounds(engine, exact_from_cards=0),
        list[float](),
    )
    for _ in range(80):
        match = tiny_endgame(
            dice, without=(Suit.MAP, Suit.CHEST)
        )  # no pick, so the orders are all chance
        right = max(action_values(match.state).values())
        sides_by_order = bounds_by_pile_order(trial, match)
        for side, value in enumerate((right, 1 - right)):
            all_orders = [sides[side] for sides in sides_by_order]
            assert fmean(bound.itself for bound in all_orders) == pytest.approx(value, abs=1e-9)
            assert fmean(bound.stronger for bound in all_orders) < value + 1e-9
            gaps.append(fmean(bound.best for bound in all_orders) - value)
    assert min(gaps) > -1e-9
    assert max(gaps) > 0.01


@needs_compiler
def test_bounds_are_taken_up_from_their_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_bounds(**overrides: object) -> dict[str, dict[str, float]]:
        options = {"cards": 4, "exact_cards": 2, "as_json": True, **overrides}
        bounds(options=BoundsOptions(**options))  # type: ignore[arg-type]
        document: dict[str, dict[str, float]] = json.loads(capsys.readouterr().out)
        return document

    at_once, output_file = run_bounds(matches=8), tmp_path / "kept.jsonl"
    run_bounds(matches=3, out=output_file)
    resumed = run_bounds(matches=8, out=output_file)
    assert (resumed["below"], resumed["above"]) == (at_once["below"], at_once["above"])
    assert at_once["below"]["points"] < at_once["above"]["points"] + 1e-9
    assert run_bounds(matches=8, nodes=1)["above"] is None
    with pytest.raises(ConfigError, match="belongs to another run"):
        run_bounds(matches=8, seed=2, out=output_file)
