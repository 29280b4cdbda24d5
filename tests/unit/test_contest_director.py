"""The director may die at any moment: no match is lost, none begun or counted twice."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.arena import HandClock
from support.contest_tables import FakeTables, disturbed
from support.contests import founded, practised
from support.size import cases
from world.clock import StillClock
from world.faults import CRASHES, Crash, FaultPlan, Kind

from cardsharp.contest.acts import Desk
from cardsharp.contest.director import Director
from cardsharp.contest.entries import Result, Settings, Stage
from cardsharp.contest.formats import FORMATS
from cardsharp.contest.freeze import board, curtain, freeze_of
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.pages import page, running_part
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import found_in
from cardsharp.contest.tables import TableOrder
from cardsharp.errors import ConfigError, Unreachable
from cardsharp.viewer.base import Site

DEEDS = ("step", "step", "crash", "rule", "withdraw", "rename", "enter", "undo")
"""What may happen in a contest, most often that it goes on."""

LARGE = {form: cases(8, every=48 if form in ("ladder", "round-robin") else 64) for form in FORMATS}
"""Of how many teams a contest is at most: all against all has as many matches as their square."""


BEFALLS = [*sorted(CRASHES), Kind.REQUEST_LOST, Kind.RESPONSE_LOST]
STEP = cases(len(BEFALLS), every=1)


def held(records: Records, tables: FakeTables) -> list[Result]:
    records.keep([])
    director = Director(records, tables)
    for _ in range(500):
        try:
            if director.step():
                break
        except Crash:
            director = Director(records, tables)
        except Unreachable:
            pass
    else:
        raise AssertionError("the contest does not end")
    return [replace(result, matches=()) for result in records.results()]


@pytest.mark.parametrize("kind", BEFALLS)
def test_a_director_that_dies_at_any_call_changes_nothing(kind: Kind) -> None:
    """In the sample each call suffers one kind of death; its neighbours have the others."""
    small = founded(3, matches=1, most=3)
    undisturbed = FakeTables()
    plan = FaultPlan(StillClock())
    expected = held(small, disturbed(undisturbed, plan))
    assert len(plan.steps) > 15
    for call in range(len(plan.steps))[BEFALLS.index(kind) % STEP :: STEP]:
        tables = FakeTables()
        faulty = disturbed(tables, FaultPlan(StillClock(), {call: kind}))
        assert held(small, faulty) == expected, call
        tags = Counter(one.name for one in tables.made)
        assert set(tags.values()) == {1}, call
        assert len(tables.made) == len(undisturbed.made)


def test_a_match_that_a_team_has_tagged_counts_for_nothing() -> None:
    """Only the organiser's matches do; and of two for one place the first."""
    records, tables = founded(5), FakeTables()
    teams = [team.id for team in records.teams()]
    order = TableOrder((teams[3], teams[4]), ("x", "cup", "cup:1:0"), "1", timedelta(seconds=1))
    tables.add("0" * 24, order, foreign=True)
    Director(records, tables).step()
    assert [one.name for one in tables.made].count("cup:1:0") == 2
    tables.add("f" * 24, order)
    Director(records, tables).step()
    (first,) = (result for result in records.results() if result.pairing == "1")
    assert first.matches == (tables.made[1].id,)


