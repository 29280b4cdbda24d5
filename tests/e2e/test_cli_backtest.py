"""Tests of `lab duel --save-matches` and `backtest`: stored matches are decided again."""

import io
import json
import re
import shlex
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli, isolate_environment, write_strategy_file

from cardsharp.analysis.action_labels import action_labels
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision
from cardsharp.games.deadmansdraw.strategies.captain import Captain
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import SearchLimits
from cardsharp.games.deadmansdraw.strategies.search.search_budget import lab_limits, local_limits
from cardsharp.play.catalog import get_game
from cardsharp_tools.cli import main
from cardsharp_tools.executors.strategy_file import source_version
from cardsharp_tools.executors.strategy_reference import BuiltIn, parse_strategy
from cardsharp_tools.lab.backtest import BacktestPlayer
from cardsharp_tools.match_sources.sources import load_match_with_moves

OPPONENTS = {"deadmansdraw": "third", "blef": "greedy", "euchre": "rules"}
JUDGES = {"deadmansdraw": "captain", "blef": "bayes", "euchre": "pimc"}


@pytest.fixture(scope="session")  # a process may come back to this module: names are taken once
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a lab match of each game, played by the starter's strategy file."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        isolate_environment(patch, folder)
        for game in OPPONENTS:
            with redirect_stdout(io.StringIO()) as output:
                assert main(["new", str(folder / f"{game}.py"), "--game", game]) == 0
            duel = next(line for line in output.getvalue().splitlines() if "lab duel" in line)
            arguments = shlex.split(duel.partition("#")[0].partition("cardsharp ")[2])
            assert (
                main(
                    [
                        *arguments,
                        *["-n", "1", "--workers", "1", "--seed", "3", "--save-matches", "1"],
                    ]
                )
                == 0
            )
    return folder


def latest_match_id(cli: Cli, game: str) -> str:
    """Return the id of the latest stored match of a game; in Euchre, of a deal."""
    records = [
        record for record in cli("matches", "--json").json() if record["header"]["game"] == game
    ]
    return str(records[-1]["match"])


