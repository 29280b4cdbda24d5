"""`cardsharp lab`: what its commands print and write."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli import written

from workbench.lab.commands import app


def lab(*arguments: str) -> Any:  # noqa: ANN401 - whatever a command returns
    return app(list(arguments), exit_on_error=False, result_action="return_value")


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:  # noqa: ANN401
    capsys.readouterr()
    lab(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("game", "name"), [("blef", "greedy"), ("euchre", "rules")])
def test_every_game_duels_and_is_looked_at(
    capsys: pytest.CaptureFixture[str], game: str, name: str
) -> None:
    told = document(capsys, "duel", name, "random", "--game", game, "-n", "4", "--workers", "1")
    assert (told["game"], told["matches"]) == (game, 8)
    told = document(capsys, "league", name, "random", "--game", game, "-n", "2", "--workers", "1")
    assert told["lower"][0][1] <= told["points"][0][1] <= told["upper"][0][1]
    assert document(capsys, "probe", name, "--game", game) == {
        "answers": [],
        "askedTwice": 40,
        "changed": 0,
    }
    told = document(capsys, "profile", name, "--game", game, "-n", "30")
    assert told["milliseconds"]["all"]["number"] == 30


def test_wrong_answers_make_a_probe_fail(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab("probe", "champion") == 1
    assert "the one unseen card busts: Draw, not EndTurn" in capsys.readouterr().out


def test_a_sequential_test_says_what_it_tells_apart_and_what_came_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lab("duel", "champion", "example-node", "--sprt", "--elo1", "300", "--workers", "1")
    said = capsys.readouterr()
    assert "until a test with 5 % error decides between +300 and 0 Elo" in said.err
    assert "champion is stronger: Elo " in said.out
    assert "the test says stronger: Elo 300 rather than 0, after " in said.out


def test_a_file_is_dealt_anew_each_time_and_named_where_it_is_not_steady(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body = "return Decision(random.choice(position.legal_actions()), 'who knows')"
    file = written(tmp_path, "wavers", body, "import random")
    said = []
    for _ in range(2):
        lab("duel", file, "draw-2", "-n", "1", "--workers", "1")
        said.append(capsys.readouterr().err)
    assert len({text.partition("(seed ")[2].partition(")")[0] for text in said}) == 2
    assert "wavers.py decided otherwise when a deal was played again" in said[0]
