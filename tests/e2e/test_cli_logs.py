"""Tests of `play`, and of `matches`, `show` and `why` on the log of finished matches."""

import io
import json
import re
import sqlite3
import stat
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli, isolate_environment, start_program, wait_for_line, write_strategy_file
from support.waiting import HANG_SECONDS

from cardsharp.core.clock import SystemClock
from cardsharp.games.deadmansdraw.sentences import label_action
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.cli import main

FolderAndOutput = tuple[Path, dict[str, Any]]


@pytest.fixture(scope="module")
def folder_and_output(tmp_path_factory: pytest.TempPathFactory) -> FolderAndOutput:
    """A data folder with the log of two matches, and the output of `play`.

    The user's settings name an arena that cannot be reached.
    """
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as output:
        isolate_environment(patch, folder)
        patch.setenv("CARDSHARP_ARENA_URL", "https://arena.example")
        patch.setenv("CARDSHARP_NONSENSE", "1")
        assert main(["play", "-n", "2", "--json", "--opponent", "champion", "--seed", "4"]) == 0
    return folder, json.loads(output.getvalue())


@pytest.fixture(scope="module")
def home(folder_and_output: FolderAndOutput) -> Path:
    return folder_and_output[0]


def test_play_json_is_a_single_document_despite_arena_settings(
    folder_and_output: FolderAndOutput,
) -> None:
    _, document = folder_and_output
    assert document["won"] + document["lost"] + document["tied"] == 2
    assert document["logComplete"] is True
    assert len(document["matches"]) == 2
    assert all(match["faults"] == [] for match in document["matches"])
    requests = document["requests"]
    assert requests["view"] + requests["view_wait"] <= requests["act"]


def list_matches(cli: Cli, *options: str) -> list[dict[str, Any]]:
    return cli("matches", "--json", *options).json()


def our_turns(match: dict[str, Any]) -> list[int]:
    """Return the numbers of the turns with a decision of the bot."""
    decided_turns = (
        logged_turn
        for logged_turn in match["turns"]
        if any(move["decision"] for move in logged_turn["moves"])
    )
    return [turn["turn"] for turn in decided_turns]


def test_matches_are_listed_filtered_and_identified_by_either_end_of_the_id(cli: Cli) -> None:
    """The newest match is first; a match is identified by an unambiguous part of its id."""
    first, second = list_matches(cli)
    assert first["started"] > second["started"]
    table = cli("matches").out
    assert table.index(first["match"]) < table.index(second["match"])
    assert "captain (us) v champion" in table
    assert len(list_matches(cli, "--day", first["started"][:10])) == 2
    assert (
        list_matches(cli, "--day", "2001-01-01") == list_matches(cli, "--status", "running") == []
    )
    assert len(list_matches(cli, "--limit", "1")) == 1
    ids = [first["match"], second["match"]]
    shared_length = next(
        length for length in range(24, 0, -1) if ids[0][:length] == ids[1][:length]
    )
    for match_id in ids:
        for match_reference in (match_id, match_id[-5:], match_id[: shared_length + 1]):
            assert cli("show", match_reference, "--json").json()["match"] == match_id
    error_result = cli("show", ids[0][:shared_length])
    assert (error_result.code, "can be 2 matches" in error_result.err) == (2, True)


