"""`cardsharp play`: from nothing to a finished match whose log equals the arena's history."""

import re
import time
from pathlib import Path

import pytest
from support.cli import Cli, written


def test_one_match_is_shown_turn_by_turn_checked_and_kept(cli: Cli) -> None:
    # In one of some matches by chance we never stop.
    played = cli("play", "--seed", "1")
    assert played.code == 0, played.err
    assert "captain (us) v example-java" in played.out
    turns = re.search(r", in (\d+) turns", played.out)
    assert turns is not None
    for number in range(1, int(turns[1]) + 1):
        assert re.search(rf"^ +{number} (captain|example)", played.out, re.MULTILINE)
    assert re.search(r"log complete: \d+ moves, equal to the arena's", played.out)
    assert "EndTurn  Stop: " in played.out, "the reason of a decision"
    shown = cli("show", "last")
    assert shown.code == 0
    assert "captain (us) v example-java" in shown.out
    follow_up = re.search(r"cardsharp (why last \d+)", played.out)
    assert follow_up is not None
    why = cli(*follow_up[1].split())
    assert why.code == 0
    assert "chosen  " in why.out


@pytest.mark.timed
def test_json_is_one_document_of_all_matches_whatever_the_users_settings_say(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDSHARP_ARENA_URL", "https://arena.example")
    monkeypatch.setenv("CARDSHARP_NONSENSE", "1")
    began = time.monotonic()
    document = cli("play", "-n", "2", "--json").json()
    assert time.monotonic() - began < 20, "it waited for the end of a long poll"
    assert document["won"] + document["lost"] + document["tied"] == 2
    assert document["logComplete"] is True
    assert len(document["matches"]) == 2
    assert all(match["faults"] == [] for match in document["matches"])
    requests = document["requests"]
    assert requests["view"] + requests["view_wait"] <= requests["act"]


def test_the_same_seed_plays_the_same_match_even_where_nothing_can_be_kept(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home that cannot be written costs the copy, not the match."""
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    matches = []
    for _ in range(2):
        played = cli("play", "--seed", "7", "--strategy", "draw-3", "--json")
        assert played.code == 0
        assert "could not be kept" in played.err
        [match] = played.json()["matches"]
        matches.append([match[key] for key in ("turns", "moves", "scores", "result")])
    assert matches[0] == matches[1]


def test_an_opponent_that_fails_ends_the_run_with_its_last_words(cli: Cli, tmp_path: Path) -> None:
    failing = written(tmp_path, "bad_opponent", "os._exit(0)", "import os")
    played = cli("play", "--opponent", failing)
    assert played.code == 1
    said = "cannot play: the strategy ended the process (os._exit(0)) (bad_opponent.py, line 13, in"
    assert said in played.err
    assert "Traceback" not in played.err


def test_the_emulator_plays_the_same_match_through_sqs_and_dynamodb(cli: Cli) -> None:
    played = cli("play", "--cloud", "emulator", "--json")
    assert played.code == 0, played.err
    assert played.json()["logComplete"] is True
    assert cli("show", "last").code == 0, "the match outlives the emulator"


# --- the final of 2023 ----------------------------------------------------------------------------


def test_the_final_is_shown_without_any_log(cli: Cli) -> None:
    assert "both seats, 55 : 51, in 18 turns" in cli("show", "final-2023").out
    assert "Turn 3 was not decided by us but by Pathormous" in cli("why", "final-2023", "3").err


@pytest.mark.parametrize("columns", [60, 80])
def test_narrow_terminals_break_names_and_lose_no_figure(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = cli("show", "final-2023").out.splitlines()
    assert max(map(len, shown)) <= columns
    assert [line.split()[-1] for line in shown[-6:-2:2]] == ["55", "51"]
    assert "\N{HORIZONTAL ELLIPSIS}" not in cli("analyse", "final-2023").out


def test_its_analysis_adds_up_to_its_result(cli: Cli) -> None:
    """Each of its decisions is judged on the position that our rules make of the events."""
    found = cli("analyse", "final-2023", "--json").json()["analysis"]
    first, second = found["players"]
    assert found["result"] == 1.0
    total = found["start"] + found["luck"] + found["misjudged"] + first["skill"] - second["skill"]
    assert total == pytest.approx(1.0)
