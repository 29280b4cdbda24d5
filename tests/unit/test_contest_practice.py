"""Practice may be stopped at any moment; who is gone is not waited for; what came of a match."""

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
from cardsharp.contest.director import ContestDirector
from cardsharp.contest.formats.base import FORMATS_BY_NAME
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
    force_end_turn,
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
    simulate_winners_and_slots,
)


@pytest.fixture
def records() -> ContestRecords:
    return new_contest(5, matches=5, most=15)


def ids(records: ContestRecords) -> list[str]:
    return [team.id for team in records.teams()]


def host_with_all_teams(records: ContestRecords) -> FakeMatchHost:
    """Tables that have just heard of all teams."""
    tables = FakeMatchHost()
    tables.idle_by_team = dict.fromkeys(ids(records), 1.0)
    return tables


def practised(records: ContestRecords, tables: FakeMatchHost, steps: int) -> None:
    """So many steps of practice, by a director that is started again whenever it dies; its end."""
    practice = PracticeDirector(records, tables, lambda: tables.current_time)
    for _ in range(steps):
        try:
            practice.step()
        except Crash:
            practice = PracticeDirector(records, tables, lambda: tables.current_time)
        except Unreachable:
            pass
    assert any(practice.step(may_begin=False) for _ in range(20)), "practice does not end"


def test_a_removed_team_keeps_its_name_and_a_withdrawn_team_is_not_paired(
    records: ContestRecords,
) -> None:
    tables = host_with_all_teams(records)
    practised(records, tables, 10)
    removed_team, withdrawn_team, *_ = ids(records)
    records.remove_team("Team 0")
    assert records.team_names_with_removed()[removed_team] == "Team 0"
    ContestDirector(records, FakeMatchHost()).step()
    ContestAdmin(records, lambda: tables.current_time).withdraw_team("Team 1", "ill")
    previous_count = len(tables.begun_matches)
    practised(records, tables, 10)
    assert len(tables.begun_matches) > previous_count
    assert withdrawn_team not in {
        team for match in tables.begun_matches[previous_count:] for team in match.request.teams
    }


def test_the_seeds_are_not_those_of_the_contest(records: ContestRecords) -> None:
    """Practice must not teach a team the cards of the final."""
    cup, practice = host_with_all_teams(records), host_with_all_teams(records)
    practised(records, practice, 40)
    director = ContestDirector(records, cup)
    assert any(director.step() for _ in range(200))
    seeds = [{match.request.seed for match in tables.begun_matches} for tables in (cup, practice)]
    assert seeds[0].isdisjoint(seeds[1])


@pytest.mark.parametrize("kind", [*CRASHES, FaultKind.REQUEST_LOST, FaultKind.RESPONSE_LOST])
def test_practice_that_dies_at_any_call_loses_no_match(
    records: ContestRecords, kind: FaultKind
) -> None:
    """Nor is one begun or counted twice, and everybody goes on playing as often."""
    for call in range(0, 39, case_count(7, full=3)):
        tables = host_with_all_teams(records)
        previous_count = len(records.practice_matches())
        practised(records, with_faults(tables, FaultPlan(VirtualClock(), {call: kind})), 8)
        numbers = [match.name for match in tables.begun_matches]
        assert len(set(numbers)) == len(numbers), call
        assert len(records.practice_matches()) - previous_count == len(tables.begun_matches), call
    meetings = records.practice_matches()
    assert sorted(meeting.number for meeting in meetings) == list(range(1, len(meetings) + 1))
    counts = Counter(team for meeting in meetings for team in meeting.teams)
    assert max(counts.values()) - min(counts.values()) <= 2