def test_a_contest_is_not_over_while_its_organiser_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was decided during the last step counts, and what follows from it is played."""
    records = founded(5)
    director, keep, ruled = Director(records, FakeTables()), records.keep, list[Result]()

    def kept(results: list[Result], aside: list[Result]) -> None:
        keep(results, aside)
        if not ruled and all(one.decided for one in results):
            ruled.append(results[0])
            desk = Desk(records, lambda: datetime(2026, 1, 1, tzinfo=UTC))
            desk.rule(results[0].pairing, results[0].teams[1], "appeal")

    monkeypatch.setattr(records, "keep", kept)
    assert any(director.step() for _ in range(400))
    assert records.stage is Stage.OVER
    assert records.results()[0].winner == ruled[0].teams[1]


def test_a_password_is_told_once_and_kept_hashed(tmp_path: Path) -> None:
    with found_in(tmp_path, Settings("cup")) as records:
        before, _ = records.enter("One")
        _, password = records.new_password("One")
        kept = b"".join((tmp_path / f"contest.db{end}").read_bytes() for end in ("", "-wal"))
        assert password.encode() not in kept
        assert records.team("One").ha1 != before.ha1
        assert len(password) >= 24


@pytest.mark.parametrize(
    "name", ["", "  ", "x" * 101, "One\u202e", "O\u200bne", " One", "one", "\uff2fne", "a\tb"]
)
def test_no_two_teams_look_alike_and_the_arena_takes_each_name(name: str) -> None:
    records = founded(0)
    records.enter("One")
    with pytest.raises(ConfigError, match=r"nobody sees|already|1 to 100 characters"):
        records.enter(name)
    records.enter("x" * 100)


def test_once_begun_no_team_is_removed_and_its_bracket_takes_none() -> None:
    records = founded(5)
    with pytest.raises(ConfigError, match="already"):
        records.enter("Team 0")
    with pytest.raises(ConfigError, match="entered are Team 0, Team 1"):
        records.remove("Nobody")
    records.remove("Team 4")
    desk = Desk(records, lambda: datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(ConfigError, match="remove Team 0 instead"):
        desk.withdraw("Team 0", "ill")
    with pytest.raises(ConfigError, match="nothing to undo"):
        desk.undo()
    Director(records, FakeTables()).step()
    with pytest.raises(ConfigError, match="has begun"):
        records.remove("Team 3")
    with pytest.raises(ConfigError, match=r"bracket is drawn\. Six can take the place of"):
        records.enter("Six")


@pytest.mark.parametrize("form", ["swiss", "ladder", "round-robin", "tables"])
def test_who_comes_late_plays_from_the_next_round_on(form: str) -> None:
    """A match under way stays what it is; in a round robin all are met whoever comes when."""
    records, tables = founded(6, format=form, matches=1, most=3, seats=2), FakeTables()
    director = Director(records, tables)
    while len(records.results()) < 4 or not all(one.decided for one in records.results()[:3]):
        director.step()
    begun = [one.id for one in tables.made]
    late, password = records.enter("Late")
    assert (late.since, len(password)) == (3, 32)
    assert any(director.step() for _ in range(400))
    results = records.results()
    assert {*begun} <= {match for result in results for match in result.matches}
    assert {one.round for one in results if late.id in one.teams} >= {3}
    assert not [one for one in results if late.id in one.teams and one.round < 3]
    assert late.id in {team for level in records.table() for team in level}
    if form == "round-robin":
        assert len({frozenset(one.teams) for one in results}) == len(results) == 21
    with pytest.raises(ConfigError, match="over; Later can enter the next"):
        records.enter("Later")


def organised(deed: str, organiser: Desk, records: Records, data: st.DataObject) -> None:
    """Something that an organiser does, to whomever it may be."""
    team = data.draw(st.sampled_from(records.teams()))
    match deed:
        case "undo":
            organiser.undo()
        case "withdraw":
            organiser.withdraw(team.name, "ill")
        case "rename":
            organiser.rename(team.name, f"{team.name}*")
        case "enter":
            records.enter(f"Late {len(records.teams())}")
        case _ if known := records.results():
            one = data.draw(st.sampled_from(known))
            organiser.rule(one.pairing, data.draw(st.sampled_from(one.teams)), "appeal")


def test_points_stay_with_their_teams_where_a_ruling_turns_a_pairing_around() -> None:
    """A director that saw the matches before the ruling tells the same as one that comes after."""
    records = founded(6, format="double-elimination", matches=1, most=3)
    tables, organiser = FakeTables(), Desk(records, lambda: datetime(2026, 1, 1, tzinfo=UTC))
    director = Director(records, tables)
    any(director.step() for _ in range(12))
    first = records.results()[0]
    organiser.rule(first.pairing, first.teams[1], "appeal")
    assert any(director.step() for _ in range(400))
    results = records.results()
    records.keep([])
    again = Director(records, tables)
    assert any(again.step() for _ in range(400))
    assert records.results() == results


@given(data=st.data(), form=st.sampled_from(sorted(FORMATS)), seats=st.integers(2, 8))
@settings(max_examples=cases(15, every=200), deadline=None)
def test_a_contest_goes_on_whatever_is_decided(data: st.DataObject, form: str, seats: int) -> None:
    """Rulings, withdrawals, late entries, undoing and crashes in any order, also after its end.

    Its places follow from what is on record: a director that knows nothing finds the same.
    """
    teams = data.draw(st.integers(2, LARGE[form]))
    records = founded(teams, format=form, matches=1, most=3, seats=seats)
    tables, organiser = FakeTables(), Desk(records, lambda: datetime(2026, 1, 1, tzinfo=UTC))
    director = Director(records, tables)
    for deed in data.draw(st.lists(st.sampled_from(DEEDS), max_size=12)):
        if deed == "step":
            any(director.step() for _ in range(data.draw(st.integers(1, 30))))
        elif deed == "crash":
            director = Director(records, tables)
        else:
            with suppress(ConfigError):  # there is nothing to undo, or nobody can come any more
                organised(deed, organiser, records, data)
    assert any(director.step() for _ in range(400)), "the contest does not end"
    assert any(Director(records, tables).step() for _ in range(2))
    results, table = records.results(), records.table()
    gone, rulings = records.withdrawn(), records.rulings()
    teams_of = {one.id: set(one.order.teams) for one in tables.made}
    for result in results:
        assert result.decided
        assert all(teams_of[match] == set(result.teams) for match in result.matches)
        ruling = rulings.get(result.pairing)
        if ruling is not None and ruling.winner in result.teams:
            assert result.winner == ruling.winner
        elif result.ruled is not None:
            assert {*result.teams} & gone.keys()
    assert not [one for one in tables.made if one.score is None]
    listed = [match for one in records.listed() for match in one.matches]
    assert sorted(listed) == [one.id for one in tables.made], "what counts no more is kept"
    records.keep([])
    again = Director(records, tables)
    assert any(again.step() for _ in range(400))
    assert (records.results(), records.table()) == (results, table)


def test_a_ruling_after_which_others_meet_is_refused_where_nothing_is_to_be_played_anew() -> None:
    """Else what was played before is listed as what does not count, until that is undone."""
    records = founded(4)
    desk = Desk(records, lambda: datetime(2026, 1, 1, tzinfo=UTC))
    director = Director(records, FakeTables())
    assert any(director.step() for _ in range(400))
    before = records.results()
    first, last = before[0], before[-1]
    (loser,) = {*first.teams} - {first.winner}
    with pytest.raises(ConfigError, match=r"pairing 3, 4.* Leave --no-replay out"):
        desk.rule(first.pairing, loser, "appeal", replay=False)
    desk.rule(last.pairing, last.teams[0], "appeal", replay=False)
    desk.undo()
    desk.rule(first.pairing, loser, "appeal")
    assert records.stage is Stage.BEGUN, "it goes on"
    assert any(director.step() for _ in range(400))
    assert {one.pairing for one in records.aside()} >= {"3", "4"}
    assert "<b>Does not count:</b>" in page(Site("Arena"), records)
    desk.undo()
    assert any(director.step() for _ in range(400))
    assert records.results() == before
    assert records.aside()


def public(records: Records) -> str:
    return page(Site("Arena"), records) + running_part(Site("Arena"), records)


def until(last: int, records: Records) -> list[Result]:
    return [one for one in records.results() if one.round <= last]


@given(data=st.data(), form=st.sampled_from(sorted(FORMATS)))
@settings(max_examples=cases(6, every=1000), deadline=None)
def test_what_follows_a_freeze_shows_when_it_is_revealed(data: st.DataObject, form: str) -> None:
    records, tables, clock = (
        founded(data.draw(st.integers(2, cases(8, every=20))), format=form, matches=1, most=3),
        FakeTables(),
        HandClock(),
    )
    organiser, director = Desk(records, clock), Director(records, tables, clock)
    director.step()

    def happens() -> Iterator[None]:
        for deed in data.draw(st.lists(st.sampled_from((*DEEDS[:2], *DEEDS[3:7])), max_size=6)):
            clock.turn(timedelta(seconds=1))
            if deed == "step":
                any(director.step() for _ in range(data.draw(st.integers(1, 30))))
            else:
                with suppress(ConfigError):  # there is nobody to withdraw
                    organised(deed, organiser, records, data)
            yield

    def hidden() -> set[str]:
        before = curtain([records], clock())
        return {one.id for one in tables.made if before.holds(one.order.tags, one.id)}

    for _ in happens():
        pass
    organiser.freeze(clock())
    before, made = public(board(records, clock())), {one.id for one in tables.made}
    seen = made - hidden()
    for _ in happens():
        assert public(board(records, clock())) == before
    assert any(director.step() for _ in range(400))
    assert public(board(records, clock())) == before
    assert {one.id for one in tables.made} - made <= hidden()
    assert not seen & hidden()
    while freeze := freeze_of(records):
        shown = board(records, clock())
        assert until(freeze.revealed, shown) == until(freeze.revealed, records)
        assert public(shown)
        organiser.reveal()
    assert board(records, clock()) is records
    assert not hidden()
    assert records.stage is Stage.OVER


def test_a_freeze_to_come_comes_by_itself_and_is_taken_back_as_every_act_is() -> None:
    """That a frozen contest is over is not told by its place among others, either."""
    records, clock = founded(4), HandClock()
    organiser, director = Desk(records, clock), Director(records, FakeTables(), clock)
    contests = ContestsKept(records.documents)
    contests.found(Settings("another"))
    with pytest.raises(ConfigError, match="not begun: say when"):
        organiser.freeze(clock())
    organiser.freeze(clock() + timedelta(minutes=40))
    with pytest.raises(ConfigError, match="There is a freeze from 2026-11-20 12:40:00 UTC"):
        organiser.freeze(clock())
    director.step()
    with pytest.raises(ConfigError, match="Nothing is frozen"):
        organiser.reveal()
    clock.turn(timedelta(minutes=41))
    director.step()
    before = public(board(records, clock()))
    with pytest.raises(ConfigError, match="all that was played so far"):
        organiser.reveal()
    practised(records, 8)
    records.pause(on=True)
    assert public(board(records, clock())) == before
    records.pause(on=False)
    assert any(director.step() for _ in range(400))
    assert public(board(records, clock())) == before
    assert contests.names() == ["cup", "another"]
    organiser.reveal(everything=True)
    assert board(records, clock()) is records
    assert contests.names() == ["another", "cup"]
    organiser.undo()
    assert public(board(records, clock())) == before
    organiser.undo()
    assert board(records, clock()) is records
    assert records.stage is Stage.OVER


def test_a_name_that_changes_during_a_freeze_is_told_to_the_arena_at_its_end() -> None:
    records, clock = founded(4), HandClock()
    organiser, ids = Desk(records, clock), [team.id for team in records.teams()]
    Director(records, FakeTables(), clock).step()
    organiser.freeze(clock() + timedelta(minutes=1))
    organiser.rename("Team 0", "Zero")
    assert records.players()[ids[0]] == "Zero"
    clock.turn(timedelta(minutes=2))
    organiser.undo()
    organiser.rename("Team 1", "One")
    records.new_password("One")
    assert [records.players()[one] for one in ids[:2]] == ["Zero", "Team 1"]
    organiser.reveal(everything=True)
    assert [records.players()[one] for one in ids[:2]] == ["Team 0", "One"]
    organiser.undo()
    assert [records.players()[one] for one in ids[:2]] == ["Zero", "Team 1"]
    organiser.undo()
    organiser.undo()
    assert [records.players()[one] for one in ids[:2]] == ["Team 0", "Team 1"]
