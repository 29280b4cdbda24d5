"""The matches that a command selects from a log of all games, in which some are damaged."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import requests
from support.cli import Cli, type_lines
from support.stored_matches import PLAYERS, sample_match
from support.waiting import HANG_SECONDS

from cardsharp.analysis.match_listing import newest_matches
from cardsharp.games.deadmansdraw.arena_bot.opponent_history import last_matches_against
from cardsharp.play.catalog import get_game
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.game_rooms.room_server import serve_match_pages
from cardsharp_tools.games.deadmansdraw.opponent_learning import past_matches_by_opponent
from cardsharp_tools.match_sources.match_logs import default_store, import_match, open_log
from cardsharp_tools.match_sources.sources import find_source

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
RIVAL = "2" * 24  # an opponent's id at an arena


@pytest.fixture
def log(cli: Cli) -> Iterator[SqliteMatchLog]:
    """Our own match log, empty."""
    del cli  # which says where our data lie
    with open_log(default_store()) as opened:
        yield opened


def keep(log: SqliteMatchLog, name: str, match_id: str, minute: int = 0, **header: object) -> None:
    """Store a complete match of that game, begun in that minute, with extra header fields."""
    record, moves = sample_match(name)
    full_header = {**record.header, **header}
    started = BEGAN + timedelta(minutes=minute)
    import_match(
        replace(record, match_id=match_id, started_at=started, header=full_header), moves, log
    )


def keep_foreign(log: SqliteMatchLog, number: int) -> None:
    """Store matches of a game that is not mounted; they are the newest in the log."""
    for index in range(number):
        lease = log.acquire_lease(f"chess-{index}", "test", timedelta(minutes=1), {"game": "chess"})
        log.finish(lease, {"result": "won"})


def selected_match_id(cli: Cli, *words: str) -> str:
    """Return the id of the match that a command shows."""
    return str(cli(*words, "--json").json()["match"])


def change(statement: str) -> None:
    """Change one row of our own match log."""
    with closing(sqlite3.connect(default_store().removeprefix("sqlite:"))) as db:
        assert db.execute(statement).rowcount == 1
        db.commit()


# --- last ------------------------------------------------------------------------------------


def test_last_selects_the_last_deal_of_deals_that_began_together(
    cli: Cli, log: SqliteMatchLog
) -> None:
    for number in range(1, 12):
        keep(log, "euchre", f"table-{number}")
    assert selected_match_id(cli, "show", "last") == "table-11"
    listed = [row["match"] for row in cli("matches", "--json").json()]
    assert listed == [f"table-{number}" for number in range(11, 0, -1)]
    log.vacuum()
    assert selected_match_id(cli, "show") == "table-11", "no matter how the file was rewritten"


def test_last_is_of_the_game_that_the_command_is_about(
    cli: Cli, log: SqliteMatchLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command for matches of any game takes the last of any."""
    for minute, name in enumerate(("deadmansdraw", "blef", "euchre")):
        keep(log, name, f"the-{name}", minute)
    for name in PLAYERS:
        assert (
            selected_match_id(cli, name, "show", "last")
            == selected_match_id(cli, name, "show")
            == f"the-{name}"
        )
        assert (
            selected_match_id(cli, name, "analyse")
            == selected_match_id(cli, name, "watch")
            == f"the-{name}"
        )
    assert selected_match_id(cli, "show", "last") == "the-euchre"
    store = ("--store", default_store())
    assert selected_match_id(cli, "euchre", "show", "last", *store) == "the-euchre"
    [tried] = cli("backtest", "draw-3", "--json").json()
    assert tried["match"] == "the-deadmansdraw"
    type_lines(monkeypatch, "quit")
    assert (
        "continue match the-deadmansdraw at step 3"
        in cli("versus", "--from-position", "last@3", "--json").err
    )


