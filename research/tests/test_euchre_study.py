"""The engine is stronger than the players that it is measured against.

The figures in docs/euchre-strength.md come from thousands of games; a few show that it broke.
"""

from pathlib import Path

import pytest

from research.euchre.compiled import available
from research.euchre.study import app
from research.pictures import Picture
from workbench.lab.plan import Plan
from workbench.lab.runs import run


@pytest.mark.skipif(not available(), reason="without a C compiler this takes minutes")
def test_it_beats_the_rules_more_often_than_not() -> None:
    """With few worlds already; the cards are always the same, so this is no matter of luck."""
    played = run(Plan(game="euchre", first="pimc@64", second="rules", pairs=40, seed=4))
    assert played.points > 50
    assert played.total("points", 0) > played.total("points", 1)


def test_the_study_tells_strength_by_worlds_and_time_by_decision(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    two = [
        "--worlds",
        "2",
        "--worlds",
        "4",
        "--games",
        "4",
        "--picture",
        str(tmp_path / "curve.json"),
    ]
    app(["curve", *two], result_action="return_value")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("│")] == ["2", "4"]
    kept = Picture.model_validate_json((tmp_path / "curve.json").read_text(encoding="utf-8"))
    assert [point[0] for point in kept.points] == [2, 4]
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
    monkeypatch.setattr("research.euchre.compiled.library", lambda: None)
    monkeypatch.setenv("CARDSHARP_NATIVE", "0")
    with pytest.raises(SystemExit, match=r"CARDSHARP_NATIVE=0\. The best answer exists compiled"):
        app(["ceiling"], result_action="return_value")
