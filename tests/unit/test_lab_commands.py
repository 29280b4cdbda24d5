"""`cardsharp lab`: what its commands print and write."""

import json
from pathlib import Path
from typing import Any

import pytest

from cardsharp.errors import ConfigError
from workbench.lab.commands import app

MINE = '''
from cardsharp.deadmansdraw.actions import DRAW, END_TURN
from cardsharp.deadmansdraw.strategies import Decision, strategy
from cardsharp.deadmansdraw.strategies.choices import autopick

@strategy("{name}")
class Mine:
    """Stops as soon as it may."""

    def __init__(self, rng):
        pass

    def decide(self, position):
        if position.pending is not None and position.pending.effect_type != "Kraken":
            return Decision(autopick(position), "As the server would.")
        stops = position.play_area and position.pending is None
        return Decision(END_TURN if stops else DRAW, "Better safe than sorry.")
'''


def lab(*arguments: str) -> Any:  # noqa: ANN401 - whatever a command returns
    return app(list(arguments), exit_on_error=False, result_action="return_value")


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:  # noqa: ANN401
    capsys.readouterr()
    lab(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def test_a_duel_prints_points_with_their_interval(capsys: pytest.CaptureFixture[str]) -> None:
    told = document(capsys, "duel", "champion", "draw-4", "--pairs", "40", "--workers", "1")
    assert told["matches"] == 80
    assert 50 < told["lower"] < told["points"] < told["upper"]
    assert 0 < told["eloLower"] < told["elo"] < told["eloUpper"]
    assert told["stronger"] == "champion"
    assert told["margin"] == pytest.approx((told["upper"] - told["lower"]) / 2, abs=0.01)


def test_the_stop_rule_stands_before_the_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    lab("duel", "third", "draw-2", "--pairs", "5", "--workers", "1")
    said = capsys.readouterr()
    assert said.err.startswith("third v draw-2: fixed sample size of 5 pairs")
    assert said.out.startswith("third v draw-2: ")
    assert "in 10 matches" in said.out


def test_somebodys_own_file_duels(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(MINE.format(name="mine-of-the-lab"))
    told = document(capsys, "duel", str(mine), "example-node", "-n", "10", "--workers", "1")
    assert told["matches"] == 20


def test_a_duel_is_kept_and_taken_up(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "run.jsonl")
    short = ("duel", "champion", "third", "--workers", "1", "--out", file, "-n")
    document(capsys, *short, "6")
    longer = document(capsys, *short, "12")
    assert longer == document(capsys, "duel", "champion", "third", "-n", "12", "--workers", "1")
    assert len(Path(file).read_text().splitlines()) == 13


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


def test_a_stranger_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="No strategy is called 'nobody'"):
        lab("duel", "nobody", "champion", "--workers", "1")
    capsys.readouterr()


def test_a_league_is_a_cross_table(capsys: pytest.CaptureFixture[str]) -> None:
    told = document(capsys, "league", "champion", "draw-2", "third", "-n", "10", "--workers", "1")
    assert told["players"] == ["champion", "draw-2", "third"]
    assert told["points"][0][1] == pytest.approx(100 - told["points"][1][0])
    assert told["points"][2][2] is None


def test_wrong_answers_make_a_probe_fail(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab("probe", "champion") == 1
    assert "the one unseen card busts: Draw, not EndTurn" in capsys.readouterr().out


def test_a_profile_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    told = document(capsys, "profile", "third", "-n", "30")
    assert told["milliseconds"]["all"]["number"] == 30
    assert told["nodes"] == {}


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
    file = tmp_path / "wavers.py"
    file.write_text(
        "import random\n"
        "from cardsharp.deadmansdraw.strategies import Decision, strategy\n"
        "@strategy('wavers')\n"
        "class Wavers:\n"
        "    'Not steady.'\n"
        "    def __init__(self, rng): pass\n"
        "    def decide(self, position):\n"
        "        return Decision(random.choice(position.legal_actions()), 'who knows')\n"
    )
    said = []
    for _ in range(2):
        lab("duel", str(file), "draw-2", "-n", "1")
        said.append(capsys.readouterr().err)
    assert len({text.partition("(seed ")[2].partition(")")[0] for text in said}) == 2
    assert "wavers.py decided otherwise when a deal was played again" in said[0]


def test_a_league_with_a_file_in_it_is_dealt_by_chance_wherever_the_file_stands(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mine = tmp_path / "stops.py"
    mine.write_text(MINE.format(name="stops-in-a-league"))
    told = set()
    for _ in range(2):
        lab("league", "draw-2", "draw-3", str(mine), "-n", "1", "--workers", "1", "--json")
        told.add(capsys.readouterr().err.partition("(seed ")[2].partition(")")[0])
    assert "1" not in told
    assert len(told) == 2  # two numbers in a million