def test_a_game_without_a_match_is_named(cli: Cli, log: SqliteMatchLog) -> None:
    keep(log, "blef", "one")
    refused = cli("deadmansdraw", "show", "last")
    assert (refused.code, "no match of Dead Man's Draw" in refused.err) == (2, True)


def test_part_of_an_id_selects_a_match_of_the_commands_game(cli: Cli, log: SqliteMatchLog) -> None:
    for name in PLAYERS:
        keep(log, name, f"{name}-77")
    for name in PLAYERS:
        assert selected_match_id(cli, name, "show", "77") == f"{name}-77"
    assert "can be 3 matches" in cli("show", "77").err
    assert "is not a match of Blef" in cli("blef", "show", "euchre-7").err


# --- however many of other games lie between ---------------------------------------------------


def test_no_number_of_other_games_matches_hides_a_game(cli: Cli, log: SqliteMatchLog) -> None:
    """`last`, a bot that reads its opponents' past matches, and a lesson still see the match."""
    keep(log, "deadmansdraw", "own", players=["1" * 24, RIVAL], opponent=None)
    keep_foreign(log, 320)
    first = get_game(None)
    assert [match.match_id for match in newest_matches(log, first, limit=200)] == ["own"]
    assert [match.match_id for match in newest_matches(log, None, limit=1)] == ["own"]
    assert newest_matches(log, first, limit=1, max_read=100) == []
    assert len(last_matches_against(log, RIVAL, 6)) == 1
    assert (
        selected_match_id(cli, "show", "last")
        == selected_match_id(cli, "deadmansdraw", "show")
        == "own"
    )
    with serve_match_pages(find_source(None)) as address:
        page = requests.get(f"{address}/matches", timeout=HANG_SECONDS)
    assert (page.status_code, "chess-319" in page.text) == (200, True)
    listed = cli("matches", "--limit", "400")
    assert (listed.code, "chess-319" in listed.out, "own" in listed.out) == (0, True, True)
    for command in ("stats", "learn-opponents", "lesson"):
        assert "chess" not in cli(command).err, command


# --- damaged records ---------------------------------------------------------------------------


def test_a_damaged_match_hides_no_other_from_whoever_reads_many(
    cli: Cli, log: SqliteMatchLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = {"players": ["1" * 24, RIVAL], "opponent": None}
    for minute, name in enumerate(("one", "bad", "two")):
        seats = {"0": "you"}
        keep(log, "deadmansdraw", name, minute, **players, seats=seats)
    change("UPDATE moves SET facts = x'1234' WHERE match_id = 'bad' AND sequence = 4")
    log.add_note("two", "withdrawn", {"sequence": 1})
    change("UPDATE notes SET body = 'x' WHERE match_id = 'two'")
    assert len(last_matches_against(log, RIVAL, 6)) == 2, "no history with a gap"
    assert cli("show", "two").code == 0
    judged = cli("stats", "--json")
    assert (judged.code, sum(group["sides"] for group in judged.json()["groups"])) == (0, 2)
    monkeypatch.setattr("cardsharp_tools.game_rooms.lessons.HUMAN_NAME", "one")
    lesson = cli("lesson", "--json")
    assert (lesson.code, "Match bad is skipped: Move 4" in lesson.err) == (0, True)
    assert {question["match"] for question in lesson.json()} == {"one", "two"}
    change("UPDATE matches SET header = '{\"names\": 7}' WHERE id = 'bad'")
    for command in ("stats", "lesson"):
        assert cli(command, "--json").code == 0, command
    assert [name for name, _ in past_matches_by_opponent(log).values()] == ["two"]


def test_a_damaged_local_log_does_not_hide_matches_of_another_source(cli: Cli, home: Path) -> None:
    (home / "cardsharp").mkdir(parents=True)
    (home / "cardsharp" / "matches.db").write_bytes(b"no database" * 100)
    outcome = cli("show", "final-2023")
    assert (outcome.code, "55" in outcome.out) == (0, True)
