"""What the default says of bets is held against what lay there."""

import json

import pytest

from research.blef.reliability import ReliabilityOptions, Told, bets, curve, reliability


def test_a_curve_has_what_was_said_and_what_held_by_tenths() -> None:
    told = [Told(0.1, held=True), Told(0.19, held=False), Told(0.999, held=True)]
    low, high = curve(told)
    assert (low.bets, low.held) == (2, 50)
    assert [low.told, high.told] == pytest.approx([14.5, 99.9])
    assert low.low < 50 < low.high
    assert (high.bets, high.held, high.high) == (1, 100, 100)


def test_who_says_more_sees_more_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """And beliefs are beliefs: none is 0 or 1."""
    reliability(options=ReliabilityOptions(bets=120, seed=3, as_json=True))
    found = json.loads(capsys.readouterr().out)
    assert sum(level["bets"] for level in found["levels"]) == 120
    assert found["error"] < 0.25
    said = [one for one, _ in zip(bets(3, 3), range(120), strict=False)]
    assert all(0 < one.chance < 1 for one in said)
    likely, unlikely = (
        [one.held for one in said if (one.chance > 0.5) == wanted] for wanted in (True, False)
    )
    assert sum(likely) / len(likely) > sum(unlikely) / len(unlikely) + 0.2
