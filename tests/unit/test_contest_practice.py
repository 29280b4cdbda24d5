"""Practice may be stopped at any moment; who is gone is not waited for; what came of a match."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from types import SimpleNamespace

import pytest
from support.arena import ALICE, BOB, HandClock
from support.contest_tables import FakeTables, disturbed
from support.contests import founded
from support.size import cases
from world.clock import StillClock
from world.faults import CRASHES, Crash, FaultPlan, Kind

from cardsharp.contest.acts import Desk
from cardsharp.contest.charts import Columns, Played, Ranking, Squares, charts
from cardsharp.contest.director import Director
from cardsharp.contest.entries import Meeting, Result
from cardsharp.contest.formats import FORMATS
from cardsharp.contest.pairing import Rules
from cardsharp.contest.practice import LONGEST_REST, REST, Practice, ladder, rests_of
from cardsharp.contest.records import Records
from cardsharp.contest.status import chance_strongest
from cardsharp.contest.tables import Facts
from cardsharp.deadmansdraw.actions import DRAW, END_TURN
from cardsharp.deadmansdraw.arena.creation import parse_wish
from cardsharp.deadmansdraw.arena.match import Origin, Pairing, act, begin, end_turn_by_force
from cardsharp.deadmansdraw.arena.players import ADMIN, Book, User
from cardsharp.deadmansdraw.arena.randomness import Randomness
from cardsharp.deadmansdraw.arena.views import Look, full_view
from cardsharp.deadmansdraw.contest.tables import ArenaTables, facts_of
from cardsharp.deadmansdraw.wire import parse_view
from cardsharp.errors import Unreachable
from workbench.contest import planning
from workbench.contest.planning import RUNS, held, proposals


@pytest.fixture
def records() -> Records:
    return founded(5, matches=5, most=15)


def ids(records: Records) -> list[str]:
    return [team.id for team in records.teams()]


def everybody(records: Records) -> FakeTables:
    """Tables that have just heard of all teams."""
    tables = FakeTables()
    tables.heard = dict.fromkeys(ids(records), 1.0)
    return tables


def practised(records: Records, tables: FakeTables, steps: int) -> None:
    """So many steps of practice, by a director that is started again whenever it dies; its end."""
    practice = Practice(records, tables, lambda: tables.now)
    for _ in range(steps):
        try:
            practice.step()
        except Crash:
            practice = Practice(records, tables, lambda: tables.now)
        except Unreachable:
            pass
    assert any(practice.step(begin=False) for _ in range(20)), "practice does not end"


def test_who_was_removed_keeps_its_name_and_who_has_withdrawn_rests(records: Records) -> None:
    tables = everybody(records)
    practised(records, tables, 10)
    one, two, *_ = ids(records)
    records.remove("Team 0")
    assert records.names()[one] == "Team 0"
    Director(records, FakeTables()).step()
    Desk(records, lambda: tables.now).withdraw("Team 1", "ill")
    before = len(tables.made)
    practised(records, tables, 10)
    assert len(tables.made) > before
    assert two not in {team for match in tables.made[before:] for team in match.order.teams}


def test_the_seeds_are_not_those_of_the_contest(records: Records) -> None:
    """Who has practised would know the cards of the final."""
    cup, practice = everybody(records), everybody(records)
    practised(records, practice, 40)
    director = Director(records, cup)
    assert any(director.step() for _ in range(200))
    seeds = [{one.order.seed for one in tables.made} for tables in (cup, practice)]
    assert seeds[0].isdisjoint(seeds[1])


@pytest.mark.parametrize("kind", [*CRASHES, Kind.REQUEST_LOST, Kind.RESPONSE_LOST])
def test_practice_that_dies_at_any_call_loses_no_match(records: Records, kind: Kind) -> None:
    """Nor is one begun or counted twice, and everybody goes on playing as often."""
    for call in range(0, 39, cases(7, every=3)):
        tables = everybody(records)
        before = len(records.meetings())
        practised(records, disturbed(tables, FaultPlan(StillClock(), {call: kind})), 8)
        numbers = [one.name for one in tables.made]
        assert len(set(numbers)) == len(numbers), call
        assert len(records.meetings()) - before == len(tables.made), call
    meetings = records.meetings()
    assert sorted(one.number for one in meetings) == list(range(1, len(meetings) + 1))
    counts = Counter(team for meeting in meetings for team in meeting.teams)
    assert max(counts.values()) - min(counts.values()) <= 2


def test_who_is_not_there_is_not_paired_and_who_leaves_a_match_rests() -> None:
    """Left by two turns it ends for the other side, and counts for no rating; the others play."""
    records = founded(7)
    tables = everybody(records)
    gone, never, long_ago, *there = ids(records)
    tables.heard |= {never: None, long_ago: 41.0}
    tables.absent = {gone}
    practised(records, tables, 40)
    assert {player for one in tables.made for player in one.order.teams} == {gone, *there}
    left = [meeting for meeting in records.meetings() if gone in meeting.teams]
    assert 1 <= len(left) <= 2
    assert len(records.meetings()) > 15
    for meeting in left:
        assert meeting.gone == (gone,)
        assert meeting.winner not in (None, gone)
        assert 2 <= sum(meeting.facts.late) <= 3
    unrated = {row.team: (row.rating, row.missed, row.played) for row in ladder(records)[-3:]}
    nothing = (None, 0, 0)
    assert unrated == {gone: (None, len(left), len(left)), never: nothing, long_ago: nothing}


def test_a_team_that_does_not_play_rests_longer_each_time() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def meeting(number: int, gone: tuple[str, ...] = ()) -> Meeting:
        facts = Facts((1, 0), 0, 9.0, 9, (0, 0), (0, 0))
        return Meeting(number, ("a", "b"), f"{number}", noon, facts, gone)

    def rest(*meetings: Meeting) -> timedelta:
        return rests_of(meetings)["a"] - noon

    left = [meeting(number, ("a",)) for number in range(9)]
    assert [rest(*left[:n]) for n in (1, 2, 3, 9)] == [REST, 2 * REST, 4 * REST, LONGEST_REST]
    assert rest(*left, meeting(9)) == timedelta(0)
    assert rest(*left, meeting(9), meeting(10, ("a",))) == REST


@pytest.mark.parametrize("order", [(ALICE, BOB), (BOB, ALICE)])
def test_busts_and_late_turns_are_counted_for_their_team(order: tuple[str, str]) -> None:
    """In the order of the pairing's teams, whoever sat where."""
    clock = HandClock()
    pile = [["Mermaid", value] for value in range(4, 9)]
    body = {"drawPile": pile, "randomSeed": "norandom", "timeout": 7, "discardPile": []}
    params = parse_wish(body, "1")
    match, move = begin(
        "0" * 24, Pairing((ALICE, BOB), None), params, Randomness.FAIR, Origin(clock.now)
    )
    moves = [move]
    starts = match.active_player
    for action in (DRAW, DRAW, DRAW, END_TURN, None, None, None):
        clock.turn(timedelta(seconds=9))
        at = Origin(clock.now)
        match, move = end_turn_by_force(match, at) if action is None else act(match, action, at)
        moves.append(move)
    look = Look(User(ADMIN, None, ADMIN), events=True)
    view = parse_view(full_view(match, look, moves, Book(dict)))
    facts = facts_of(view) if view.player_ids == order else facts_of(view).ordered((1, 0))
    first = order.index(str(starts))
    assert (facts.busts[first], facts.busts[1 - first]) == (1, 0)
    assert (facts.late[first], facts.late[1 - first]) == (2, 1)
    assert facts.points[1 - first] == 6
    assert (facts.seconds, facts.turns) == (7 * 9, match.turn)
    office = SimpleNamespace(view=lambda _match, **_: view)
    assert ArenaTables(office).account(match.id).gone == (starts,), "two turns in a row"