def test_absent_teams_are_not_paired_and_teams_that_abandon_a_match_rest() -> None:
    """Left by two turns it ends for the other side, and counts for no rating; the others play."""
    records = new_contest(7)
    tables = host_with_all_teams(records)
    gone, never, long_ago, *present_teams = ids(records)
    tables.idle_by_team |= {never: None, long_ago: 41.0}
    tables.absent = {gone}
    practised(records, tables, 40)
    assert {player for match in tables.begun_matches for player in match.request.teams} == {
        gone,
        *present_teams,
    }
    abandoned_meetings = [
        meeting for meeting in records.practice_matches() if gone in meeting.teams
    ]
    assert 1 <= len(abandoned_meetings) <= 2
    assert len(records.practice_matches()) > 15
    for meeting in abandoned_meetings:
        assert meeting.gone == (gone,)
        assert meeting.winner not in (None, gone)
        assert 2 <= sum(meeting.facts.late) <= 3
    unrated = {
        row.team: (row.rating, row.missed_matches, row.match_count)
        for row in practice_ladder(records)[-3:]
    }
    nothing = (None, 0, 0)
    assert unrated == {
        gone: (None, len(abandoned_meetings), len(abandoned_meetings)),
        never: nothing,
        long_ago: nothing,
    }


def test_a_team_that_does_not_play_rests_longer_each_time() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def meeting(number: int, gone: tuple[str, ...] = ()) -> PracticeMatch:
        facts = MatchResultFacts((1, 0), 0, 9.0, 9, (0, 0), (0, 0))
        return PracticeMatch(number, ("a", "b"), f"{number}", noon, facts, gone)

    def rest(*meetings: PracticeMatch) -> timedelta:
        return absence_break_end_by_team(meetings)["a"] - noon

    abandoned_meetings = [meeting(number, ("a",)) for number in range(9)]
    assert [rest(*abandoned_meetings[:n]) for n in (1, 2, 3, 9)] == [
        INITIAL_BREAK,
        2 * INITIAL_BREAK,
        4 * INITIAL_BREAK,
        MAX_BREAK,
    ]
    assert rest(*abandoned_meetings, meeting(9)) == timedelta(0)
    assert rest(*abandoned_meetings, meeting(9), meeting(10, ("a",))) == INITIAL_BREAK


@pytest.mark.parametrize("order", [(ALICE, BOB), (BOB, ALICE)])
def test_busts_and_late_turns_are_counted_for_their_team(order: tuple[str, str]) -> None:
    """In the order of the pairing's teams, whoever sat where."""
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
    starts = match.active_player
    for action in (DRAW, DRAW, DRAW, END_TURN, None, None, None):
        clock.advance(timedelta(seconds=9))
        at = RequestTimeAndAddress(clock.current_time)
        match, move = (
            force_end_turn(match, at) if action is None else apply_player_action(match, action, at)
        )
        moves.append(move)
    look = ViewOptions(User(ADMIN, None, ADMIN), show_events=True)
    view = parse_view(full_view(match, look, moves, UserDirectory(dict)))
    facts = (
        match_facts_from_view(view)
        if view.player_ids == order
        else match_facts_from_view(view).reordered((1, 0))
    )
    first = order.index(str(starts))
    assert (facts.busts[first], facts.busts[1 - first]) == (1, 0)
    assert (facts.late[first], facts.late[1 - first]) == (2, 1)
    assert facts.points[1 - first] == 6
    assert (facts.seconds, facts.turns) == (7 * 9, match.turn)
    office = SimpleNamespace(get_match=lambda _match, **_: view)
    assert ArenaMatchHost(office).match_report(match.id).absent_teams == (starts,), (
        "two turns in a row"
    )


NEAR = (
    3 * 0.5 / SIMULATION_RUNS**0.5
)  # three standard errors of a chance that is simulated so often


