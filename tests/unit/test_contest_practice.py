"""Practice matches of a contest: crashes, absent teams, forecasts and match charts."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from types import SimpleNamespace

import pytest
from fault_simulation.faults import CRASHES, Crash, FaultKind, FaultPlan
from fault_simulation.virtual_clock import VirtualClock
from support.arena_server import ALICE, BOB, ManualClock
from support.case_counts import case_count
from support.contests import new_contest
from support.fake_match_host import FakeMatchHost, with_faults

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.director import ContestDirector, ContestRunner
from cardsharp.contest.formats.base import FORMATS_BY_NAME
from cardsharp.contest.formats.forecast import simulate_contest
from cardsharp.contest.formats.pairing import SeriesRules
from cardsharp.contest.match_host import MatchResultFacts
from cardsharp.contest.models import PairingResult, PracticeMatch
from cardsharp.contest.practice import (
    INITIAL_BREAK,
    MAX_BREAK,
    PracticeDirector,
    absence_break_end_by_team,
    practice_ladder,
)
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.team_presence import CHECK_INTERVAL, wrong_tags_line
from cardsharp.contest.view.match_charts import (
    BarChart,
    FinishedMatch,
    Histogram2D,
    RankedBarChart,
    build_match_charts,
)
from cardsharp.contest.view.overview import probability_strongest
from cardsharp.errors import Unreachable
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN, User, UserDirectory
from cardsharp.games.deadmansdraw.arena.match import (
    MatchPlayers,
    RequestTimeAndAddress,
    apply_player_action,
    begin_match,
    end_overdue_turn,
)
from cardsharp.games.deadmansdraw.arena.match_creation import parse_create_request
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp.games.deadmansdraw.arena.views import ViewOptions, full_view
from cardsharp.games.deadmansdraw.arena_bot.wire import parse_view
from cardsharp.games.deadmansdraw.contest.arena_match_host import (
    ArenaMatchHost,
    match_facts_from_view,
)
from cardsharp_tools.contest import format_planner
from cardsharp_tools.contest.format_planner import (
    SIMULATION_RUNS,
    forecast_formats,
)


@pytest.fixture
def records() -> ContestRecords:
    return new_contest(5, matches=5, most=15)


def team_ids(records: ContestRecords) -> list[str]:
    return [team.id for team in records.teams()]


def host_with_all_teams(records: ContestRecords) -> FakeMatchHost:
    """Return a match host that has just heard from all teams."""
    match_host = FakeMatchHost()
    match_host.idle_by_team = dict.fromkeys(team_ids(records), 1.0)
    return match_host


def run_practice(records: ContestRecords, match_host: FakeMatchHost, steps: int) -> None:
    """Run so many steps of practice and then its end; restart the director after a crash."""
    director = PracticeDirector(records, match_host, lambda: match_host.current_time)
    for _ in range(steps):
        try:
            director.step()
        except Crash:
            director = PracticeDirector(records, match_host, lambda: match_host.current_time)
        except Unreachable:
            pass
    assert any(director.step(may_begin=False) for _ in range(20)), "practice does not end"


def test_a_removed_team_keeps_its_name_and_a_withdrawn_team_is_not_paired(
    records: ContestRecords,
) -> None:
    match_host = host_with_all_teams(records)
    run_practice(records, match_host, 10)
    removed_team, withdrawn_team, *_ = team_ids(records)
    records.remove_team("Team 0")
    assert records.team_names_with_removed()[removed_team] == "Team 0"
    ContestDirector(records, FakeMatchHost()).step()
    ContestAdmin(records, lambda: match_host.current_time).withdraw_team("Team 1", "ill")
    previous_count = len(match_host.begun_matches)
    run_practice(records, match_host, 10)
    assert len(match_host.begun_matches) > previous_count
    assert withdrawn_team not in {
        team for match in match_host.begun_matches[previous_count:] for team in match.request.teams
    }


def test_practice_pairs_only_teams_that_would_find_their_matches(records: ContestRecords) -> None:
    """A team that waits for the contest's tag practises; one that waits for another tag does not.

    It would never get its matches, and would be counted as having missed them.
    """
    match_host = host_with_all_teams(records)
    lost_team, *others = team_ids(records)
    waited_tags = [("cup",), ("cup-practice",), ("cup", "cup-practice"), None]
    match_host.tags_by_team = {lost_team: ("cpu", "cup2")} | {
        team: tags for team, tags in zip(others, waited_tags, strict=True) if tags is not None
    }
    run_practice(records, match_host, 20)
    assert {team for match in match_host.begun_matches for team in match.request.teams} == {*others}
    assert all(
        {"cup", "cup-practice"} < {*match.request.tags} for match in match_host.begun_matches
    )


def test_the_organiser_is_told_who_waits_for_wrong_tags(records: ContestRecords) -> None:
    """A present team with wrong tags is on record until it waits for the right ones.

    In the cup the tag of practice alone is wrong, and the tag of a round is right.
    """
    match_host = host_with_all_teams(records)
    first, second, third, *_ = team_ids(records)
    match_host.tags_by_team = {first: ("cpu",), second: ("cup-practice",), third: ("cup_Round1",)}
    records.set_practice_until(match_host.current_time + timedelta(hours=1))
    runner = ContestRunner(records, match_host, lambda: match_host.current_time)
    runner.step()
    assert records.wrong_tags_by_team() == {first: ("cpu",), third: ("cup_Round1",)}
    assert wrong_tags_line(records.settings, "Team 0", ("c\x1b[2Jpu",)) == (
        "Team 0 waits for the tag c?[2Jpu, which no match has, so it gets no match. It must wait "
        "for the tag cup."
    )
    match_host.tags_by_team[first] = ("cup",)
    records.set_practice_until(None)
    records.start_contest()
    runner.step()
    assert first in records.wrong_tags_by_team(), "it reads all players at every step"
    match_host.current_time += CHECK_INTERVAL
    runner.step()
    assert records.wrong_tags_by_team() == {second: ("cup-practice",)}
    match_host.idle_by_team[second] = None
    match_host.current_time += CHECK_INTERVAL
    ContestRunner(records, match_host, lambda: match_host.current_time).step()
    assert records.wrong_tags_by_team() == {}


def test_the_seeds_are_not_those_of_the_contest(records: ContestRecords) -> None:
    """Practice must not teach a team the cards of the final."""
    contest_host, practice_host = host_with_all_teams(records), host_with_all_teams(records)
    run_practice(records, practice_host, 40)
    director = ContestDirector(records, contest_host)
    assert any(director.step() for _ in range(200))
    seeds = [
        {match.request.seed for match in match_host.begun_matches}
        for match_host in (contest_host, practice_host)
    ]
    assert seeds[0].isdisjoint(seeds[1])


@pytest.mark.parametrize("kind", [*CRASHES, FaultKind.REQUEST_LOST, FaultKind.RESPONSE_LOST])
def test_practice_that_dies_at_any_call_loses_no_match(
    records: ContestRecords, kind: FaultKind
) -> None:
    """No match is begun or counted twice, and all teams still play equally often."""
    for call in range(0, 39, case_count(7, full=3)):
        match_host = host_with_all_teams(records)
        previous_count = len(records.practice_matches())
        run_practice(records, with_faults(match_host, FaultPlan(VirtualClock(), {call: kind})), 8)
        match_names = [match.name for match in match_host.begun_matches]
        assert len(set(match_names)) == len(match_names), call
        assert len(records.practice_matches()) - previous_count == len(match_host.begun_matches), (
            call
        )
    meetings = records.practice_matches()
    assert sorted(meeting.number for meeting in meetings) == list(range(1, len(meetings) + 1))
    counts = Counter(team for meeting in meetings for team in meeting.teams)
    assert max(counts.values()) - min(counts.values()) <= 2


def test_absent_teams_are_not_paired_and_teams_that_abandon_a_match_rest() -> None:
    """An abandoned match ends for the other side and counts for no rating."""
    records = new_contest(7)
    match_host = host_with_all_teams(records)
    absent_team, unseen_team, idle_team, *present_teams = team_ids(records)
    match_host.idle_by_team |= {unseen_team: None, idle_team: 41.0}
    match_host.absent = {absent_team}
    run_practice(records, match_host, 40)
    assert {player for match in match_host.begun_matches for player in match.request.teams} == {
        absent_team,
        *present_teams,
    }
    abandoned_meetings = [
        meeting for meeting in records.practice_matches() if absent_team in meeting.teams
    ]
    assert 1 <= len(abandoned_meetings) <= 2
    assert len(records.practice_matches()) > 15
    for meeting in abandoned_meetings:
        assert meeting.gone == (absent_team,)
        assert meeting.winner not in (None, absent_team)
        assert 2 <= sum(meeting.facts.late) <= 3
    unrated = {
        row.team: (row.rating, row.missed_matches, row.match_count)
        for row in practice_ladder(records)[-3:]
    }
    empty_row = (None, 0, 0)
    assert unrated == {
        absent_team: (None, len(abandoned_meetings), len(abandoned_meetings)),
        unseen_team: empty_row,
        idle_team: empty_row,
    }


def test_a_team_that_abandons_matches_has_longer_breaks_each_time() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def meeting(number: int, absent_teams: tuple[str, ...] = ()) -> PracticeMatch:
        facts = MatchResultFacts((1, 0), 0, 9.0, 9, (0, 0), (0, 0))
        return PracticeMatch(number, ("a", "b"), f"{number}", noon, facts, absent_teams)

    def break_duration(*meetings: PracticeMatch) -> timedelta:
        return absence_break_end_by_team(meetings)["a"] - noon

    abandoned_meetings = [meeting(number, ("a",)) for number in range(9)]
    assert [break_duration(*abandoned_meetings[:n]) for n in (1, 2, 3, 9)] == [
        INITIAL_BREAK,
        2 * INITIAL_BREAK,
        4 * INITIAL_BREAK,
        MAX_BREAK,
    ]
    assert break_duration(*abandoned_meetings, meeting(9)) == timedelta(0)
    assert break_duration(*abandoned_meetings, meeting(9), meeting(10, ("a",))) == INITIAL_BREAK


@pytest.mark.parametrize("order", [(ALICE, BOB), (BOB, ALICE)])
def test_busts_and_late_turns_are_counted_for_their_team(order: tuple[str, str]) -> None:
    """The figures are in the order of the pairing's teams, whatever their seats."""
    clock = ManualClock()
    pile = [["Mermaid", value] for value in range(4, 9)]
    body = {"drawPile": pile, "randomSeed": "norandom", "timeout": 7, "discardPile": []}
    params = parse_create_request(body, "1")
    match, move = begin_match(
        "0" * 24,
        MatchPlayers((ALICE, BOB), None),
        params,
        RandomnessMethod.FAIR,
        RequestTimeAndAddress(clock.current_time),
    )
    moves = [move]
    first_player = match.active_player
    for action in (DRAW, DRAW, DRAW, END_TURN, None, None, None):
        clock.advance(timedelta(seconds=9))
        request_info = RequestTimeAndAddress(clock.current_time)
        match, move = (
            end_overdue_turn(match, request_info)
            if action is None
            else apply_player_action(match, action, request_info)
        )
        moves.append(move)
    view_options = ViewOptions(User(ADMIN, None, ADMIN), show_events=True)
    view = parse_view(full_view(match, view_options, moves, UserDirectory(dict)))
    facts = (
        match_facts_from_view(view)
        if view.player_ids == order
        else match_facts_from_view(view).reordered((1, 0))
    )
    first_index = order.index(str(first_player))
    assert (facts.busts[first_index], facts.busts[1 - first_index]) == (1, 0)
    assert (facts.late[first_index], facts.late[1 - first_index]) == (2, 1)
    assert facts.points[1 - first_index] == 6
    assert (facts.seconds, facts.turns) == (7 * 9, match.turn)
    arena_client = SimpleNamespace(get_match=lambda _match, **_: view)
    assert ArenaMatchHost(arena_client).match_report(match.id).absent_teams == (first_player,), (
        "two turns in a row"
    )


