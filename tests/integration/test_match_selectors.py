"""Tests of the matches that a command selects from a log with several games.

Some of the matches are damaged.
"""

import gzip
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import requests
from support.cli import Cli, type_lines
from support.stored_matches import FAST_STRATEGIES, sample_match
from support.waiting import HANG_SECONDS

from cardsharp.analysis.match_listing import newest_matches
from cardsharp.games.deadmansdraw.arena_bot.opponent_history import last_matches_against
from cardsharp.play.catalog import get_game
from cardsharp.store.match_log import MatchRecord
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.game_rooms.room_server import serve_match_pages
from cardsharp_tools.match_sources import sources
from cardsharp_tools.match_sources.match_logs import default_store, import_match, open_log
from cardsharp_tools.match_sources.sources import find_source

FIRST_START = datetime(2026, 11, 1, tzinfo=UTC)
RIVAL = "2" * 24  # an opponent's id at an arena


@pytest.fixture
def log(cli: Cli) -> Iterator[SqliteMatchLog]:
    """The user's match log, which is empty."""
    del cli  # which says where our data lie
    with open_log(default_store()) as match_log:
        yield match_log


def store_match(
    log: SqliteMatchLog, name: str, match_id: str, minute: int = 0, **header: object
) -> None:
    """Store a complete match of a game, with a start time in minutes and more header fields."""
    record, moves = sample_match(name)
    full_header = {**record.header, **header}
    started = FIRST_START + timedelta(minutes=minute)
    import_match(
        replace(record, match_id=match_id, started_at=started, header=full_header), moves, log
    )


def store_foreign_matches(log: SqliteMatchLog, match_count: int) -> None:
    """Store matches of an unknown game; they are the newest in the log."""
    for index in range(match_count):
        lease = log.acquire_lease(f"chess-{index}", "test", timedelta(minutes=1), {"game": "chess"})
        log.finish(lease, {"result": "won"})


def select_match_id(cli: Cli, *arguments: str) -> str:
    """Return the id of the match that a command shows."""
    return str(cli(*arguments, "--json").json()["match"])


def update_row(statement: str) -> None:
    """Update one row of the user's match log."""
    with closing(sqlite3.connect(default_store().removeprefix("sqlite:"))) as db:
        assert db.execute(statement).rowcount == 1
        db.commit()


# --- last ------------------------------------------------------------------------------------


def test_last_selects_the_last_deal_of_deals_that_began_together(
    cli: Cli, log: SqliteMatchLog
) -> None:
    for number in range(1, 12):
        store_match(log, "euchre", f"table-{number}")
    assert select_match_id(cli, "show", "last") == "table-11"
    match_ids = [row["match"] for row in cli("matches", "--json").json()]
    assert match_ids == [f"table-{number}" for number in range(11, 0, -1)]
    log.vacuum()
    assert select_match_id(cli, "show") == "table-11", "no matter how the file was rewritten"


