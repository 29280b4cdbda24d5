"""`play`, and `matches`, `show` and `why`: what the log tells when a match is long over."""

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
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.cli import main

Begun = tuple[Path, dict[str, Any]]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Begun:
    """A data folder with the log of two matches, and what was told of them.

    Played by a user whose settings are those of an arena far away.
    """
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as output:
        isolate_environment(patch, folder)
        patch.setenv("CARDSHARP_ARENA_URL", "https://arena.example")
        patch.setenv("CARDSHARP_NONSENSE", "1")
        assert main(["play", "-n", "2", "--json", "--opponent", "champion", "--seed", "4"]) == 0
    return folder, json.loads(output.getvalue())


@pytest.fixture(scope="module")
def home(begun: Begun) -> Path:
    return begun[0]


def test_play_json_is_a_single_document_despite_arena_settings(begun: Begun) -> None:
    _, document = begun
    assert document["won"] + document["lost"] + document["tied"] == 2
    assert document["logComplete"] is True
    assert len(document["matches"]) == 2
    assert all(match["faults"] == [] for match in document["matches"])
    requests = document["requests"]
    assert requests["view"] + requests["view_wait"] <= requests["act"]


def listed(cli: Cli, *options: str) -> list[dict[str, Any]]:
    return cli("matches", "--json", *options).json()


def our_turns(match: dict[str, Any]) -> list[int]:
    """Numbers of the turns in which we decided something."""
    decided = (t for t in match["turns"] if any(move["decision"] for move in t["moves"]))
    return [turn["turn"] for turn in decided]


def test_matches_are_listed_filtered_and_identified_by_either_end_of_the_id(cli: Cli) -> None:
    """The last started first; an id may be shortened unless it could be two."""
    first, second = listed(cli)
    assert first["started"] > second["started"]
    table = cli("matches").out
    assert table.index(first["match"]) < table.index(second["match"])
    assert "captain (us) v champion" in table
    assert len(listed(cli, "--day", first["started"][:10])) == 2
    assert listed(cli, "--day", "2001-01-01") == listed(cli, "--status", "running") == []
    assert len(listed(cli, "--limit", "1")) == 1
    ids = [first["match"], second["match"]]
    shared = next(n for n in range(24, 0, -1) if ids[0][:n] == ids[1][:n])
    for match_id in ids:
        for match_reference in (match_id, match_id[-5:], match_id[: shared + 1]):
            assert cli("show", match_reference, "--json").json()["match"] == match_id
    refused = cli("show", ids[0][:shared])
    assert (refused.code, "can be 2 matches" in refused.err) == (2, True)


def test_log_files_are_accessible_to_their_owner_only(cli: Cli, home: Path) -> None:
    """Match log and program's log; a folder of before is narrowed by the next command."""
    folder = home / "cardsharp"
    file_modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert file_modes == {"matches.db": 0o600, "play.log": 0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    assert len(listed(cli)) == 2
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_show_lists_every_turn_and_why_explains_each_decision(cli: Cli) -> None:
    match = cli("show", "last", "--json").json()
    assert [turn["turn"] for turn in match["turns"]] == [*range(1, match["outcome"]["turns"] + 1)]
    assert match["turns"][-1]["scores"] == match["outcome"]["scores"]
    output = cli("show", "last").out
    assert all(str(bank) in output for bank in match["outcome"]["scores"])
    moves = [move for turn in match["turns"] for move in turn["moves"]]
    decided = [move["decision"] for move in moves if move["decision"]]
    assert len(decided) > 10
    assert all(decision["reason"] for decision in decided)
    our_turn_numbers = our_turns(match)
    decisions = cli("why", "last", str(our_turn_numbers[-1]), "--json").json()
    text = cli("why", "last", str(our_turn_numbers[-1])).out
    assert text.count("decision ") == len(decisions)
    for move in decisions:
        decision = move["decision"]
        assert f"chosen  {decision['action']}" in text
        assert [o for o in decision["options"] if o["action"] == decision["action"]]
        assert f"{decision['decisionMs']:.1f} ms" in text
    for part in ("our bank", "their bank", "play area", "discarded", "unseen", "value"):
        assert part in text
    theirs = next(turn["turn"] for turn in match["turns"] if turn["turn"] not in our_turn_numbers)
    for question, sentence in (
        ("show zzz", "No match 'zzz' is in the log; `cardsharp matches` lists them."),
        ("why last 99", "There is no turn 99"),
        (f"why last {theirs}", ", which champion played. Our turns: "),
    ):
        refused = cli(*question.split())
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)
        assert sentence in refused.err


