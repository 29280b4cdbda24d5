"""The engine is stronger than the players that it is measured against.

The figures in docs/euchre.md come from thousands of games; these are enough to see it break.
"""

from pathlib import Path

import pytest

from workbench.euchre.duel import duel
from workbench.euchre.duel_study import app
from workbench.euchre.native.compiled import available


def test_it_beats_chance_nearly_always() -> None:
    assert duel(("pimc@16", "random"), games=20, seed=2).rate >= 0.95


@pytest.mark.skipif(not available(), reason="without a C compiler this takes minutes")
def test_it_beats_the_rules_more_often_than_not() -> None:
    """With few worlds already; the cards are always the same, so this is no matter of luck."""
    report = duel(("pimc@64", "rules"), games=80, seed=4)
    ours, theirs = report.sides
    assert report.rate > 0.5
    assert ours.points > theirs.points


def test_the_study_tells_strength_by_worlds_and_time_by_decision(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    two = ["--worlds", "2", "--worlds", "4", "--games", "4", "--svg", str(tmp_path / "curve.svg")]
    app(["curve", *two], result_action="return_value")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("│")] == ["2", "4"]
    assert (tmp_path / "curve.svg").read_text(encoding="utf-8").count("<circle") == 2
    app(["times", "--deals", "2"], result_action="return_value")
    told = capsys.readouterr().out
    assert "bid" in told
    assert "play" in told


@pytest.mark.skipif(not available(), reason="the best answer to `rules` exists compiled only")
def test_the_study_tells_what_there_is_to_be_won(capsys: pytest.CaptureFixture[str]) -> None:
    app(["ceiling", "--games", "4", "--worlds", "8"], result_action="return_value")
    lines = [line.split()[1] for line in capsys.readouterr().out.splitlines() if "%" in line]
    assert lines[1:] == ["pimc", "answer@8"]


def test_without_a_compiler_the_study_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.euchre.native.compiled.library", lambda: None)
    monkeypatch.setenv("CARDSHARP_NATIVE", "0")
    with pytest.raises(SystemExit, match=r"CARDSHARP_NATIVE=0\. The best answer exists compiled"):
        app(["ceiling"], result_action="return_value")
