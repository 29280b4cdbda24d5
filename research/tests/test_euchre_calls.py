"""What better calls could win is told apart from luck, and measured in deals that look the same."""

from itertools import product
from random import Random
from statistics import fmean

import pytest

from cardsharp.euchre.position import project
from cardsharp.euchre.rules import start
from cardsharp.euchre.simulation import shuffled
from cardsharp.euchre.strategies.sound import Rules
from research.euchre.calls import KINDS, Close, Seats, alike, asked_in, found, given_away
from research.euchre.compiled import available
from research.euchre.study import app

RULES = Seats((Rules(),) * 4, (Rules(),) * 4)


def test_the_square_of_an_error_has_no_luck_in_it() -> None:
    """Over all ways in which luck of two points can fall, the square is that of the error alone."""
    close = [
        Close("discard", (0.5, 0.0), tuple((1 + luck, 0) for luck in fallen))
        for fallen in product((-2, 2), repeat=3)
    ]
    assert fmean(one.square for one in close) == pytest.approx(0.25)
    assert fmean(one.better(0) - one.better(1) for one in close) == pytest.approx(0.5)


@pytest.mark.parametrize(("margin", "spread"), [(0.0, 0.3), (0.2, 0.3), (-0.1, 0.5)])
def test_what_is_given_away_is_the_mean_of_margins_below_zero(margin: float, spread: float) -> None:
    dice = Random(1)
    drawn = [max(0.0, -dice.gauss(margin, spread)) for _ in range(40_000)]
    assert given_away(margin, spread) == pytest.approx(fmean(drawn), abs=0.005)


def test_a_sure_margin_gives_nothing_away_unless_it_is_wrong() -> None:
    assert given_away(0.2, 0.0) == 0
    assert given_away(-0.2, 0.0) == pytest.approx(0.2)


def test_an_oracle_would_win_what_was_truly_given_away() -> None:
    dice, close, lost = Random(5), [], 0.0
    for _ in range(5_000):
        margin, error = dice.random() * 0.6, dice.gauss(0, 0.3)
        lost += max(0.0, -(margin + error))
        luck = (dice.choice((-2, 0, 2)) for _ in range(8))
        came = tuple((margin + error + one, 0) for one in luck)
        close.append(Close(KINDS[0], (margin, 0), came))  # type: ignore[arg-type] # parts of points
    told = found(close, deals=2_500)
    assert told.often == 2
    assert told.square == pytest.approx(0.09, abs=0.02)
    assert told.lost == pytest.approx(lost / 2_500, rel=0.1)


def test_nothing_tried_gives_nothing_away() -> None:
    assert found([], deals=10).lost == 0


def test_deals_that_are_tried_look_the_same_and_the_others_call_as_they_did() -> None:
    dice, kinds, moved = Random(2), set(), 0
    for number in range(60):
        for asked in asked_in(RULES, start(shuffled(Random(number)))):
            other = alike(RULES, asked, dice)
            if other is None:
                continue
            assert project(other, asked.seat) == project(asked.deal, asked.seat)
            again = [one.deal.table.bids for one in asked_in(RULES, start(other.cards))]
            assert asked.deal.table.bids in again
            moved += other.cards != asked.deal.cards
            kinds.add(asked.kind)
    assert moved
    assert kinds == set(KINDS)


@pytest.mark.skipif(not available(), reason="without a C compiler this takes minutes")
def test_the_study_tells_what_calls_give_away(capsys: pytest.CaptureFixture[str]) -> None:
    app(
        ["calls", "-n", "2", "--trials", "2", "--worlds", "4", "--opponent", "rules"],
        result_action="return_value",
    )
    told = capsys.readouterr().out
    assert all(kind in told for kind in KINDS)
    assert "±" in told
