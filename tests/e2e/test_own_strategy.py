"""Tests of a user's strategy file: it is created, played, ranked, and its faults explained.

A file that training wrote plays as well. The commands and code of docs/your-own-bot.md
and docs/write-a-bot.md are executed.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from support.arena_server import ADMIN_PASSWORD
from support.cli import TEAM_1_ID, TEAM_1_PASSWORD, Cli, start_program, write_strategy_file
from support.waiting import HANG_SECONDS

from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.executors.strategy_reference import BuiltIn, Weights
from cardsharp_tools.lab.native_engines import find_native_function
from cardsharp_tools.local_server.arena_server import ArenaServer


def test_a_new_file_can_start_from_a_built_in_strategy(cli: Cli, tmp_path: Path) -> None:
    """A copy of a strategy decides as the original, and its prints do not damage JSON."""
    file = tmp_path / "thumb.py"
    assert cli("new", str(file), "--template", "rule").code == 0
    decide = "    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:\n"
    text = file.read_text()
    assert decide in text
    file.write_text(text.replace(decide, f"{decide}        print('spoilt')\n"))
    duel_results = [
        cli("lab", "duel", player, "draw-3", "--seed", "1", "--pairs", "2", "--json").json()
        for player in (str(file), "rule")
    ]
    assert duel_results[0]["counts"] == duel_results[1]["counts"]
    error_result = cli("new", str(tmp_path / "other.py"), "--template", "draw-2")
    assert "cannot be a copy of 'draw-2'" in error_result.err
    file.write_text("precious")
    overwrite_result = cli("new", str(file))
    assert (
        overwrite_result.code,
        "exists already. Choose another name" in overwrite_result.err,
    ) == (2, True)
    assert file.read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        (
            "errs",
            "print('spoilt'); return 1 / 0",
            "errs.py, line 13, in decide: print('spoilt'); r",
        ),
        ("sleepy", "import time; time.sleep(9)", "while it slept or waited (sleepy.py, line 13"),
        ("endless", "while True: pass", "no decision within 2 s of processor time (endless.py"),
    ],
)
def test_the_lab_stops_at_a_fault_and_names_the_strategy(
    cli: Cli, tmp_path: Path, name: str, body: str, message: str
) -> None:
    duel = cli(
        "lab", "duel", write_strategy_file(tmp_path, name, body), "draw-2", "-n", "1", "--seed", "1"
    )
    assert (duel.code, "spoilt" in duel.out) == (1, False)
    assert message in duel.err
    assert "decision 1 of pair 0, seed 1, on Position(turn=" in duel.err
    assert ", own=None, other=None, play_area=None, pending=None, known_top=None)" in duel.err
    assert "bug in Cardsharp" not in duel.err


def test_a_fault_in_a_match_is_counted_placed_and_can_be_opened(cli: Cli, tmp_path: Path) -> None:
    """A fault is reported with its line, and `why` displays it with the strategy's output.

    `--keep` is the old name of `--store`; the program's log is written to that folder too.
    """
    body = "print('I see', len(position.unseen))\n        return position.nosuch"
    strategy_file, folder = write_strategy_file(tmp_path, "counts", body), tmp_path / "kept"
    folder.mkdir()
    play_result = cli("play", "--strategy", strategy_file, "--keep", str(folder))
    assert play_result.code == 1, "nothing was decided by it"
    assert "log complete" in play_result.out
    assert "I see " not in play_result.out
    assert "Every decision of " in play_result.err
    assert play_result.err.count("decisions: the strategy failed: AttributeError:") == 1
    assert "(counts.py, line 14, in decide: return position.nosuch)" in play_result.err
    assert (folder / "play.log").exists()
    assert cli("show", "last").code == 2, "nothing went into our own log"
    command = play_result.err.rpartition("cardsharp why ")[2].partition("\n")[0].split()
    explanation = cli("why", *command)
    assert explanation.code == 0, explanation.err
    assert "counts.py, line 14" in "".join(explanation.out.split("\n        "))
    decisions = [move["decision"] for move in cli("why", *command, "--json").json()]
    assert all(decision["printed"].startswith("I see ") for decision in decisions)


ILLEGAL_ACTION_BODY = "return Decision(END_TURN, 'I always stop')"
ILLEGAL_ACTION_MESSAGE = (
    "the rules refuse 'EndTurn': Cannot end turn with empty playarea; legal here: Draw "
    "(stops.py, line 13, in decide: return Decision(END_TURN, 'I always stop'))"
)


def test_every_command_reports_the_line_of_an_illegal_action_and_the_legal_ones(
    cli: Cli, tmp_path: Path
) -> None:
    """An illegal action is reported once; `play` continues and has a special exit code."""
    file = write_strategy_file(tmp_path, "stops", ILLEGAL_ACTION_BODY)
    play_result = cli("play", "--strategy", file, "--seed", "1")
    assert play_result.code == ExitCode.REPLACED
    assert f"decisions, the first because {ILLEGAL_ACTION_MESSAGE}.\n" in play_result.err
    failures = r"\d+ of \d+ decisions of stops.py failed. Safe actions replaced them"
    assert re.search(failures, play_result.err)
    assert play_result.err.count("cardsharp: A safe action replaced ") == 1
    assert "the rules refuse" not in play_result.out, "it is said once, not under each turn"
    assert "  a safe action: the strategy failed" in play_result.out
    for command in ("duel", "round-robin"):
        lab_result = cli("lab", command, file, "draw-3", "-n", "1", "--seed", "1", "--workers", "1")
        assert (lab_result.code, ILLEGAL_ACTION_MESSAGE in lab_result.err) == (
            ExitCode.FAILED,
            True,
        ), command
    ladder_result = cli("ladder", file, "--workers", "1")
    assert (ladder_result.code, ILLEGAL_ACTION_MESSAGE in ladder_result.err) == (
        ExitCode.FAILED,
        True,
    )
    cli("lab", "duel", "draw-3", "draw-2", "-n", "1", "--seed", "1", "--save-matches", "1")
    backtest_result = cli("backtest", file, "--turn", "2")
    assert backtest_result.code in {ExitCode.REPLACED, ExitCode.FAILED}
    assert ILLEGAL_ACTION_MESSAGE in " ".join(backtest_result.out.split())


def test_side_effects_of_a_strategy_are_reported_with_advice(cli: Cli, tmp_path: Path) -> None:
    """Side effects are warnings: they break no rule, and the exit code is 0."""
    body = "SEEN.append(1); return Decision(dice.choice(position.legal_actions()), 'who knows')"
    file = write_strategy_file(tmp_path, "habits", body, "import random as dice; SEEN = []")
    for command in (
        ("play", "--strategy", file),
        ("lab", "duel", file, "draw-3", "-n", "1", "--workers", "1"),
    ):
        result = cli(*command)
        assert result.code == 0, result.err
        assert result.err.count("habits.py, line 13: dice.choice draws from global random") == 1
        assert "Write self.rng.choice, the Random that __init__ gets" in result.err
        assert result.err.count("habits.py, line 1: the global SEEN changes with the decis") == 1


@pytest.mark.parametrize(
    ("command", "earlier_lines", "code", "message"),
    [
        ("ladder", "import os; os._exit(9)", 1, "1, in <module>: the strategy ended the proc"),
        (
            "play --strategy",
            "import time; time.sleep(99)",
            2,
            "<module>: the import did not end within 3 s",
        ),
    ],
)
def test_a_file_that_exits_or_hangs_on_import_is_reported(
    tmp_path: Path, command: str, earlier_lines: str, code: int, message: str
) -> None:
    file = write_strategy_file(tmp_path, "ends", "pass", earlier_lines)
    program = (
        "import sys; from datetime import timedelta; "
        "from cardsharp_tools.executors import line_process; "
        "from cardsharp_tools.cli import main; line_process.PROGRAM_START_TIMEOUT = "
        "timedelta(seconds=3); "
        f"sys.exit(main({[*command.split(), file]!r}))"
    )
    result = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CARDSHARP_NATIVE": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    assert result.returncode == code, result.stderr
    assert f"ends.py, line {message}" in result.stderr or message in result.stderr
    assert (
        "import did not end" not in message or "ends.py: still being imported ..." in result.stderr
    )


@pytest.mark.slow
def test_strict_stops_at_the_first_fault(cli: Cli, tmp_path: Path) -> None:
    result = cli(
        "play", "--strict", "--strategy", write_strategy_file(tmp_path, "strict", "return 1 / 0")
    )
    assert result.code == 1
    assert "strict.py, line 13, in decide: return 1 / 0" in result.err


CONCURRENT_PREAMBLE = (
    "import threading; from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor; "
    "from multiprocessing import Pool"
)
CONCURRENT_BODY = """box = []
        thread = threading.Thread(target=box.append, args=(1,))
        thread.start()
        thread.join()
        with ThreadPoolExecutor(1) as threads:
            box += threads.map(abs, [-2])
        if not hasattr(self, "pool"):
            self.pool = Pool(1)
            with ProcessPoolExecutor(1) as processes:
                box += processes.map(next_number, [2])
        box += self.pool.map(next_number, [3])
        return Decision(position.legal_actions()[0], str(box))

