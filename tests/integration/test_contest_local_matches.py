"""Tests of contests with local matches of any game, and of teams whose code fails."""

from collections.abc import Iterable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from support.contests import new_contest
from support.games import mount_samples

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.contest_file import create_contest_in
from cardsharp.contest.director import ContestDirector
from cardsharp.contest.models import ContestSettings, PairingResult
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.view.pages import standalone_contest_page
from cardsharp.core.clock import SystemClock, utc_now
from cardsharp.errors import ConfigError, InvalidInput
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from cardsharp_tools.contest.admin_actions import check_teams_and_get_game
from cardsharp_tools.contest.contest_lock import LockHolder, lock_contest
from cardsharp_tools.contest.contest_process import ContestLoop
from cardsharp_tools.contest.local_match_host import LocalMatchHost
from cardsharp_tools.contest.match_worker import (
    MatchTask,
    play_and_store_hosted_match,
    simulation_for_side_count,
)
from cardsharp_tools.contest.open_contest import OpenContest
from cardsharp_tools.executors.strategy_reference import BuiltIn, StrategyFile

EXITING_STRATEGY = """
import os
from cardsharp.games.euchre.strategies import strategy

@strategy("dies")
class Dies:
    def __init__(self, stopwatch): pass
    def decide(self, position): os._exit(0)
"""


def run_interrupted_contest(
    folder: Path, teams: Iterable[tuple[str, str]], settings: ContestSettings, step_limit: int
) -> tuple[list[PairingResult], list[list[str]]]:
    """Return results and standings of a contest stopped after `killed` steps and resumed."""
    with create_contest_in(folder, settings) as records:
        names = {records.add_team(name, strategy)[0].id: name for name, strategy in teams}
        for steps in filter(None, (step_limit, 10_000)):
            with LocalMatchHost(OpenContest(folder, records), utc_now) as match_host:
                director = ContestDirector(records, match_host)
                for _ in range(steps):
                    if director.step():
                        break
                    match_host.wait_for_match_end()
        assert "Won by" in standalone_contest_page(records)
        assert all(result.decided for result in records.results())
        with closing(
            SqliteMatchLog(folder / "matches.db", SystemClock())
        ) as log:  # they can be watched
            assert {match.header["game"] for match in log.matches()} == {settings.game}
        return records.results(), [[names[team] for team in level] for level in records.standings()]


def test_a_strategy_that_exits_loses_and_a_stopped_contest_resumes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A stopped contest resumes without a loss; its points are those of Euchre."""
    strategy_file = tmp_path / "dies.py"
    strategy_file.write_text(EXITING_STRATEGY)
    teams = (("One", "random"), ("Two", "rules"), ("Dies", str(strategy_file)))
    settings = ContestSettings("cup", "round-robin", matches=1, timeout=60, seed="7", game="euchre")
    results, standings = run_interrupted_contest(tmp_path, teams, settings, 1)
    assert standings[-1] == ["Dies"]
    assert "the strategy ended the process (os._exit(0)) (dies.py, line 8" in caplog.text
    assert [sum(result.facts[0].late) for result in results].count(1) == 2
    assert all(max(result.match_points[0]) >= 10 for result in results)


def test_a_strategy_that_exits_at_import_loses_and_its_line_is_reported(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import os\nos._exit(0)\n")
    strategies = (BuiltIn("random"), StrategyFile(str(tmp_path / "ends.py")))
    log = tmp_path / "matches.db"
    task = MatchTask("m", "euchre", 7, ("One", "Two"), strategies, utc_now(), "cup", log)
    result = play_and_store_hosted_match(task, lambda _line: None)
    assert (result.failed_side, result.turns) == (1, 0)
    assert "ends.py, line 2, in <module>: the strategy ended the process" in result.failure


def test_a_table_has_as_many_seats_as_the_game_and_counts_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points are wins or chips; the contest of Kuhn poker is stopped and ends the same."""
    mount_samples(monkeypatch, tmp_path)
    for game, step_limit, strategies, expected_points in (
        ("blef", 0, ("random", "random", "greedy", "greedy"), {(0, 0, 0, 1)}),
        ("kuhn", 1, ("optimum", "random"), {(-1, 1), (-2, 2)}),
    ):
        teams = [(f"Team {number}", strategy) for number, strategy in enumerate(strategies)]
        settings = ContestSettings("cup", "tables", 1, 1, 60, seed="7", game=game, seats=len(teams))
        (table_result,), standings = run_interrupted_contest(
            tmp_path / game, teams, settings, step_limit
        )
        assert len(table_result.match_points) == 1
        assert {tuple(sorted(points)) for points in table_result.match_points} <= expected_points
        best_team = max(
            zip(table_result.current_outcome.points, (name for name, _ in teams), strict=True)
        )
        assert best_team[1] in standings[0]
    ((uninterrupted_result,), _) = run_interrupted_contest(tmp_path / "whole", teams, settings, 0)
    assert uninterrupted_result.match_points == table_result.match_points


