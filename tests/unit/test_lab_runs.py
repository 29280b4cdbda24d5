"""Runs, duels and probes of the lab: repeatable, taken up where they ended, and right."""

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.table import QUICK

from cardsharp.deadmansdraw.cards import RULEBOOK_DECK, SERVER_DECK
from cardsharp.deadmansdraw.simulation import deal
from cardsharp.errors import ConfigError, StrategyFault
from workbench.lab.dice import PairDice
from workbench.lab.interval import interval, score_interval
from workbench.lab.ledger import RunLedger, difference
from workbench.lab.plan import Plan
from workbench.lab.runs import Numbered, pool_of, run


def plan(pairs: int = 8, *, seed: int = 5, second: str = "draw-2") -> Plan:
    return Plan(first="third", second=second, pairs=pairs, seed=seed, plain=True)


def test_a_stopped_run_is_taken_up_and_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    """Even where it was stopped in the middle of a series, and of a line."""
    file = tmp_path / "run.jsonl"
    whole = run(plan(10))
    run(plan(4), tell=RunLedger(file, plan(4)).add)
    with file.open("a", encoding="utf-8") as out:
        out.write('{"kind":"pair","number":4,"the')
    again = RunLedger(file, plan(10))
    assert set(again.kept) == {0, 1, 2, 3}
    told: list[Numbered] = []

    def tell(played: list[Numbered]) -> None:
        told.extend(played)
        again.add(played)

    assert run(plan(10), None, again.kept, tell) == whole
    assert sorted(number for number, _ in told) == [4, 5, 6, 7, 8, 9]
    assert RunLedger(file, plan(10)).kept == dict(enumerate(whole.pairs))


@pytest.mark.parametrize("other", [plan(seed=6), plan(second="draw-3")])
def test_the_file_of_another_run_is_refused(tmp_path: Path, other: Plan) -> None:
    file = tmp_path / "run.jsonl"
    RunLedger(file, plan())
    with pytest.raises(ConfigError, match=r"another run.*Give another file"):
        RunLedger(file, other)
    file.write_text("Dear diary,\n")
    with pytest.raises(ConfigError, match="no file of a duel"):
        RunLedger(file, other)
    assert file.read_text() == "Dear diary,\n", "and kept"


def test_a_difference_is_taken_deck_by_deck(tmp_path: Path) -> None:
    """Against the same player on the same decks; the interval is that of the gaps."""
    files = tmp_path / "third.jsonl", tmp_path / "draw-4.jsonl"
    other = Plan(first="draw-4", second="draw-2", pairs=30, seed=5, plain=True)
    mine, theirs = (
        run(one, tell=RunLedger(file, one).add)
        for one, file in zip((plan(30), other), files, strict=True)
    )
    gap, bounds, matches = difference(*files)
    assert gap == pytest.approx(mine.points - theirs.points)
    assert matches == 60
    assert bounds.low < gap < bounds.high
    assert bounds.margin < mine.interval.margin + theirs.interval.margin
    another = tmp_path / "another.jsonl"
    RunLedger(another, plan(second="draw-3"))
    with pytest.raises(ConfigError, match="nothing to compare"):
        difference(files[0], another)


def test_the_dice_are_splitmix64() -> None:
    """The generator's published test values for the seed 1234567."""
    rolled = PairDice(1234567)
    assert [rolled.getrandbits(64) for _ in range(2)] == [6457827717110365317, 3203168211198807973]


# --- duels ----------------------------------------------------------------------------------------


def blef(**more: Any) -> Plan:  # noqa: ANN401
    given = {"pairs": 4, "seed": 3, "plain": True, **more}
    return Plan(game="blef", first="greedy", second="random", **given)


@pytest.mark.parametrize(("game", "name"), QUICK.items())
def test_a_player_without_dice_stands_at_exactly_half_against_itself(game: str, name: str) -> None:
    """Each deal is played from both sides, so what one side wins the other loses."""
    mirror = run(Plan(game=game, first=name, second=name, pairs=2, plain=True))
    assert mirror.points == 50


def test_processes_change_nothing() -> None:
    plan = blef(pairs=7)
    with pool_of(2) as pool:
        assert run(plan, pool) == run(plan)


def test_a_process_that_dies_is_told_of_and_what_else_it_can_be() -> None:
    def dies() -> None:
        with pool_of(2) as pool:
            assert pool is not None
            pool.submit(os._exit, 5).result()

    with pytest.raises(StrategyFault, match="a strategy ended it"):
        dies()


def test_against_copies_a_deal_is_played_from_each_seat() -> None:
    played = run(blef(copies=2))
    assert [len(pair) for pair in played.pairs] == [3] * 4
    assert played.plan.fair == pytest.approx(1 / 3)
    assert "greedy v 2 x random: " in str(played)
    assert "equal players: 33.3" in str(played)


# --- intervals -----------------------------------------------------------------------------------


def test_the_score_interval_is_the_published_one() -> None:
    """Wilson's with continuity correction for 81 of 263, 15 of 148 and 0 of 20 (Newcombe 1998)."""
    assert score_interval(81 / 263, 263) == pytest.approx((0.2535, 0.3682), abs=5e-5)
    assert score_interval(15 / 148, 148) == pytest.approx((0.0598, 0.1644), abs=5e-5)
    assert score_interval(0, 20) == pytest.approx((0.0, 0.2005), abs=5e-5)


@pytest.mark.parametrize("pairs", [2, 3, 8, 20, 100, 500])
@pytest.mark.parametrize(
    ("share", "alike"),
    [(0.5, -0.5), (0.5, 0.0), (0.5, 1.0), (0.9, 0.0), (0.9, 0.6), (0.99, 0.0), (0.99, 1.0)],
)
def test_the_interval_holds_the_truth_in_95_of_100(pairs: int, share: float, alike: float) -> None:
    """By 400 simulated duels each; 92 % is two standard errors below 95 %."""
    dice, common = Random(1), alike * share * (1 - share)
    lost, won = (1 - share) ** 2 + common, share * share + common
    weights = (lost, 1 - lost - won, won)
    drawn = (dice.choices((0.0, 0.5, 1.0), weights, k=pairs) for _ in range(400))
    bounds = [interval(shares, 2) for shares in drawn]
    assert sum(low <= share <= high for low, high in bounds) > 0.92 * len(bounds)


def test_a_deal_is_the_whole_deck_with_the_lowest_of_each_suit_discarded() -> None:
    for deck, low in ((SERVER_DECK, 10), (RULEBOOK_DECK, 9)):
        state = deal(Random(1), deck)
        assert len(state.discard_pile) == low
        assert sorted((*state.draw_pile, *state.discard_pile)) == sorted(deck)
    assert {deal(Random(seed)).player for seed in range(20)} == {0, 1}
