"""Tests of the rows of a match log: old versions are readable, broken rows are isolated."""

import lzma
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from support.cli import Cli
from support.euchre_service import DealMessages, EuchreServiceHarness
from support.store_fixtures import START, FakeClock, require_match

from cardsharp.analysis.replay import header_of
from cardsharp.core.clock import SystemClock
from cardsharp.games.blef.service.game_store import GAME_STORE_FACTORY
from cardsharp.games.blef.service.records import GameRecord
from cardsharp.games.deadmansdraw.history.decisions import decisions
from cardsharp.games.deadmansdraw.history.replay import group_into_turns
from cardsharp.games.euchre.service.deal_store import DEAL_STORE_FACTORY, DealKey
from cardsharp.store.match_log import MatchRecord, MatchStatus, MoveRecord
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.match_sources.match_logs import import_match

SAMPLE = Path(__file__).parents[1] / "samples" / "match_log_v1.db.xz"
"""A match log of version 1, as 0.2.0 wrote it: one match that `cardsharp play` played."""

OLD_MATCH_ID = "6b02cce1a0e6aea65b5ee74b"
TTL = timedelta(hours=1)


@pytest.fixture
def old_log(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    path.write_bytes(lzma.decompress(SAMPLE.read_bytes()))
    return path


def update(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            assert db.execute(statement).rowcount == 1
        db.commit()


def read_match(path: Path, match_id: str) -> tuple[MatchRecord, list[MoveRecord]]:
    with closing(SqliteMatchLog(path, FakeClock(), read_only=True)) as log:
        record = require_match(log, match_id)
        return record, log.moves(match_id)


def test_every_decision_of_an_old_log_can_be_replayed(old_log: Path) -> None:
    record, moves = read_match(old_log, OLD_MATCH_ID)
    logged_steps = [
        step for turn in group_into_turns(moves) for step in turn.steps_with_own_decision
    ]
    replayed_decisions = [
        decision
        for decision in decisions(record, moves)
        if decision.step.seat in header_of(record).seats
    ]
    assert [decision.step.sequence for decision in replayed_decisions] == [
        step.sequence for step in logged_steps
    ]


BROKEN_VALUES = (
    ("header", '\'{"names": ["a\''),
    ("header", "'[1]'"),
    ("header", "'{\"names\": 7}'"),
    ("header", "CAST(x'7bff7d' AS TEXT)"),
    ("header", "x'00ff'"),
    ("outcome", "'won'"),
    ("outcome", '\'{"turns": "x"}\''),
    ("status", "'lost'"),
    ("started", "'soon'"),
)


def test_a_broken_move_or_row_is_reported_without_hiding_other_matches(
    cli: Cli, old_log: Path, tmp_path: Path
) -> None:
    record, moves = read_match(old_log, OLD_MATCH_ID)
    path, clock = tmp_path / "three.db", FakeClock()
    with closing(SqliteMatchLog(path, clock)) as log:
        for name in ("first", "bad", "last"):
            clock.advance(TTL)
            import_match(replace(record, match_id=name), moves, log)
    store, content = ("--store", f"sqlite:{path}"), path.read_bytes()
    for value in ("'{\"sequenceId\": 40, '", "x'1234'", "'{\"sequenceId\": 4}'"):
        update(path, f"UPDATE moves SET facts = {value} WHERE match_id = 'bad' AND sequence = 40")  # noqa: S608 - our own texts
        outcome = cli("show", "bad", *store)
        assert (outcome.code, len(outcome.err.splitlines())) == (0, 1)
        assert "move 40 of match bad cannot be read" in outcome.err.lower()
        assert "won, 55 : 54, in 17 turns" in outcome.out
    for column, value in BROKEN_VALUES:
        path.write_bytes(content)
        update(path, f"UPDATE matches SET {column} = {value} WHERE id = 'bad'")  # noqa: S608 - our own texts
        list_result = cli("matches", *store)
        assert (list_result.code, list_result.err) == (0, "")
        rows = {line.split()[0]: line for line in list_result.out.splitlines()}
        assert {name for name, row in rows.items() if "cannot be read" in row} == {"bad"}, value
        document = {
            entry["match"]: entry["fault"] for entry in cli("matches", *store, "--json").json()
        }
        assert [name for name, fault in document.items() if fault] == ["bad"]
        assert document.keys() == {"first", "bad", "last"} <= rows.keys()
        error_result = cli("show", "bad", *store)
        assert error_result.code == 1
        assert re.search("bad.*cannot be read", error_result.err)
        assert "bug in Cardsharp" not in error_result.err
    assert "17 turns" in cli("show", "last", *store).out


def test_a_match_with_a_broken_header_continues(tmp_path: Path) -> None:
    """The lease stays valid, and the worker writes a new header."""
    path, header = tmp_path / "log.db", {"names": ["a", "b"]}
    with closing(SqliteMatchLog(path, FakeClock())) as log:
        lease = log.acquire_lease("bad", "me", TTL, header)
        update(path, "UPDATE matches SET header = 'x' WHERE id = 'bad'")
        [record] = log.running_matches()
        assert (record.lease, record.header, record.status) == (lease, {}, MatchStatus.RUNNING)
        assert record.read_error
        log.renew_lease(lease, TTL)
        log.update_header(lease, header)
        repaired_record = require_match(log, "bad")
        assert (repaired_record.header, repaired_record.read_error) == (header, None)


def test_a_broken_game_or_deal_hides_no_other(tmp_path: Path, cli: Cli) -> None:
    path, clock = tmp_path / "games.db", FakeClock()
    with closing(GAME_STORE_FACTORY.open_file(path, clock)) as games:
        for name in ("a", "b", "c"):
            games.create(GameRecord(name, START, is_public=True))
        update(path, "UPDATE documents SET shown = '[' WHERE partition = 'game#b'")
        assert [game.uuid for game in games.recent_public_games()] == ["a", "c"]
    path = tmp_path / "deals.db"
    with closing(DEAL_STORE_FACTORY.open_file(path, SystemClock())) as deals:
        for number in (1, 2):
            deals.begin(DealKey("t", 1, number), tuple(range(24)))
    update(path, "UPDATE documents SET body = 'x' WHERE sort LIKE '%2'")
    store = ("--store", f"sqlite:{path}")
    assert "deal 1" in cli("euchre", "show", "last", *store).out
    error_result = cli("euchre", "show", "t-1-2", *store)
    assert (error_result.code, "t-1-2 cannot be read" in error_result.err) == (1, True)


BROKEN_DEALS = (
    "'x'",
    "'{}'",
    "json_set(body, '$.cards', 'x')",
    "json_set(body, '$.cards', '1,2,3')",
    f"json_set(body, '$.cards', '{'0,' * 23}0')",
    "json_set(body, '$.events', '[\"bid\",true,1,[1],7,false]')",
    "json_set(body, '$.events', 'x')",
)


@pytest.mark.parametrize("broken", BROKEN_DEALS)
def test_a_broken_deal_of_euchre_is_played_with_safe_answers(tmp_path: Path, broken: str) -> None:
    """The service answers with safe actions, because an error would end the client's tournament."""
    path = tmp_path / "deals.db"
    with closing(DEAL_STORE_FACTORY.open_file(path, SystemClock())) as deals:
        service = EuchreServiceHarness("rules", deals)
        deal = DealMessages(service)
        deal.begin()
        update(path, f"UPDATE documents SET body = {broken}")  # noqa: S608 - our own texts
        assert deal.request_bid(1, 0)["suit"] == -1
        assert deal.request_swap(0, [3, 7, 23])["card"] == 3
        assert deal.send_play(0, 0, 0, 0)["card"] is None
        assert deal.request_play(0, 1, 1, [1, 5])["card"] == 1
    assert service.log.strategy_failures == ["no stored deal matches this question"] * 3


def test_all_running_matches_are_returned_without_a_limit(tmp_path: Path) -> None:
    with closing(SqliteMatchLog(tmp_path / "m.db", FakeClock())) as log:
        for number in range(101):
            log.acquire_lease(f"m{number}", "ann", timedelta(seconds=3))
        assert len(log.matches()) == 100
        assert len(log.running_matches()) == 101