def test_a_withdrawn_team_leaves_an_empty_seat(tmp_path: Path) -> None:
    """The other two teams play on; the result has three teams, the withdrawn one without points."""
    settings = ContestSettings("cup", "tables", 1, 1, 60, seed="7", game="blef", seats=3)
    with create_contest_in(tmp_path, settings) as records:
        ids = [records.add_team(name, "random")[0].id for name in ("One", "Two", "Three")]
        records.set_paused(paused=True)
        with LocalMatchHost(OpenContest(tmp_path, records), utc_now) as match_host:
            director = ContestDirector(records, match_host)
            director.step()
            ContestAdmin(records, utc_now).withdraw_team("Two", "ill")
            records.set_paused(paused=False)
            while not director.step():
                match_host.wait_for_match_end()
        (table_result,) = records.results()
        assert table_result.teams == tuple(ids)
        ((first_points, second_points, third_points),) = table_result.match_points
        assert (second_points, {first_points, third_points}) == (0, {0, 1})
    with closing(SqliteMatchLog(tmp_path / "matches.db", SystemClock())) as log:
        assert [sorted(match.header["players"]) for match in log.matches()] == [["One", "Three"]]


@pytest.mark.parametrize("act", ["none", "withdraw", "withdraw and restart", "rule"])
def test_an_undone_act_leaves_no_trace_in_real_matches(tmp_path: Path, act: str) -> None:
    """A match that was played without a withdrawn team is played again with it."""
    settings = ContestSettings("cup", "tables", 1, 1, 60, seed="7", game="blef", seats=3)
    with create_contest_in(tmp_path, settings) as records:
        for name in ("One", "Two", "Three"):
            records.add_team(name, "random")
        admin, contest = ContestAdmin(records, utc_now), OpenContest(tmp_path, records)

        def play_to_end(match_host: LocalMatchHost, director: ContestDirector) -> None:
            while not director.step():
                match_host.wait_for_match_end()

        with LocalMatchHost(contest, utc_now) as match_host:
            director = ContestDirector(records, match_host)
            if act.startswith("withdraw"):
                records.start_contest()
                admin.withdraw_team("Two", "ill")
            elif act == "rule":
                director.step()
                admin.rule_pairing(records.results()[0].pairing, "Two", "mistake")
            play_to_end(match_host, director)
            if act != "none":
                admin.undo()
            if act.endswith("restart"):
                director = ContestDirector(records, match_host)
            play_to_end(match_host, director)
        (table_result,) = records.results()
        assert (table_result.ruled, len(table_result.matches)) == (None, 1)
        assert records.discarded_results() == []
    with closing(SqliteMatchLog(tmp_path / "matches.db", SystemClock())) as log:
        (match,) = log.matches()
        assert sorted(match.header["players"]) == ["One", "Three", "Two"]
    assert sorted(table_result.match_points[0]) == [0, 0, 1]
    assert table_result.facts[0].turns > 0


def test_a_contest_that_no_table_can_seat_is_refused(tmp_path: Path) -> None:
    with create_contest_in(tmp_path / "cup", ContestSettings("cup", game="euchre")) as records:
        for name in ("One", "Two"):
            records.add_team(name)
        with pytest.raises(ConfigError, match="One has no strategy"):
            LocalMatchHost(OpenContest(tmp_path, records), utc_now).__enter__()
    with pytest.raises(ConfigError, match="Euchre has no arena that One could sign in to"):
        check_teams_and_get_game(new_contest(0, game="euchre"), [("One", None)])
    with pytest.raises(InvalidInput, match="No game is called 'chess'"):
        simulation_for_side_count("chess", 2)
    with pytest.raises(
        ConfigError, match=r"A match of Euchre cannot have 4 teams. The usual number is 2"
    ):
        simulation_for_side_count("euchre", 4)


def test_a_folder_has_one_director_and_a_second_one_is_refused(tmp_path: Path) -> None:
    message = r"`contest practice` has been running since \d\d:\d\d in process \d+. Stop it there"
    first_lock, second_lock = lock_contest(tmp_path, "practice"), lock_contest(tmp_path, "run")
    with first_lock, pytest.raises(ConfigError, match=message), second_lock:
        pass
    first_lock, waiting_lock = (
        lock_contest(tmp_path, "practice"),
        lock_contest(tmp_path, "run", 0.1),
    )
    with (
        first_lock,
        pytest.raises(ConfigError, match=r"has not handed over within 0 s. Stop"),
        waiting_lock,
    ):
        pass
    with lock_contest(tmp_path, "run"):
        pass


class _IdleLoop(ContestLoop):
    """Loop in which no match is played; the last of `waiting_processes` waits to take over."""

    def __init__(self, records: ContestRecords, waiting_processes: list[LockHolder]) -> None:
        super().__init__(records)
        self._waiting_processes = waiting_processes

    def take_step(self) -> None:
        """Do nothing."""

    def pause(self) -> None:
        """Do nothing."""

    def waiting_command(self) -> LockHolder | None:
        """Return the last process that waits."""
        return self._waiting_processes[-1] if self._waiting_processes else None


def test_practice_stops_within_one_turn_for_a_waiting_process(tmp_path: Path) -> None:
    """Practice stops although a match runs, and continues if the waiting process is gone."""
    current_time, waiting_processes = utc_now(), list[LockHolder]()
    end_times, end = list[datetime | None](), current_time + timedelta(hours=1)
    with create_contest_in(tmp_path / "cup", ContestSettings("cup", timeout=60)) as records:
        records.set_practice_until(end)
        for _ in _IdleLoop(records, waiting_processes).practice_steps_until(end):
            end_times.append(records.practice_until)
            match len(end_times):
                case 1:
                    waiting_processes.append(LockHolder("run", current_time, 1))
                case 2:
                    waiting_processes.clear()
                case 3:
                    waiting_processes.append(
                        LockHolder("run", current_time - timedelta(seconds=61), 2)
                    )
    assert end_times == [end, current_time, end, current_time - timedelta(seconds=61)]