def next_number(number):
    return number + 1
"""


@pytest.mark.parametrize(
    "command", ["lab duel", "bot", pytest.param("play", marks=pytest.mark.slow)]
)
def test_threads_and_processes_of_a_strategy_work_wherever_it_decides(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """It may start threads, and by `multiprocessing` processes that call its functions."""
    file = write_strategy_file(tmp_path, "crowd", CONCURRENT_BODY, CONCURRENT_PREAMBLE)
    if command == "lab duel":
        result = cli(*command.split(), file, "draw-2", "--pairs", "1", "--workers", "1")
        assert result.code == 0, result.err
        return
    if command == "play":
        result = cli("play", "--strategy", file, "--opponent", "draw-2", "--strict")
        assert result.code == 0, result.err
    else:
        monkeypatch.setenv("CARDSHARP_PASSWORD", TEAM_1_PASSWORD)
        with ArenaServer(ArenaConfig(admin_password=ADMIN_PASSWORD)) as arena:
            arena.create_match_and_get_id([TEAM_1_ID, TEAM_1_ID])
            options = ("--url", arena.url, "--user", TEAM_1_ID, "--once", "--strategy", file)
            with start_program("bot", *options) as process:
                _, err = process.communicate(timeout=HANG_SECONDS)
            assert process.returncode == 0, err
    moves = [move for turn in cli("show", "--json").json()["turns"] for move in turn["moves"]]
    decisions = [move["decision"] for move in moves if move["decision"] is not None]
    assert decisions[0]["reason"] == "[1, 2, 3, 4]"
    assert {decision["fault"] for decision in decisions} == {None}


@pytest.mark.parametrize("command", ["lab duel", "play --strategy", "bot --once --strategy"])
def test_a_relative_import_is_refused_in_a_sentence_wherever_a_strategy_decides(
    cli: Cli, tmp_path: Path, command: str
) -> None:
    file = write_strategy_file(tmp_path, "near", "pass", "from .helper import best")
    result = cli(*command.split(), file, *["draw-2"] * (command == "lab duel"))
    assert result.code == ExitCode.USAGE
    assert "near.py, line 1, fails: " in result.err
    assert (
        "a strategy file is not part of a package, so relative imports do not work; write "
        "`from helper import ...` or `import helper`" in result.err
    )


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_a_new_program_plays_as_it_is(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "my bot.js"
    result = cli("new", str(file), "--json")
    assert result.code == 0, result.err
    command = f"node '{file}'"
    assert result.json()["strategy"] == command
    play_result = cli("play", "--strategy", command, "--opponent", command, "--strict", "--json")
    assert play_result.code == 0, play_result.err
    assert play_result.json()["logComplete"] is True
    assert cli("lab", "duel", command, "draw-2", "--pairs", "1").code == 0


def test_the_lab_shows_the_error_of_a_failed_program(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    draw = 'print(\'{"action": {"etype": "Draw"}}\', flush=True)'
    file.write_text(f"input()\n{draw}\ninput()\nprint(nosuch)")
    result = cli("lab", "duel", f"{sys.executable} -B {file}", "draw-2", "-n", "1", "--seed", "1")
    assert result.code == 1
    assert "NameError: name 'nosuch' is not defined" in result.err
    assert "of pair 0, seed 1, on Position(" in result.err


# --- how far up it comes --------------------------------------------------------------------------


def test_the_ladder_climbs_to_the_last_rung_and_remembers_its_results(cli: Cli) -> None:
    ladder_command = (
        "ladder",
        "champion",
        "--from",
        "example-node",
        "--to",
        "draw-3",
        "--workers",
        "1",
    )
    result = cli(*ladder_command, "--json")
    assert result.code == 0, result.err
    assert result.json()["beaten"] == "draw-3"
    assert result.json()["next"] is None
    assert [rung["known"] for rung in result.json()["rungs"]] == [False, False]
    assert result.json()["rungs"][0]["points"] > 50
    second_run = cli(*ladder_command)
    assert second_run.out.count("known") == 2
    assert "You beat draw-3 (rating " in second_run.out
    assert "; that was the last one." in second_run.out, "as far as --to asks, which is not the top"
    assert "champion has the rating " in second_run.out


def test_the_ladder_stops_at_the_first_rung_that_is_not_beaten(cli: Cli) -> None:
    result = cli("ladder", "draw-3", "--from", "example-node", "--to", "third", "--workers", "1")
    assert result.code == 1, "--to says to a script whether the rung was beaten"
    assert "You beat example-node (rating " in result.out
    assert result.out.count("not beaten") == 1
    next_line = next(line for line in result.out.splitlines() if "is next" in line)
    assert "draw-3 (rating " in next_line, "equal to itself, it is not shown to be stronger"


# --- a file that training wrote -------------------------------------------------------------------


SEARCH = "cardsharp.games.deadmansdraw.strategies.search"


@pytest.fixture
def weights_file(tmp_path: Path) -> str:
    """A file with captain's weights, as if a user had trained them."""
    file = tmp_path / "w.json"
    file.write_text((files(SEARCH) / "captain.json").read_text())
    return str(file)