def test_the_best_team_wins_uneven_contests_and_more_matches_take_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every pairing of a round is played at once; a round robin of four has three rounds."""
    monkeypatch.setattr(format_planner, "MATCH_COUNTS", (1, 5))  # those between take long
    for spread, low, high in ((10_000, 0.97, 1), (0, 0.25 - NEAR, 0.25 + NEAR)):
        plan_proposals = list(forecast_formats(4, 120, spread))
        assert [
            proposal
            for proposal in plan_proposals
            if not low <= proposal.best_team_win_chance <= high
        ] == []
        minutes = {
            (proposal.format, proposal.matches): proposal.minutes for proposal in plan_proposals
        }
        assert (minutes["round-robin", 1], minutes["round-robin", 5]) == (6, 30)


def test_the_winners_chance_to_be_strongest_grows_with_the_match_count() -> None:
    strengths = {"a": 4000.0, "b": 2000.0, "c": 0.0}
    won, slots = simulate_winners_and_slots(
        FORMATS_BY_NAME["double-elimination"], SeriesRules(3, 9), strengths, Random(1)
    )
    assert (won, slots) == (["a"], 4 * 3)

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


def played(number: int, points: tuple[int, int]) -> FinishedMatch:
    """A match of that number, ten minutes after the one before."""
    began, winner = NOON + timedelta(minutes=10 * number), int(points[1] > points[0])
    facts = MatchResultFacts(
        points, winner, 60.0, 10, busts=(1, 4), late=(0, 1), banked=(3, 0), began=began
    )
    return FinishedMatch(("Ann", "Bob"), replace(facts, moves=(20, 15 + number), autopicks=(2, 0)))


def test_match_charts_show_time_length_score_and_player() -> None:
    charts = build_match_charts([played(n, (50 - n, 21)) for n in range(13)])
    times, moves, scores, rated, ends, *figures = charts
    assert isinstance(times, BarChart)
    assert times.title == "Matches in ten minutes (UTC)"
    assert times.bars[0] == ("12:00", 1)
    assert [count for _, count in times.bars] == [1] * 13
    days = [played(144 * n, (3, 2)) for n in range(5)]
    assert build_match_charts(days)[0].title == "Matches a day (UTC)"
    assert isinstance(moves, BarChart)
    assert moves.bars == tuple((str(35 + n), 1) for n in range(13))
    assert isinstance(scores, Histogram2D)
    assert (scores.bin_size, sum(map(sum, scores.counts)), scores.counts[4][9]) == (5, 13, 5)
    assert isinstance(rated, RankedBarChart)
    assert [line.name for line in rated.lines] == ["Ann", "Bob"]
    assert isinstance(ends, RankedBarChart)
    assert [(line.name, line.label) for line in ends.lines] == [("Ann", "25 %"), ("Bob", "80 %")]
    assert ends.lines[1].spans == ((0.0, 0.0, 1), (0.0, 0.8, 2), (0.8, 1.0, 3))
    assert [(figure.title, *(line.label for line in figure.lines)) for figure in figures] == [
        ("Points a match", "44", "21"),
        ("Moves a match", "21", "20"),
        ("Time-outs", "13", "0"),
        ("Autopicks", "26", "0"),
    ]


def test_charts_omit_data_missing_from_older_matches() -> None:
    """They know points, winner and late turns; of negative points no map is drawn."""
    old = [FinishedMatch(("Ann", "Bob"), MatchResultFacts((40, 30), 0, 60.0, 20, (1, 2), (0, 0)))]
    assert [chart.title.split(":")[0] for chart in build_match_charts(old)] == [
        "Scores", "Ratings in Elo points, with 95 % intervals", "Points a match",
    ]  # fmt: skip
    assert build_match_charts([]) == []
    poker = [FinishedMatch(("Ann", "Bob"), MatchResultFacts((-1, 1), 1, 1.0, 2))]
    assert [chart.title for chart in build_match_charts(poker)] == [
        "Ratings in Elo points, with 95 % intervals", "Points a match",
    ]  # fmt: skip
    alone = [FinishedMatch(("Ann", "Ann"), MatchResultFacts((4, 2), 0, 1.0, 2))]
    assert [chart.title for chart in build_match_charts(alone)][1:] == ["Points a match"]