CHANCE_TOLERANCE = (
    3 * 0.5 / SIMULATION_RUNS**0.5
)  # three standard errors of a chance that is simulated so often


def test_the_best_team_wins_uneven_contests_and_more_matches_take_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All pairings of a round are played at once; a round robin of four has three rounds."""
    monkeypatch.setattr(format_planner, "MATCH_COUNTS", (1, 5))  # those between take long
    for spread, min_chance, max_chance in (
        (10_000, 0.97, 1),
        (0, 0.25 - CHANCE_TOLERANCE, 0.25 + CHANCE_TOLERANCE),
    ):
        plan_proposals = list(forecast_formats(4, 120, spread))
        assert [
            proposal
            for proposal in plan_proposals
            if not min_chance <= proposal.best_team_win_chance <= max_chance
        ] == []
        minutes = {
            (proposal.format, proposal.matches): proposal.minutes for proposal in plan_proposals
        }
        assert (minutes["round-robin", 1], minutes["round-robin", 5]) == (6, 30)


def test_the_winners_chance_to_be_strongest_grows_with_the_match_count() -> None:
    strengths = {"a": 4000.0, "b": 2000.0, "c": 0.0}
    winners, slots, _ = simulate_contest(
        FORMATS_BY_NAME["double-elimination"], SeriesRules(3, 9), strengths, Random(1)
    )
    assert (winners, slots) == (["a"], 4 * 3)

    def results(matches: int) -> tuple[PairingResult, ...]:
        facts = tuple(MatchResultFacts((40, 30), 0, 60, 20) for _ in range(matches))
        return (PairingResult("1", 1, "round", ("a", "b"), decided=True, facts=facts),)

    single_match_chance, many_matches_chance = (
        probability_strongest("a", results(matches)) or 0 for matches in (1, 20)
    )
    assert 0.5 < single_match_chance < 0.85
    assert many_matches_chance > 0.99
    assert probability_strongest("a", ()) is None


NOON = datetime(2023, 2, 3, 12, tzinfo=UTC)


def finished_match(number: int, points: tuple[int, int]) -> FinishedMatch:
    """Return a match with that number, ten minutes after its predecessor."""
    start_time, winner = NOON + timedelta(minutes=10 * number), int(points[1] > points[0])
    facts = MatchResultFacts(
        points, winner, 60.0, 10, busts=(1, 4), late=(0, 1), banked=(3, 0), began=start_time
    )
    return FinishedMatch(("Ann", "Bob"), replace(facts, moves=(20, 15 + number), autopicks=(2, 0)))


def test_match_charts_show_time_length_score_and_player() -> None:
    charts = build_match_charts([finished_match(n, (50 - n, 21)) for n in range(13)])
    time_chart, length_chart, score_chart, rating_chart, finish_chart, *player_charts = charts
    assert isinstance(time_chart, BarChart)
    assert time_chart.title == "Matches in ten minutes (UTC)"
    assert time_chart.bars[0] == ("12:00", 1)
    assert [count for _, count in time_chart.bars] == [1] * 13
    daily_matches = [finished_match(144 * n, (3, 2)) for n in range(5)]
    assert build_match_charts(daily_matches)[0].title == "Matches a day (UTC)"
    assert isinstance(length_chart, BarChart)
    assert length_chart.bars == tuple((str(35 + n), 1) for n in range(13))
    assert isinstance(score_chart, Histogram2D)
    assert (score_chart.bin_size, sum(map(sum, score_chart.counts)), score_chart.counts[4][9]) == (
        5,
        13,
        5,
    )
    assert isinstance(rating_chart, RankedBarChart)
    assert [line.name for line in rating_chart.lines] == ["Ann", "Bob"]
    assert isinstance(finish_chart, RankedBarChart)
    assert [(line.name, line.label) for line in finish_chart.lines] == [
        ("Ann", "25 %"),
        ("Bob", "80 %"),
    ]
    assert finish_chart.lines[1].spans == ((0.0, 0.0, 1), (0.0, 0.8, 2), (0.8, 1.0, 3))
    assert [(figure.title, *(line.label for line in figure.lines)) for figure in player_charts] == [
        ("Points a match", "44", "21"),
        ("Moves a match", "21", "20"),
        ("Time-outs", "13", "0"),
        ("Autopicks", "26", "0"),
    ]


def test_charts_omit_data_missing_from_older_matches() -> None:
    """Older matches have points, winner and late turns; negative points have no map."""
    old_matches = [
        FinishedMatch(("Ann", "Bob"), MatchResultFacts((40, 30), 0, 60.0, 20, (1, 2), (0, 0)))
    ]
    assert [chart.title.split(":")[0] for chart in build_match_charts(old_matches)] == [
        "Scores", "Ratings in Elo points, with 95 % intervals", "Points a match",
    ]  # fmt: skip
    assert build_match_charts([]) == []
    negative_score_matches = [FinishedMatch(("Ann", "Bob"), MatchResultFacts((-1, 1), 1, 1.0, 2))]
    assert [chart.title for chart in build_match_charts(negative_score_matches)] == [
        "Ratings in Elo points, with 95 % intervals", "Points a match",
    ]  # fmt: skip
    self_play_matches = [FinishedMatch(("Ann", "Ann"), MatchResultFacts((4, 2), 0, 1.0, 2))]
    assert [chart.title for chart in build_match_charts(self_play_matches)][1:] == [
        "Points a match"
    ]