def test_captains_weights_in_a_file_play_like_captain(cli: Cli, weights_file: str) -> None:
    duel_options = ("third", "-n", "1", "--seed", "4", "--workers", "1", "--json")
    first = cli("lab", "duel", "captain", *duel_options).json()
    second = cli("lab", "duel", weights_file, *duel_options, "--save-matches", "1").json()
    assert first["counts"] == second["counts"]
    decisions = cli("backtest", weights_file, "--json").json()[0]["decisions"]
    assert decisions
    assert not any(decision["differs"] for decision in decisions)
    series_player = find_native_function("series_player")
    if series_player is not None:
        third, captain = BuiltIn("third"), BuiltIn("captain")
        assert (series_player(Weights(weights_file), third) is None) == (
            series_player(captain, third) is None
        )


@pytest.mark.slow
def test_trained_weights_play_complete_matches(cli: Cli, weights_file: str) -> None:
    assert cli("play", "--strategy", weights_file, "--json").json()["logComplete"]


def test_a_file_that_is_no_trained_player_is_rejected(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    opponents = (
        '{{"version": 1, "weights": {{}}, "opponents": '
        '[{{"name": "a", "weights": "{weights}", "stops": {stops}, "answers": null}}]}}'
    )
    for text, game, expected_error in (
        (
            "{}",
            "deadmansdraw",
            "is not a file that training wrote, or it is damaged (ValueError: This is not a weight",
        ),
        (
            opponents.format(weights="nobody", stops="null"),
            "deadmansdraw",
            "(ValueError: It has no weights 'nobody', which a profile names). Train again",
        ),
        (
            opponents.format(weights="general", stops='"nobody"'),
            "deadmansdraw",
            "(ValueError: The profile of the opponent 'a': No strategy is called 'nobody'",
        ),
        ("mine", "deadmansdraw", "line 1, column 1, is no JSON (Expecting value)"),
        ("{}", "blef", "no strategy of that game is trained into a file"),
    ):
        file.write_text(text)
        result = cli("lab", "duel", str(file), str(file), "--game", game, "-n", "1")
        assert (result.code, expected_error in result.err) == (2, True)


# --- the pages, walked ----------------------------------------------------------------------------


DOCS = Path(__file__).parents[2] / "docs"
TUTORIAL_TEXT = (DOCS / "your-own-bot.md").read_text("utf-8")
WRITE_A_BOT_TEXT = (DOCS / "write-a-bot.md").read_text("utf-8")


def apply_tutorial_change(text: str) -> str:
    """Return the starter's text with the change that the tutorial describes."""
    [new_function] = re.findall(r"```python\n(def worth.*?)```", TUTORIAL_TEXT, re.DOTALL)
    replacement = re.search(
        r"`(key=lambda [^`]+)` for `(key=card_value)`", TUTORIAL_TEXT.replace("\n", " ")
    )
    assert text.count(replacement[2]) == 1
    return (
        text[: text.index("def card_value(")].replace(replacement[2], replacement[1]) + new_function
    )


def find_costliest_decision(cli: Cli, strategy: str, opponent: str) -> dict[str, Any]:
    """Return the costliest decision of three lost matches, as `backtest` reports it."""
    options = ("-n", "8", "--save-matches", "3", "--seed", "1", "--workers", "1", "--json")
    duel_result = cli("lab", "duel", strategy, opponent, *options)
    ids = duel_result.json()["kept"]
    assert len(ids) == 3
    backtests = [
        cli("backtest", "captain", "--match", match_id, "--json").json() for match_id in ids
    ]
    decisions = (decision for [match] in backtests for decision in match["decisions"])
    costliest_decision: dict[str, Any] = min(decisions, key=lambda decision: decision["cost"] or 0)
    assert costliest_decision["then"]["by"] == Path(strategy).name
    assert costliest_decision["then"]["action"] != costliest_decision["now"]["action"]
    return costliest_decision


@pytest.mark.slow
def test_the_tutorial_leads_from_a_new_file_to_its_costliest_decision(
    cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "walked.py"
    assert cli("new", str(file)).code == 0
    ladder_command = ("ladder", str(file), "--from", "draw-3", "--to", "third", "--json")
    assert cli(*ladder_command).json()["beaten"] != "third", (
        "as it is, it is about as strong as draw-3"
    )
    assert find_costliest_decision(cli, str(file), "draw-3")["cost"] < -0.1

    file.write_text(apply_tutorial_change(file.read_text()))
    ladder_result = cli(*ladder_command).json()
    assert ladder_result["beaten"] in {"draw-3", "champion"}, (
        "as the page has it: third is too strong"
    )
    costliest_decision = find_costliest_decision(cli, str(file), "third")
    assert costliest_decision["cost"] < 0


def test_a_position_written_by_hand_can_be_decided(cli: Cli, tmp_path: Path) -> None:
    assert cli("new", str(tmp_path / "mine.py")).code == 0
    [code] = re.findall(r"^```python\n(.*?)^```", WRITE_A_BOT_TEXT, re.DOTALL | re.MULTILINE)
    process = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)  # noqa: S603
    assert process.returncode == 0
