"""Perfect play of the last cards, and bounds on either side, against trying everything."""

import json
from collections import Counter
from itertools import permutations
from pathlib import Path
from random import Random
from statistics import fmean

import pytest
from support.perfect import tiny, values

from cardsharp.deadmansdraw.actions import EffectType, respond
from cardsharp.deadmansdraw.cards import SERVER_DECK, Suit, bank_of
from cardsharp.deadmansdraw.rules import legal_actions, start
from cardsharp.deadmansdraw.simulation import Match, fair_chance, match_from
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.weights import model
from cardsharp.errors import ConfigError
from research.deadmansdraw.bounds import Bounds, BoundsOptions, Trial, bounds
from research.deadmansdraw.engine import Engine
from research.deadmansdraw.exact import Solver
from research.deadmansdraw.losses import LossesOptions, losses
from research.tests.decisions import needs_compiler

BATCHES, EACH = 20, 50
FEW = (Suit.KEY, Suit.CANNON, Suit.MERMAID, Suit.SWORD)
ALL = 60


def on(match: Match, dice: Random) -> Match:
    """The match some random actions later, not ended, so that effects are pending too."""
    for _ in range(dice.randint(0, 3)):
        later = match.after(dice.choice(legal_actions(match.state)), fair_chance(dice))
        if later.state.active is None:
            return match
        match = later
    return match


@pytest.mark.parametrize("batch", range(BATCHES))
def test_tiny_decks_as_by_trying_everything(engine: Engine, batch: int) -> None:
    dice, kinds = Random(f"tiny/{batch}"), Counter[object]()
    solver = Solver(engine, bits=12)
    while kinds.total() < EACH:
        match = on(tiny(dice), dice)
        position = match.position
        if position.known_top is not None and position.pending is None:
            continue  # nobody tells the small solver that a card was refused
        found, right = solver.weigh(position), values(match.state)
        right.pop(respond(EffectType.ORACLE), None)
        assert found == pytest.approx(right, abs=1e-12)
        kinds[position.pending and position.pending.effect_type] += 1
    assert len(kinds) >= 4


@pytest.mark.parametrize("seed", range(20))
def test_what_is_remembered_of_one_position_holds_for_another(engine: Engine, seed: int) -> None:
    """The same four cards are left, and the others lie elsewhere each time."""
    dice = Random(f"remembered/{seed}")
    deck = dice.sample([card for card in SERVER_DECK if card.suit in FEW], 14)
    solver = Solver(engine, bits=14)
    for _ in range(30):
        pile, rest = deck[:4], dice.sample(deck[4:], 10)
        one, two = sorted(dice.choices(range(8), k=2))
        banks = bank_of(rest[:one]), bank_of(rest[one:two])
        position = match_from(start(tuple(pile), tuple(rest[two:]), 0, banks)).position
        afresh = Solver(engine, bits=14).weigh(position)
        assert solver.weigh(position) == pytest.approx(afresh, abs=1e-12)


@needs_compiler
def test_losses_are_taken_up_from_their_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same command goes on; of what captain loses nearly all is known exactly."""

    def told(**given: object) -> dict[str, dict[str, float]]:
        losses(options=LossesOptions(cards=2, as_json=True, **given))  # type: ignore[arg-type]
        document: dict[str, dict[str, dict[str, float]]] = json.loads(capsys.readouterr().out)
        return document["byLeft"]

    at_once, kept = told(matches=6), tmp_path / "kept.jsonl"
    told(matches=2, out=kept)
    assert told(matches=6, out=kept) == at_once
    every = at_once["all"]
    assert every["positions"] == every["solved"] >= every["exact"] > every["positions"] / 2
    assert 0 <= every["loss"] < 10
    with pytest.raises(ConfigError, match="of another run"):
        told(matches=6, seed=2, out=kept)


def against_perfect(engine: Engine, last: int) -> Trial:
    """Captain, and who knows the pile, against perfect play; the solver judges the last cards."""
    solver, captain = Solver(engine, bits=12), engine.captain(model(WEIGHTS))
    return Trial(engine, solver, solver.player(captain, ALL), captain, last)


def of_orders(trial: Trial, match: Match) -> list[list[Bounds]]:
    """The bounds of every order of the pile, each with other picks."""
    orders = permutations(match.state.draw_pile)
    return [trial.at(match.position, order, seed) for seed, order in enumerate(orders)]


@pytest.mark.parametrize("batch", range(4))
def test_without_a_gap_where_the_judge_is_right(engine: Engine, batch: int) -> None:
    """Whatever comes, knowing it is worth no more than it costs; of Maps and bonuses too."""
    dice, trial = Random(f"bounds/{batch}"), against_perfect(engine, last=ALL)
    for _ in range(60):
        match = tiny(dice)
        right = max(values(match.state).values())
        for sides in of_orders(trial, match):
            for one, value in zip(sides, (right, 1 - right), strict=True):
                assert one.best == pytest.approx(value, abs=1e-9)
                assert one.itself == pytest.approx(value, abs=1e-9)
                assert one.stronger < value + 1e-9


def test_on_either_side_where_the_judge_is_wrong(engine: Engine) -> None:
    """Over all orders: what is paid is 0 in the mean for who does not know them."""
    dice, trial, gaps = Random("bounds"), against_perfect(engine, last=0), list[float]()
    for _ in range(80):
        match = tiny(dice, without=(Suit.MAP, Suit.CHEST))  # no pick, so the orders are all chance
        right = max(values(match.state).values())
        found = of_orders(trial, match)
        for side, value in enumerate((right, 1 - right)):
            all_orders = [sides[side] for sides in found]
            assert fmean(one.itself for one in all_orders) == pytest.approx(value, abs=1e-9)
            assert fmean(one.stronger for one in all_orders) < value + 1e-9
            gaps.append(fmean(one.best for one in all_orders) - value)
    assert min(gaps) > -1e-9
    assert max(gaps) > 0.01


@needs_compiler
def test_bounds_are_taken_up_from_their_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(**given: object) -> dict[str, dict[str, float]]:
        options = {"cards": 4, "perfect": 2, "as_json": True, **given}
        bounds(options=BoundsOptions(**options))  # type: ignore[arg-type]
        document: dict[str, dict[str, float]] = json.loads(capsys.readouterr().out)
        return document

    at_once, kept = told(matches=8), tmp_path / "kept.jsonl"
    told(matches=3, out=kept)
    again = told(matches=8, out=kept)
    assert (again["below"], again["above"]) == (at_once["below"], at_once["above"])
    assert at_once["below"]["points"] < at_once["above"]["points"] + 1e-9
    assert told(matches=8, nodes=1)["above"] is None
    with pytest.raises(ConfigError, match="of another run"):
        told(matches=8, seed=2, out=kept)