def test_log_files_are_accessible_to_their_owner_only(cli: Cli, home: Path) -> None:
    """Only their owner can read the match log and the program's log.

    The next command restricts a folder of an older version.
    """
    folder = home / "cardsharp"
    file_modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert file_modes == {"matches.db": 0o600, "play.log": 0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    assert len(list_matches(cli)) == 2
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_show_lists_every_turn_and_why_explains_each_decision(cli: Cli) -> None:
    match = cli("show", "last", "--json").json()
    assert [turn["turn"] for turn in match["turns"]] == [*range(1, match["outcome"]["turns"] + 1)]
    assert match["turns"][-1]["scores"] == match["outcome"]["scores"]
    output = cli("show", "last").out
    assert all(str(bank) in output for bank in match["outcome"]["scores"])
    moves = [move for turn in match["turns"] for move in turn["moves"]]
    all_decisions = [move["decision"] for move in moves if move["decision"]]
    assert len(all_decisions) > 10
    assert all(decision["reason"] for decision in all_decisions)
    our_turn_numbers = our_turns(match)
    decisions = cli("why", "last", str(our_turn_numbers[-1]), "--json").json()
    text = cli("why", "last", str(our_turn_numbers[-1])).out
    assert text.count("decision ") == len(decisions)
    for move in decisions:
        decision = move["decision"]
        assert f"chosen  {label_action(decision['action'])}" in text
        assert [option for option in decision["options"] if option["action"] == decision["action"]]
        assert f"{decision['decisionMs']:.1f} ms" in text
    for part in ("our bank", "their bank", "play area", "discarded", "unseen", "value"):
        assert part in text
    opponent_turn = next(
        turn["turn"] for turn in match["turns"] if turn["turn"] not in our_turn_numbers
    )
    for command, sentence in (
        ("show zzz", "No match 'zzz' is in the log; `cardsharp matches` lists them."),
        ("why last 99", "There is no turn 99"),
        (f"why last {opponent_turn}", ", which champion played. Our turns: "),
    ):
        error_result = cli(*command.split())
        assert (error_result.code, len(error_result.err.splitlines())) == (2, 1)
        assert sentence in error_result.err


def test_show_says_which_moves_the_arena_lost(cli: Cli, home: Path) -> None:
    first, second = (entry["match"] for entry in list_matches(cli))
    log = SqliteMatchLog(home / "cardsharp" / "matches.db", SystemClock())
    log.add_note(first, "withdrawn", {"sequence": 7, "intent": None, "facts": {}})
    log.close()
    assert (
        "The arena went back to an earlier state. The moves 7 were lost" in cli("show", first).err
    )
    assert cli("show", second).err == ""


def test_output_fits_the_terminal_width_without_trailing_spaces(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    explain_command = f"why last {our_turns(cli('show', 'last', '--json').json())[0]}"
    for width, cards in ((80, ""), (120, " cards")):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = cli(*explain_command.split()).out.splitlines()
        assert max(map(len, lines)) <= width
        [suit_line, *_] = [line for line in lines if "Anchor" in line]
        suits = "Anchor Hook Cannon Key Chest Map Oracle Sword Kraken Mermaid"
        assert suit_line.split() == suits.split()
        unseen_line = next(line for line in lines if line.startswith("unseen"))
        assert re.search(rf"98765 +\d\d{cards}$", unseen_line.rstrip())
        assert any(re.match(r"> +\w+ +\d+\.\d %", line) for line in lines)
    for columns in ("60", ""):
        monkeypatch.setenv("COLUMNS", columns)
        if not columns:
            monkeypatch.delenv("COLUMNS")
        for command in ("matches", "show last", explain_command, "strategies", "show final-2023"):
            lines = cli(*command.split()).out.splitlines()
            assert max(map(len, lines)) <= int(columns or 80), command
            assert [line for line in lines if line.endswith(" ")] == [], command
        assert [line.split()[-1] for line in lines[-6:-2:2]] == ["55", "51"], "no figure is lost"
        assert columns or "\N{HORIZONTAL ELLIPSIS}" not in cli("analyse", "final-2023").out


def test_strategies_lists_every_name_with_a_line(cli: Cli) -> None:
    # In this process tests have registered players of their own.
    with start_program("strategies", "--json") as process:
        strategies = {
            strategy["name"]: strategy["about"] for strategy in json.loads(process.communicate()[0])
        }
    assert {"champion", "steady", "draw-3"} <= strategies.keys()
    assert all(strategies.values())
    table = cli("strategies").out
    assert all(name in table for name in strategies)


# --- prune -----------------------------------------------------------------------------------


def count_matches(path: Path) -> tuple[int, int]:
    """Return the number of matches, and the number of matches with moves."""
    with closing(sqlite3.connect(path)) as db:
        query = "SELECT (SELECT count(*) FROM matches), count(DISTINCT match_id) FROM moves"
        matches, with_moves = db.execute(query).fetchone()
        return matches, with_moves


def test_prune_deletes_old_matches_on_confirmation_and_frees_disk_space(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matches that ended 40 and 20 days ago are pruned by age; a running match never is."""
    log_file = tmp_path / "aged.db"
    with (
        closing(sqlite3.connect(home / "cardsharp" / "matches.db")) as source_db,
        closing(sqlite3.connect(log_file)) as db,
    ):
        source_db.backup(db)
        ids = [row[0] for row in db.execute("SELECT id FROM matches ORDER BY started")]
        for match_id, days in zip(ids, (40, 20), strict=True):
            age = days * 24 * 60 * 60 * 1_000_000
            db.execute("UPDATE matches SET finished = finished - ? WHERE id = ?", (age, match_id))
        db.execute("INSERT INTO matches (id, status, started) VALUES ('runs', 'running', 0)")
        db.commit()
    original_size, store = log_file.stat().st_size, f"sqlite:{log_file}"
    prune = ("matches", "prune", "--store", store, "--older-than")
    result = cli(*prune, "30d", "--dry-run")
    assert (result.code, result.out) == (0, "1 match would be deleted\n")
    error_result = cli(*prune, "30d")
    assert (error_result.code, error_result.out) == (2, "")
    assert "1 match would be deleted. Add --yes" in error_result.err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda: "n")
    assert cli(*prune, "30d").out == "1 match kept\n"
    assert count_matches(log_file) == (3, 2)
    monkeypatch.setattr("builtins.input", lambda: "y")
    assert cli(*prune, "30d").out == "1 match deleted\n"
    assert count_matches(log_file) == (2, 1)
    assert cli(*prune, "30d").out == "No match ended that long ago.\n"
    last = cli(*prune, "12h", "--yes", "--json").json()
    assert (len(last["matches"]), last["deleted"]) == (1, True)
    assert count_matches(log_file) == (1, 0)
    assert log_file.stat().st_size < original_size / 2
    assert cli("matches", "--store", store).out.count("runs") == 1


# --- play, and the final of 2023 --------------------------------------------------------------


@pytest.fixture
def isolated_cli(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """The command line with a data folder for this test alone."""
    isolate_environment(monkeypatch, tmp_path)
    return cli


def test_a_match_is_logged_even_if_its_output_is_closed(isolated_cli: Cli) -> None:
    """The match ends as usual in `cardsharp play | head -2`."""
    with start_program("play", "--seed", "7", "--strategy", "draw-3") as process:
        wait_for_line(process.stdout, "draw-3 (us) v example-java")
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(HANG_SECONDS) == 0, errors
    assert errors.count("The output cannot be written") == 1
    [match] = isolated_cli("matches", "--json").json()
    assert match["status"] == "finished"


def test_a_match_is_displayed_checked_and_logged_in_the_configured_store(
    isolated_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match is logged, and the same seed plays it again, even if it cannot be stored."""
    monkeypatch.setenv("CARDSHARP_STORE", f"sqlite:{tmp_path}/other.db")
    play_result = isolated_cli("play", "--seed", "7", "--strategy", "draw-3")
    assert play_result.code == 0, play_result.err
    assert "draw-3 (us) v example-java" in play_result.out
    turns = re.search(r", in (\d+) turns", play_result.out)
    for number in range(1, int(turns[1]) + 1):
        assert re.search(rf"^ +{number} (draw-3|example)", play_result.out, re.MULTILINE)
    assert re.search(r"log complete: \d+ moves, equal to the arena's", play_result.out)
    assert re.search("^ +bank  .", play_result.out, re.MULTILINE), "the reason of a decision"
    assert "draw-3 (us) v example-java" in isolated_cli("show", "last").out
    follow_up = re.search(r"cardsharp (why [0-9a-f]{24} \d+)", play_result.out)
    assert "show last" not in play_result.out, "another process may play meanwhile"
    assert "chosen  " in isolated_cli(*follow_up[1].split()).out
    stored_outcome = isolated_cli("show", "last", "--json").json()["outcome"]
    assert (
        isolated_cli("lab", "duel", "draw-3", "draw-2", "-n", "1", "--save-matches", "1").code == 0
    )
    assert len(isolated_cli("matches", "--json").json()) == 2
    (tmp_path / "file").write_text("no folder")
    monkeypatch.delenv("CARDSHARP_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    repeated_run = isolated_cli("play", "--seed", "7", "--strategy", "draw-3", "--json")
    assert repeated_run.code == 0
    assert "could not be stored" in repeated_run.err
    [match] = repeated_run.json()["matches"]
    assert [match[key] for key in ("turns", "scores", "result")] == [
        stored_outcome[key] for key in ("turns", "scores", "result")
    ]


def test_an_opponent_that_fails_ends_the_run_with_its_last_words(
    isolated_cli: Cli, tmp_path: Path
) -> None:
    strategy_file = write_strategy_file(tmp_path, "bad_opponent", "os._exit(0)", "import os")
    play_result = isolated_cli("play", "--opponent", strategy_file)
    assert play_result.code == 1
    expected_error = (
        "cannot play: the strategy ended the process (os._exit(0)) (bad_opponent.py, line 13, in"
    )
    assert expected_error in play_result.err
    assert "Traceback" not in play_result.err


def test_the_emulator_plays_the_same_match_through_sqs_and_dynamodb(isolated_cli: Cli) -> None:
    play_result = isolated_cli("play", "--cloud", "emulator", "--strategy", "draw-3", "--json")
    assert play_result.code == 0, play_result.err
    assert play_result.json()["logComplete"] is True
    assert isolated_cli("show", "last").code == 0, "the match outlives the emulator"


def test_the_sample_final_is_displayed_without_a_log(cli: Cli) -> None:
    """It has the date and time limit of the contest; its time of day is not recorded."""
    shown = cli("show", "final-2023").out
    assert "both seats, 55 : 51, in 18 turns" in shown
    assert "started 2023-02-03, tags Day5_Round11 Day5, 7 s a move\n" in shown
    assert (
        "We made no decision in turn 3, which Pathormous Almasastic played."
        in cli("why", "final-2023", "3").err
    )
    assert cli("analyse", "final-2023", "--json").json()["analysis"]["result"] == 1.0
