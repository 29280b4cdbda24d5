"""Practice may be stopped at any moment; who is gone is not waited for; what came of a match."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from support.arena import ALICE, BOB, HandClock
from support.contest_tables import FakeTables, disturbed
from support.contests import founded
from world.clock import StillClock
from world.faults import CRASHES, Crash, FaultPlan, Kind

from cardsharp.contest.acts import Desk
from cardsharp.contest.director import Director
from cardsharp.contest.entries import Meeting
from cardsharp.contest.facts import Facts
from cardsharp.contest.practice import LONGEST_REST, REST, Practice, ladder, rests_of
from cardsharp.contest.records import Records
from cardsharp.deadmansdraw.actions import DRAW, END_TURN
from cardsharp.deadmansdraw.arena.creation import parse_wish
from cardsharp.deadmansdraw.arena.match import Origin, Pairing, act, begin, end_turn_by_force
from cardsharp.deadmansdraw.arena.players import ADMIN, Book, User
from cardsharp.deadmansdraw.arena.randomness import Randomness
from cardsharp.deadmansdraw.arena.views import Look, full_view
from cardsharp.deadmansdraw.contest.tables import ArenaTables, OrganisedArena, facts_of
from cardsharp.deadmansdraw.wire import parse_view
from cardsharp.errors import Unreachable


@pytest.fixture
def records() -> Records:
    return founded(5, matches=5, most=15)


def ids(records: Records) -> list[str]:
    return [team.id for team in records.teams()]


def everybody(records: Records, tables: FakeTables) -> FakeTables:
    """The tables, which has heard of all teams."""
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
    tables = everybody(records, FakeTables())
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
    cup, practice = everybody(records, FakeTables()), everybody(records, FakeTables())
    practised(records, practice, 40)
    director = Director(records, cup)
    assert any(director.step() for _ in range(200))
    seeds = [{one.order.seed for one in tables.made} for tables in (cup, practice)]
    assert seeds[0].isdisjoint(seeds[1])


@pytest.mark.parametrize("kind", [*CRASHES, Kind.REQUEST_LOST, Kind.RESPONSE_LOST])
def test_practice_that_dies_at_any_call_loses_no_match(records: Records, kind: Kind) -> None:
    """Nor is one begun or counted twice, and everybody goes on playing as often."""
    for call in range(0, 39, 3):
        tables = everybody(records, FakeTables())
        before = len(records.meetings())
        practised(records, disturbed(tables, FaultPlan(StillClock(), {call: kind})), 8)
        numbers = [one.name for one in tables.made]
        assert len(set(numbers)) == len(numbers), call
        assert len(records.meetings()) - before == len(tables.made), call
    assert [one.number for one in sorted(records.meetings(), key=lambda one: one.number)] == list(
        range(1, len(records.meetings()) + 1)
    )
    counts = Counter(team for meeting in records.meetings() for team in meeting.teams)
    assert max(counts.values()) - min(counts.values()) <= 2


def test_who_is_not_there_is_not_paired(records: Records) -> None:
    """Neither who never came nor who was heard of too long ago."""
    tables = everybody(records, FakeTables())
    never, long_ago, *there = ids(records)
    tables.heard |= {never: None, long_ago: 41.0}
    practised(records, tables, 20)
    assert {player for one in tables.made for player in one.order.teams} == set(there)
    rows = ladder(records)
    assert [(row.played, row.rating) for row in rows[-2:]] == [(0, None), (0, None)]


def test_a_match_that_somebody_has_left_ends_after_two_turns_and_he_rests(records: Records) -> None:
    """It goes to the other side, counts for no rating, and the others play on meanwhile."""
    tables = everybody(records, FakeTables())
    gone = ids(records)[0]
    tables.absent = {gone}
    practised(records, tables, 40)
    left = [meeting for meeting in records.meetings() if gone in meeting.teams]
    assert 1 <= len(left) <= 2
    assert len(records.meetings()) > 15
    for meeting in left:
        assert meeting.gone == (gone,)
        assert meeting.winner not in (None, gone)
        assert 2 <= sum(meeting.facts.late) <= 3
    row = next(row for row in ladder(records) if row.team == gone)
    assert (row.rating, row.missed, row.lost) == (None, len(left), 0)


def test_a_team_that_does_not_play_rests_longer_each_time() -> None:
    """Until it plays a match again."""
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
    params = parse_wish(body, "1").params
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
    view = parse_view(full_view(match, look, moves, Book({})))
    facts = facts_of(view) if view.player_ids == order else facts_of(view).ordered((1, 0))
    first = order.index(str(starts))
    assert facts.busts[first] == 1
    assert facts.busts[1 - first] == 0
    assert (facts.late[first], facts.late[1 - first]) == (2, 1)
    assert facts.points[1 - first] == 6
    assert facts.seconds == 7 * 9
    assert facts.turns == match.turn
    office = cast("OrganisedArena", SimpleNamespace(view=lambda _match, **_: view))
    assert ArenaTables(office).account(match.id).gone == (starts,), "two turns in a row"