NEAR = 3 * 0.5 / RUNS**0.5  # three standard errors of a chance that is simulated so often


def test_the_best_wins_where_teams_are_far_apart_and_more_matches_take_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every pairing of a round is played at once; a round robin of four has three rounds."""
    monkeypatch.setattr(planning, "MATCHES", (1, 5))  # those between take long
    for spread, low, high in ((10_000, 0.97, 1), (0, 0.25 - NEAR, 0.25 + NEAR)):
        found = list(proposals(4, 120, spread))
        assert [one for one in found if not low <= one.best_wins <= high] == []
        minutes = {(one.format, one.matches): one.minutes for one in found}
        assert (minutes["round-robin", 1], minutes["round-robin", 5]) == (6, 30)


def test_who_wins_a_contest_was_the_strongest_by_a_chance_that_grows_with_its_matches() -> None:
    strengths = {"a": 4000.0, "b": 2000.0, "c": 0.0}
    won, slots = held(FORMATS["double-elimination"], Rules(3, 9), strengths, Random(1))
    assert (won, slots) == (["a"], 4 * 3)

    def results(matches: int) -> tuple[Result, ...]:
        facts = tuple(Facts((40, 30), 0, 60, 20) for _ in range(matches))
        return (Result("1", 1, "round", ("a", "b"), decided=True, facts=facts),)

    one, many = (chance_strongest("a", results(matches)) or 0 for matches in (1, 20))
    assert 0.5 < one < 0.85
    assert many > 0.99
    assert chance_strongest("a", ()) is None


NOON = datetime(2023, 2, 3, 12, tzinfo=UTC)


def played(number: int, points: tuple[int, int]) -> Played:
    """A match of that number, ten minutes after the one before."""
    began, winner = NOON + timedelta(minutes=10 * number), int(points[1] > points[0])
    facts = Facts(points, winner, 60.0, 10, busts=(1, 4), late=(0, 1), banked=(3, 0), began=began)
    return Played(("Ann", "Bob"), replace(facts, moves=(20, 15 + number), autopicks=(2, 0)))


def test_matches_are_drawn_by_time_length_score_and_player() -> None:
    found = charts([played(n, (50 - n, 21)) for n in range(13)])
    times, moves, scores, rated, ends, *figures = found
    assert isinstance(times, Columns)
    assert times.title == "Matches in ten minutes (UTC)"
    assert times.bars[0] == ("12:00", 1)
    assert [count for _, count in times.bars] == [1] * 13
    days = [played(144 * n, (3, 2)) for n in range(5)]
    assert charts(days)[0].title == "Matches a day (UTC)"
    assert isinstance(moves, Columns)
    assert moves.bars == tuple((str(35 + n), 1) for n in range(13))
    assert isinstance(scores, Squares)
    assert (scores.step, sum(map(sum, scores.counts)), scores.counts[4][9]) == (5, 13, 5)
    assert isinstance(rated, Ranking)
    assert [line.name for line in rated.lines] == ["Ann", "Bob"]
    assert isinstance(ends, Ranking)
    assert [(line.name, line.said) for line in ends.lines] == [("Ann", "25 %"), ("Bob", "80 %")]
    assert ends.lines[1].spans == ((0.0, 0.0, 1), (0.0, 0.8, 2), (0.8, 1.0, 3))
    assert [(one.title, *(line.said for line in one.lines)) for one in figures] == [
        ("Points a match", "44", "21"),
        ("Moves a match", "21", "20"),
        ("Time-outs", "13", "0"),
        ("Autopicks", "26", "0"),
    ]


def test_what_matches_of_older_versions_do_not_tell_is_not_drawn() -> None:
    """They know points, winner and late turns; of negative points no map is drawn."""
    old = [Played(("Ann", "Bob"), Facts((40, 30), 0, 60.0, 20, (1, 2), (0, 0)))]
    assert [one.title.split(":")[0] for one in charts(old)] == [
        "Scores", "Ratings in Elo points, with 95 % intervals", "Points a match",
    ]  # fmt: skip
    assert charts([]) == []
    poker = [Played(("Ann", "Bob"), Facts((-1, 1), 1, 1.0, 2))]
    assert [one.title for one in charts(poker)] == [
        "Ratings in Elo points, with 95 % intervals", "Points a match",
    ]  # fmt: skip
    alone = [Played(("Ann", "Ann"), Facts((4, 2), 0, 1.0, 2))]
    assert [one.title for one in charts(alone)][1:] == ["Points a match"]
