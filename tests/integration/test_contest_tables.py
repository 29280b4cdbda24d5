"""A contest of any game, at tables of its own: Euchre, with a team whose code ends its process."""

from collections.abc import Iterable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from support.contests import founded
from support.games import mount_samples

from cardsharp.cloud.clock import SystemClock, utc_now
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.contest.acts import Desk
from cardsharp.contest.director import Director
from cardsharp.contest.entries import Result, Settings
from cardsharp.contest.pages import file_page
from cardsharp.contest.sqlite import found_in
from cardsharp.errors import ConfigError, Malformed
from workbench.contest.hall import Hall, Holder, directed
from workbench.contest.organiser import check_teams
from workbench.contest.table import TableTask, played, tabled
from workbench.contest.tables import LOG, HomeTables

DIES = """
import os
from cardsharp.euchre.strategies import strategy

@strategy("dies")
class Dies:
    def __init__(self, stopwatch): pass
    def decide(self, position): os._exit(0)
"""


def held(
    folder: Path, teams: Iterable[tuple[str, str]], settings: Settings, killed: int
) -> tuple[list[Result], list[list[str]]]:
    """How a contest ends that was left after so many steps and taken up again."""
    with found_in(folder, settings) as records:
        names = {records.enter(name, strategy)[0].id: name for name, strategy in teams}
        for steps in filter(None, (killed, 10_000)):
            with HomeTables(records, folder, utc_now) as tables:
                director = Director(records, tables)
                for _ in range(steps):
                    if director.step():
                        break
                    tables.pause()
        assert "Won by" in file_page(records)
        assert all(result.decided for result in records.results())
        with closing(SqliteLog(folder / LOG, SystemClock())) as log:  # they can be watched
            assert {one.header["game"] for one in log.matches()} == {settings.game}
        return records.results(), [[names[team] for team in level] for level in records.table()]


def test_whoever_ends_the_process_loses_and_a_contest_that_is_killed_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is lost; points are those of Euchre."""
    own = tmp_path / "dies.py"
    own.write_text(DIES)
    teams = (("One", "random"), ("Two", "rules"), ("Dies", str(own)))
    settings = Settings("cup", "round-robin", matches=1, timeout=60, seed="7", game="euchre")
    results, places = held(tmp_path, teams, settings, 1)
    assert places[-1] == ["Dies"]
    assert "the strategy ended the process (os._exit(0)) (dies.py, line 8" in caplog.text
    assert [sum(result.facts[0].late) for result in results].count(1) == 2
    assert all(max(result.points[0]) >= 10 for result in results)


def test_a_file_that_ends_at_import_has_lost_and_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import os\nos._exit(0)\n")
    strategies = ("random", str(tmp_path / "ends.py"))
    log = tmp_path / "matches.db"
    task = TableTask("m", "euchre", 7, ("One", "Two"), strategies, utc_now(), "cup", log)
    end = played(task, lambda _line: None)
    assert (end.failed, end.turns) == (1, 0)
    assert "ends.py, line 2, in <module>: the strategy ended the process" in end.fault


def test_a_table_seats_as_many_as_the_game_allows_and_counts_what_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wins, chips: that of Kuhn poker was killed, and goes on to no other end."""
    mount_samples(monkeypatch, tmp_path)
    for game, killed, strategies, made in (
        ("blef", 0, ("random", "random", "greedy", "greedy"), {(0, 0, 0, 1)}),
        ("kuhn", 1, ("optimum", "random"), {(-1, 1), (-2, 2)}),
    ):
        teams = [(f"Team {number}", strategy) for number, strategy in enumerate(strategies)]
        settings = Settings("cup", "tables", 1, 1, 60, seed="7", game=game, seats=len(teams))
        (table,), places = held(tmp_path / game, teams, settings, killed)
        assert len(table.points) == 1
        assert {tuple(sorted(points)) for points in table.points} <= made
        best = max(zip(table.so_far.points, (name for name, _ in teams), strict=True))
        assert best[1] in places[0]
    ((whole,), _) = held(tmp_path / "whole", teams, settings, 0)
    assert whole.points == table.points


def test_who_has_withdrawn_leaves_an_empty_chair(tmp_path: Path) -> None:
    """The two others play on; there is a third name in the result, without a point."""
    settings = Settings("cup", "tables", 1, 1, 60, seed="7", game="blef", seats=3)
    with found_in(tmp_path, settings) as records:
        ids = [records.enter(name, "random")[0].id for name in ("One", "Two", "Three")]
        records.pause(on=True)
        with HomeTables(records, tmp_path, utc_now) as tables:
            director = Director(records, tables)
            director.step()
            Desk(records, utc_now).withdraw("Two", "ill")
            records.pause(on=False)
            while not director.step():
                tables.pause()
        (table,) = records.results()
        assert table.teams == tuple(ids)
        ((one, two, three),) = table.points
        assert (two, {one, three}) == (0, {0, 1})
    with closing(SqliteLog(tmp_path / LOG, SystemClock())) as log:
        assert [sorted(one.header["players"]) for one in log.matches()] == [["One", "Three"]]


def test_what_no_table_can_seat_is_refused(tmp_path: Path) -> None:
    with found_in(tmp_path / "cup", Settings("cup", game="euchre")) as records:
        for name in ("One", "Two"):
            records.enter(name)
        with pytest.raises(ConfigError, match="One has no strategy"):
            HomeTables(records, tmp_path, utc_now).__enter__()
    with pytest.raises(ConfigError, match="Euchre has no arena where One could play"):
        check_teams(founded(0, game="euchre"), [("One", None)])
    with pytest.raises(Malformed, match="No game is called 'chess'"):
        tabled("chess", 2)
    with pytest.raises(ConfigError, match="Euchre is not played by 4 teams at a table, but by 2"):
        tabled("euchre", 4)


def test_a_folder_has_one_director_and_the_other_is_told_which(tmp_path: Path) -> None:
    told = r"`contest practice` has run since \d\d:\d\d in process \d+: stop it there"
    first, second = directed(tmp_path, "practice"), directed(tmp_path, "run")
    with first, pytest.raises(ConfigError, match=told), second:
        pass
    first, waits = directed(tmp_path, "practice"), directed(tmp_path, "run", 0.1)
    with first, pytest.raises(ConfigError, match="has not handed over within 0 s: stop"), waits:
        pass
    with directed(tmp_path, "run"):
        pass


def test_practice_ends_for_who_waits_after_a_turn_at_the_latest(tmp_path: Path) -> None:
    """Though its matches last; and goes on where who waited has gone away."""
    now, waiting = utc_now(), list[Holder]()
    until, end = list[datetime | None](), now + timedelta(hours=1)
    with found_in(tmp_path / "cup", Settings("cup", timeout=60)) as records:
        records.practise(end)
        under_way = Hall(records, list, list, list, lambda: waiting[-1] if waiting else None)
        for _ in under_way.practice(end):
            until.append(records.practises_until)
            match len(until):
                case 1:
                    waiting.append(Holder("run", now, 1))
                case 2:
                    waiting.clear()
                case 3:
                    waiting.append(Holder("run", now - timedelta(seconds=61), 2))
    assert until == [end, now, end, now - timedelta(seconds=61)]
