"""A contest of any game, at tables of its own: Euchre, with a team whose code ends its process."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.contest.director import Director
from cardsharp.contest.entries import Result, Settings
from cardsharp.contest.pages import file_page
from cardsharp.contest.sqlite import found_in
from cardsharp.errors import ConfigError, Malformed
from workbench.contest.home import directed
from workbench.contest.tables import LOG, HomeTables, check_game

DIES = """
import os
from cardsharp.euchre.strategies import strategy

@strategy("dies")
class Dies:
    def __init__(self, stopwatch): pass
    def decide(self, position): os._exit(0)
"""


def held(folder: Path, own: Path, killed: int) -> tuple[list[Result], list[list[str]]]:
    """How a contest of three teams ends that was left after so many steps and taken up again."""
    settings = Settings("cup", "round-robin", matches=1, timeout=60, seed="7", game="euchre")
    with found_in(folder, settings) as records:
        names = {}
        for name, strategy in (("One", "random"), ("Two", "rules"), ("Dies", str(own))):
            names[records.enter(name, strategy)[0].id] = name
        for steps in (killed, 10_000):
            with HomeTables(records, folder, lambda: datetime.now(UTC)) as tables:
                director = Director(records, tables)
                for _ in range(steps):
                    if director.step():
                        break
                    tables.pause()
        assert "Won by" in file_page(records)
        return records.results(), [[names[team] for team in level] for level in records.table()]


def test_whoever_ends_the_process_loses_and_a_contest_that_is_killed_goes_on(
    tmp_path: Path,
) -> None:
    """Nothing is lost or played to another end, and what was played can be watched."""
    own = tmp_path / "dies.py"
    own.write_text(DIES)
    results, places = held(tmp_path / "whole", own, 0)
    assert places[-1] == ["Dies"]
    assert [sum(result.facts[0].late) for result in results].count(1) == 2
    assert all(result.decided for result in results)
    again, places_again = held(tmp_path / "killed", own, 1)
    assert places_again == places
    assert [one.points for one in again] == [one.points for one in results]
    with closing(SqliteLog(tmp_path / "whole" / LOG, SystemClock())) as log:
        assert {one.header["game"] for one in log.matches()} == {"euchre"}


def test_a_team_without_a_strategy_and_a_game_without_two_sides_are_refused(tmp_path: Path) -> None:
    with found_in(tmp_path / "cup", Settings("cup", game="euchre")) as records:
        for name in ("One", "Two"):
            records.enter(name)
        with pytest.raises(ConfigError, match="One has no strategy"):
            HomeTables(records, tmp_path, lambda: datetime.now(UTC)).__enter__()
    with pytest.raises(Malformed, match="No game is called 'chess'"):
        check_game("chess")


def test_a_folder_has_one_director_and_the_other_is_told_which(tmp_path: Path) -> None:
    told = r"`contest practice` has run since \d\d:\d\d in process \d+: stop it there"
    first, second = directed(tmp_path, "practice"), directed(tmp_path, "run")
    with first, pytest.raises(ConfigError, match=told), second:
        pass
    with directed(tmp_path, "run"):
        pass
