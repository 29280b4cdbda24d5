"""Tests of the measurement of captain's search limits."""

import json
from pathlib import Path

import pytest

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.strategies.search.search_budget import PLAIN_LIMITS
from cardsharp_tools.research.deadmansdraw import network_training
from cardsharp_tools.research.deadmansdraw.search_limits import (
    SearchLimitsOptions,
    search_limits,
)
from cardsharp_tools.research.tests.decision_comparison import needs_compiler

pytestmark = needs_compiler
START_FILE = Path(network_training.__file__).with_name("network-start.json")


def run_command(capsys: pytest.CaptureFixture[str], **options: object) -> dict[str, float]:
    search_limits(options=SearchLimitsOptions(as_json=True, **options))  # type: ignore[arg-type]
    document: dict[str, float] = json.loads(capsys.readouterr().out)
    return document


def test_equal_limits_make_half_the_points(capsys: pytest.CaptureFixture[str]) -> None:
    cards, leaves = PLAIN_LIMITS.endgame_cards, PLAIN_LIMITS.max_leaves
    result = run_command(capsys, pairs=3, endgame_cards=cards, max_leaves=leaves)
    assert result["points"] == 50
    assert result["matches"] == 6
    assert result["lower"] < 50 < result["upper"]


def test_a_measurement_resumes_from_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full_run, file = run_command(capsys, pairs=4), tmp_path / "kept.jsonl"
    run_command(capsys, pairs=2, out=file)
    assert run_command(capsys, pairs=4, out=file) == full_run
    assert full_run["points"] != 50
    with pytest.raises(ConfigError, match="belongs to another run"):
        run_command(capsys, pairs=4, seed=2, out=file)


def test_the_opponent_may_have_another_network(capsys: pytest.CaptureFixture[str]) -> None:
    limits = {"endgame_cards": PLAIN_LIMITS.endgame_cards, "max_leaves": PLAIN_LIMITS.max_leaves}
    result = run_command(capsys, pairs=4, opponent_network=START_FILE, **limits)
    assert result["points"] != 50
    assert result["matches"] == 8


def test_the_result_is_printed_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    search_limits(options=SearchLimitsOptions(pairs=1, endgame_cards=0))
    assert "% of the points without luck in 2 matches (95 %: " in capsys.readouterr().out