def test_show_says_which_moves_the_arena_lost(cli: Cli, home: Path) -> None:
    first, second = (entry["match"] for entry in listed(cli))
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
        [head, *_] = [line for line in lines if "Anchor" in line]
        suits = "Anchor Hook Cannon Key Chest Map Oracle Sword Kraken Mermaid"
        assert head.split() == suits.split()
        unseen = next(line for line in lines if line.startswith("unseen"))
        assert re.search(rf"98765 +\d\d{cards}$", unseen.rstrip())
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
    with start_program("strategies", "--json") as fresh:
        strategies = {
            strategy["name"]: strategy["about"] for strategy in json.loads(fresh.communicate()[0])
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
    """Of matches that ended 40 and 20 days ago, and one that runs: never that, however old."""
    aged = tmp_path / "aged.db"
    with (
        closing(sqlite3.connect(home / "cardsharp" / "matches.db")) as source_db,
        closing(sqlite3.connect(aged)) as db,
    ):
        source_db.backup(db)
        ids = [row[0] for row in db.execute("SELECT id FROM matches ORDER BY started")]
        for match_id, days in zip(ids, (40, 20), strict=True):
            age = days * 24 * 60 * 60 * 1_000_000
            db.execute("UPDATE matches SET finished = finished - ? WHERE id = ?", (age, match_id))
        db.execute("INSERT INTO matches (id, status, started) VALUES ('runs', 'running', 0)")
        db.commit()
    original_size, store = aged.stat().st_size, f"sqlite:{aged}"
    prune = ("matches", "prune", "--store", store, "--older-than")
    result = cli(*prune, "30d", "--dry-run")
    assert (result.code, result.out) == (0, "1 match would be deleted\n")
    refused = cli(*prune, "30d")
    assert (refused.code, refused.out) == (2, "")
    assert "1 match would be deleted. Add --yes" in refused.err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda: "n")
    assert cli(*prune, "30d").out == "1 match kept\n"
    assert count_matches(aged) == (3, 2)
    monkeypatch.setattr("builtins.input", lambda: "y")
    assert cli(*prune, "30d").out == "1 match deleted\n"
    assert count_matches(aged) == (2, 1)
    assert cli(*prune, "30d").out == "No match ended that long ago.\n"
    last = cli(*prune, "12h", "--yes", "--json").json()
    assert (len(last["matches"]), last["deleted"]) == (1, True)
    assert count_matches(aged) == (1, 0)
    assert aged.stat().st_size < original_size / 2
    assert cli("matches", "--store", store).out.count("runs") == 1


# --- play, and the final of 2023 --------------------------------------------------------------


@pytest.fixture
def fresh(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """The program with a data folder of this test alone."""
    isolate_environment(monkeypatch, tmp_path)
    return cli


def test_a_match_is_logged_even_if_its_output_is_closed(fresh: Cli) -> None:
    """As in `cardsharp play | head -2`: what only shows it ends no match."""
    with start_program("play", "--seed", "7", "--strategy", "draw-3") as process:
        wait_for_line(process.stdout, "draw-3 (us) v example-java")
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(HANG_SECONDS) == 0, errors
    assert errors.count("The output cannot be written") == 1
    [match] = fresh("matches", "--json").json()
    assert match["status"] == "finished"


def test_a_match_is_displayed_checked_and_logged_in_the_configured_store(
    fresh: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same seed plays it again, even where nothing can be kept: that costs the copy alone."""
    monkeypatch.setenv("CARDSHARP_STORE", f"sqlite:{tmp_path}/other.db")
    played = fresh("play", "--seed", "7", "--strategy", "draw-3")
    assert played.code == 0, played.err
    assert "draw-3 (us) v example-java" in played.out
    turns = re.search(r", in (\d+) turns", played.out)
    for number in range(1, int(turns[1]) + 1):
        assert re.search(rf"^ +{number} (draw-3|example)", played.out, re.MULTILINE)
    assert re.search(r"log complete: \d+ moves, equal to the arena's", played.out)
    assert re.search("EndTurn  .", played.out), "the reason of a decision"
    assert "draw-3 (us) v example-java" in fresh("show", "last").out
    follow_up = re.search(r"cardsharp (why [0-9a-f]{24} \d+)", played.out)
    assert "show last" not in played.out, "another process may play meanwhile"
    assert "chosen  " in fresh(*follow_up[1].split()).out
    stored_outcome = fresh("show", "last", "--json").json()["outcome"]
    assert fresh("lab", "duel", "draw-3", "draw-2", "-n", "1", "--save-matches", "1").code == 0
    assert len(fresh("matches", "--json").json()) == 2
    (tmp_path / "file").write_text("no folder")
    monkeypatch.delenv("CARDSHARP_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    repeated_run = fresh("play", "--seed", "7", "--strategy", "draw-3", "--json")
    assert repeated_run.code == 0
    assert "could not be stored" in repeated_run.err
    [match] = repeated_run.json()["matches"]
    assert [match[key] for key in ("turns", "scores", "result")] == [
        stored_outcome[key] for key in ("turns", "scores", "result")
    ]


def test_an_opponent_that_fails_ends_the_run_with_its_last_words(
    fresh: Cli, tmp_path: Path
) -> None:
    failing = write_strategy_file(tmp_path, "bad_opponent", "os._exit(0)", "import os")
    played = fresh("play", "--opponent", failing)
    assert played.code == 1
    expected_error = (
        "cannot play: the strategy ended the process (os._exit(0)) (bad_opponent.py, line 13, in"
    )
    assert expected_error in played.err
    assert "Traceback" not in played.err


def test_the_emulator_plays_the_same_match_through_sqs_and_dynamodb(fresh: Cli) -> None:
    played = fresh("play", "--cloud", "emulator", "--strategy", "draw-3", "--json")
    assert played.code == 0, played.err
    assert played.json()["logComplete"] is True
    assert fresh("show", "last").code == 0, "the match outlives the emulator"


def test_the_sample_final_is_displayed_without_a_log(cli: Cli) -> None:
    assert "both seats, 55 : 51, in 18 turns" in cli("show", "final-2023").out
    assert (
        "We made no decision in turn 3, which Pathormous Almasastic played."
        in cli("why", "final-2023", "3").err
    )
    assert cli("analyse", "final-2023", "--json").json()["analysis"]["result"] == 1.0