def run_backtest(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    return cli("backtest", *arguments, "--json").json()


@pytest.mark.parametrize("game", OPPONENTS)
def test_a_lab_match_is_displayed_explained_and_tried_by_another_strategy(
    cli: Cli, home: Path, game: str
) -> None:
    """A match is repeated by its own strategy without a difference.

    Another strategy differs, and the game's judge states the cost.
    """
    match_id = latest_match_id(cli, game)
    [match] = run_backtest(cli, f"{home / game}.py", "--match", match_id)
    assert match["game"] == game
    assert match["decisions"]
    for decision in match["decisions"]:
        assert decision["now"]["action"] == decision["then"]["action"] in decision["options"]
        assert not decision["differs"]
        assert decision["then"]["by"] == f"{game}.py"
    [other_result] = run_backtest(cli, OPPONENTS[game], "--match", match_id)
    assert other_result["judge"]["name"] == JUDGES[game]
    assert any(
        decision["differs"] and decision["cost"] is not None
        for decision in other_result["decisions"]
    )
    assert cli("show", match_id).code == 0
    explanation = cli("why", match_id, str(match["decisions"][0]["turn"]))
    assert explanation.code == 0, explanation.err
    label = action_labels(get_game(game))
    assert label(match["decisions"][0]["then"]["action"]) in explanation.out


def test_matches_record_the_version_of_the_strategy_file(cli: Cli, home: Path) -> None:
    [record] = [
        candidate
        for candidate in cli("matches", "--json").json()
        if candidate["header"]["game"] == "deadmansdraw"
    ]
    version = record["header"]["version"]
    assert version == source_version(parse_strategy(str(home / "deadmansdraw.py")), get_game(None))
    statistics = cli("stats", "--by", "version", "--json").json()
    assert [group["name"] for group in statistics["groups"]] == [f"{version[:6]} deadmansdraw.py"]


def test_backtest_of_all_matches_names_a_command_for_the_worst_difference(
    cli: Cli, home: Path
) -> None:
    strategy_file = write_strategy_file(
        home, "draws", "return Decision(position.legal_actions()[0], 'The first.')"
    )
    result = cli("backtest", strategy_file, "--all")
    assert result.code == 0, result.err
    assert "draws.py decides differently in " in result.out
    summary_pattern = (
        r"captain judges these choices (better|worse) than .+: by \d+\.\d\d wins in total, "
    )
    assert re.search(summary_pattern, result.out)
    command = result.out.rpartition("cardsharp backtest ")[2]
    turn_result = cli("backtest", *shlex.split(command))
    assert turn_result.code == 0, turn_result.err
    assert "now     " in turn_result.out
    assert "by captain (chance to win)" in turn_result.out


@pytest.mark.parametrize("name", ["another log", "a source"])
def test_the_command_for_the_largest_difference_finds_the_match_again(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    """The match is in no log that is the default."""
    selection = ["--match", "final-2023"]
    if name == "another log":
        selection = ["--store", f"sqlite:{tmp_path / 'a log.db'}"]
        assert cli("play", "--seed", "1", *selection).code == 0
    result = cli("backtest", "random", *selection)
    assert result.code == 0, result.err
    command = result.out.rpartition("cardsharp backtest ")[2]
    turn_result = cli("backtest", *shlex.split(command))
    assert turn_result.code == 0, turn_result.err
    assert "now     " in turn_result.out


def test_decisions_outside_the_lab_are_repeated_with_the_time_of_a_match(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert home
    all_limits = list[SearchLimits]()

    def decide(captain: Captain, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        all_limits.append(vars(captain)["_limits"])
        return original_decide(captain, position)

    original_decide = Captain.decide
    monkeypatch.setattr(Captain, "decide", decide)
    match = load_match_with_moves(latest_match_id(cli, "deadmansdraw"), None, None)
    player = BacktestPlayer(get_game("deadmansdraw"), BuiltIn("captain"))
    lab_point = player.decision_points(match.record, match.moves)[0]
    assert lab_point.step.decision is not None
    decision = lab_point.step.decision.model_copy(update={"worker": "bot-1"})
    arena_point = lab_point._replace(step=replace(lab_point.step, decision=decision))
    assert len(list(player.decide_again([lab_point, arena_point]))) == 2
    assert all_limits == [lab_limits(), local_limits(None)]
    assert lab_limits() != local_limits(None)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("player", ["captain", "random"])
def test_the_reported_turn_has_the_largest_difference(cli: Cli, player: str) -> None:
    """The largest difference is a gain of a stronger player or a loss of a weaker one."""
    match_id = latest_match_id(cli, "deadmansdraw")
    [match] = run_backtest(cli, player, "--match", match_id)
    gains = {
        (decision["turn"], round(-100 * decision["cost"], 1))
        for decision in match["decisions"]
        if decision["cost"]
    }
    assert len(gains) > 1
    turn, gain = max(gains, key=lambda turn_gain: abs(turn_gain[1]))
    result = cli("backtest", player, "--match", match_id)
    expected_text = (
        f"The largest difference is in turn {turn} of match {match_id}, {gain:+.1f} %. To see"
    )
    assert expected_text in result.out
    assert f"--turn {turn}\n" in result.out
    assert f" {gain:+.1f} %\n" in result.out, "the same in the table"


@pytest.mark.usefixtures("home")
def test_each_game_is_summarised_by_its_judge(cli: Cli) -> None:
    matches = [
        argument for game in OPPONENTS for argument in ("--match", latest_match_id(cli, game))
    ]
    result = cli("backtest", "random", *matches)
    assert result.out.count("random decides differently in ") == len(OPPONENTS)
    for judge in JUDGES.values():
        assert f"{judge} judges " in result.out


def test_a_single_turn_shows_options_output_and_time(cli: Cli, home: Path) -> None:
    body = (
        "print('I see', len(position.unseen)); "
        "legal = position.legal_actions(); "
        "return Decision(legal[-1], 'The last.', (PointsOption(legal[-1], 0.25, 'my note'),))"
    )
    match_id = latest_match_id(cli, "deadmansdraw")
    turn = run_backtest(cli, str(home / "deadmansdraw.py"), "--match", match_id)[0]["decisions"][0][
        "turn"
    ]
    result = cli(
        "backtest",
        write_strategy_file(home, "says", body),
        "--match",
        match_id,
        "--turn",
        str(turn),
    )
    assert result.code == 0, result.err
    for words in ("printed I see ", "my note", "says.py, ", "then deadmansdraw.py", "play area"):
        assert words in result.out


def test_backtest_explains_invalid_arguments(cli: Cli) -> None:
    for arguments, expected_error in (
        ("--turn 99", "Turn 99 has no decision to repeat. Turns that have one: "),
        ("--turn 1 --all", "--turn shows one match"),
        ("--match nosuch", "No match 'nosuch' is in the log"),
        ("--match nosuch.json", "nosuch.json cannot be read: No such file"),
    ):
        result = cli("backtest", "steady", *arguments.split())
        assert (result.code, expected_error in result.err) == (2, True)


def test_a_duel_logs_its_losses_first(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    isolate_environment(monkeypatch, tmp_path)  # the other tests count the matches of their log
    duel = ("lab", "duel", "draw-2", "champion", "-n", "5", "--seed", "2", "--workers", "1")
    duel_result = cli(*duel, "--save-matches", "3", "--json").json()
    outcomes = {record["match"]: record["outcome"] for record in cli("matches", "--json").json()}
    assert [outcomes[match_id]["result"] for match_id in duel_result["kept"]] == ["lost"] * 3
    steps = cli("show", duel_result["kept"][0], "--json").json()
    assert steps["header"]["seats"] == {"0": "draw-2"} or steps["header"]["opponent"] == "champion"
    assert json.dumps(steps).count('"strategy": "champion"') > 0