def test_last_selects_a_match_of_the_commands_game(
    cli: Cli, log: SqliteMatchLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command for all games selects the last match of any game."""
    for minute, name in enumerate(("deadmansdraw", "blef", "euchre")):
        store_match(log, name, f"the-{name}", minute)
    for name in FAST_STRATEGIES:
        assert (
            select_match_id(cli, name, "show", "last")
            == select_match_id(cli, name, "show")
            == f"the-{name}"
        )
        assert (
            select_match_id(cli, name, "analyse")
            == select_match_id(cli, name, "watch")
            == f"the-{name}"
        )
    assert select_match_id(cli, "show", "last") == "the-euchre"
    store = ("--store", default_store())
    assert select_match_id(cli, "euchre", "show", "last", *store) == "the-euchre"
    [backtest] = cli("backtest", "draw-3", "--json").json()
    assert backtest["match"] == "the-deadmansdraw"
    type_lines(monkeypatch, "quit")
    assert (
        "continue match the-deadmansdraw at step 3"
        in cli("versus", "--from-position", "last@3", "--json").err
    )


def test_a_log_without_a_match_of_the_game_is_reported(cli: Cli, log: SqliteMatchLog) -> None:
    store_match(log, "blef", "one")
    error_result = cli("deadmansdraw", "show", "last")
    assert (error_result.code, "no match of Dead Man's Draw" in error_result.err) == (2, True)


def test_part_of_an_id_selects_a_match_of_the_commands_game(cli: Cli, log: SqliteMatchLog) -> None:
    for name in FAST_STRATEGIES:
        store_match(log, name, f"{name}-77")
    for name in FAST_STRATEGIES:
        assert select_match_id(cli, name, "show", "77") == f"{name}-77"
    assert "can be 3 matches" in cli("show", "77").err
    assert "is not a match of Blef" in cli("blef", "show", "euchre-7").err


# --- however many of other games lie between ---------------------------------------------------


def test_the_newest_match_of_a_game_is_found_without_reading_a_header_twice(
    log: SqliteMatchLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, ever longer lists were read, each from the newest match on."""
    store_match(log, "deadmansdraw", "own")
    store_foreign_matches(log, 320)
    read_ids, list_page = list[str](), log.matches

    def list_and_count(**arguments: Any) -> list[MatchRecord]:  # noqa: ANN401 - as the log has them
        page = list_page(**arguments)
        read_ids.extend(record.match_id for record in page)
        return page

    monkeypatch.setattr(log, "matches", list_and_count)
    assert [match.match_id for match in newest_matches(log, get_game(None), limit=1)] == ["own"]
    assert len(read_ids) == len(set(read_ids)) == 321


def test_no_number_of_other_games_matches_hides_a_game(cli: Cli, log: SqliteMatchLog) -> None:
    """`last` and a lesson find the match among many of an unknown game."""
    store_match(log, "deadmansdraw", "own", players=["1" * 24, RIVAL], opponent=None)
    store_foreign_matches(log, 320)
    game = get_game(None)
    assert [match.match_id for match in newest_matches(log, game, limit=200)] == ["own"]
    assert [match.match_id for match in newest_matches(log, None, limit=1)] == ["own"]
    assert newest_matches(log, game, limit=1, max_read=100) == []
    assert len(last_matches_against(log, RIVAL, 6)) == 1
    assert (
        select_match_id(cli, "show", "last")
        == select_match_id(cli, "deadmansdraw", "show")
        == "own"
    )
    with serve_match_pages(find_source(None)) as address:
        pages = list(_fetch_pages(f"{address}/matches"))
    assert [len(page) for page in pages] == [50] * 6 + [21]
    assert [*chain(*pages)] == [*(f"chess-{number}" for number in range(319, -1, -1)), "own"]
    list_result = cli("matches", "--limit", "400")
    assert (list_result.code, "chess-319" in list_result.out, "own" in list_result.out) == (
        0,
        True,
        True,
    )
    for command in ("stats", "lesson"):
        assert "chess" not in cli(command).err, command


def _fetch_pages(address: str) -> Iterator[list[str]]:
    """Yield the ids of the matches on each page of a list, from the first to the last page."""
    query: str | None = ""
    while query is not None:
        text = requests.get(f"{address}{query}", timeout=HANG_SECONDS).text
        yield list(dict.fromkeys(re.findall(r'href="/matches/([^"?/]+)"', text)))
        older = re.search(r'href="([^"]+)">Older matches', text)
        query = None if older is None else unescape(older[1])


# --- damaged records ---------------------------------------------------------------------------


def test_a_damaged_match_hides_no_other_match(
    cli: Cli, log: SqliteMatchLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = {"players": ["1" * 24, RIVAL], "opponent": None}
    for minute, name in enumerate(("one", "bad", "two")):
        seats = {"0": "you"}
        store_match(log, "deadmansdraw", name, minute, **players, seats=seats)
    update_row("UPDATE moves SET facts = x'1234' WHERE match_id = 'bad' AND sequence = 4")
    log.add_note("two", "withdrawn", {"sequence": 1})
    update_row("UPDATE notes SET body = 'x' WHERE match_id = 'two'")
    assert len(last_matches_against(log, RIVAL, 6)) == 2, "no history with a gap"
    assert cli("show", "two").code == 0
    stats_result = cli("stats", "--json")
    assert (stats_result.code, sum(group["sides"] for group in stats_result.json()["groups"])) == (
        0,
        2,
    )
    monkeypatch.setattr("cardsharp_tools.game_rooms.lessons.HUMAN_NAME", "one")
    lesson_result = cli("lesson", "--json")
    assert (lesson_result.code, "Match bad is skipped: Move 4" in lesson_result.err) == (0, True)
    assert {question["match"] for question in lesson_result.json()} == {"one", "two"}
    update_row("UPDATE matches SET header = '{\"names\": 7}' WHERE id = 'bad'")
    for command in ("stats", "lesson"):
        assert cli(command, "--json").code == 0, command


def test_a_damaged_local_log_does_not_hide_matches_of_another_source(cli: Cli, home: Path) -> None:
    (home / "cardsharp").mkdir(parents=True)
    (home / "cardsharp" / "matches.db").write_bytes(b"no database" * 100)
    outcome = cli("show", "final-2023")
    assert (outcome.code, "55" in outcome.out) == (0, True)


def test_a_match_is_shown_from_its_recorded_opening(cli: Cli, tmp_path: Path) -> None:
    """The arena can begin a match with cards in the banks; they count from the first turn on."""
    sample = Path(sources.__file__).with_name("samples") / "final-2023.json.gz"
    document = json.loads(gzip.decompress(sample.read_bytes()))
    document["creationParams"]["banks"] = [[{"suit": "Sword", "value": 7}], []]
    (tmp_path / "opening.json").write_text(json.dumps(document))
    match = cli("show", str(tmp_path / "opening.json"), "--json").json()
    usual_match = cli("show", "final-2023", "--json").json()
    assert usual_match["turns"][0]["scores"] == [0, 21]
    assert match["turns"][0]["scores"] == [7, 21]
    assert "7 : 21" in cli("show", str(tmp_path / "opening.json")).out
