"""The director may die at any moment: no match is lost, none begun or counted twice."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cloud_clock import FakeClock
from support.contest_arena import FakeArena, Killed

from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.contest.director import Director
from cardsharp.contest.entries import Entrant, Result, Settings
from cardsharp.contest.records import ContestsKept, Records
from cardsharp.contest.sqlite import found_in
from cardsharp.deadmansdraw.contest.tables import ArenaTables
from cardsharp.errors import ConfigError, Unreachable
from cardsharp.keep.sqlite import SqliteKeep

SETTINGS = Settings("cup", matches=3, most=9, seed="secret")


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    made = found_in(tmp_path / "cup", SETTINGS)
    for name in ("One", "Two", "Three", "Four", "Five"):
        made.enter(name)
    yield made
    made.close()


def held(records: Records, arena: FakeArena) -> list[Result]:
    """The results of a contest whose director is started again whenever it dies."""
    records.keep([])
    director = Director(records, ArenaTables(arena))
    for _ in range(500):
        try:
            if director.step():
                break
        except Killed:
            director = Director(records, ArenaTables(arena))
        except Unreachable:
            pass
    else:
        raise AssertionError("the contest does not end")
    return [replace(result, matches=()) for result in records.results()]


@pytest.mark.parametrize("error", [False, True], ids=["killed", "error"])
@pytest.mark.parametrize("lost", [False, True], ids=["before", "after"])
def test_a_director_that_dies_at_any_call_changes_nothing(lost: bool, error: bool) -> None:
    """At each call to the arena, before and after its effect: the same results and matches."""
    contests = ContestsKept(SqliteKeep(MEMORY, FakeClock()))
    small = contests.found(replace(SETTINGS, matches=1, most=3))
    for name in ("One", "Two", "Three"):
        small.enter(name)
    undisturbed = FakeArena()
    expected = held(small, undisturbed)
    assert undisturbed.calls > 15
    for call in range(1, undisturbed.calls + 1):
        arena = FakeArena(call, lost=lost, error=error)
        assert held(small, arena) == expected, call
        tags = Counter(one["creationParams"]["tags"][2] for one in arena.made)
        assert set(tags.values()) == {1}, call
        assert len(arena.made) == len(undisturbed.made)


def test_a_match_that_a_team_has_tagged_counts_for_nothing(records: Records) -> None:
    """Only the organiser's matches do; and of two for one place the first."""
    arena = FakeArena()
    teams = [team.id for team in records.teams()]
    own = arena.add("0" * 24, (teams[3], teams[3]), ("x", "cup", "cup:1:0"), "1")
    own["createdByPlayerId"] = teams[3]
    Director(records, ArenaTables(arena)).step()
    assert [one["creationParams"]["tags"][2] for one in arena.made].count("cup:1:0") == 2
    again = arena.add("f" * 24, (teams[3], teams[4]), ("x", "cup", "cup:1:0"), "2")
    Director(records, ArenaTables(arena)).step()
    (first,) = (result for result in records.results() if result.pairing == "1")
    assert first.matches == (arena.made[1]["_id"],)
    assert again["_id"] not in first.matches


def test_a_paused_contest_begins_nothing(records: Records) -> None:
    """What runs is played to its end."""
    arena = FakeArena()
    director = Director(records, ArenaTables(arena))
    director.step()
    begun = len(arena.made)
    records.pause(on=True)
    for _ in range(5):
        director.step()
    assert len(arena.made) == begun
    assert all(one["activePlayerIndex"] is None for one in arena.made)
    records.pause(on=False)
    director.step()
    assert len(arena.made) > begun


def test_a_password_is_told_once_and_kept_hashed(records: Records, tmp_path: Path) -> None:
    """Nothing in the file holds it; a new one voids it."""
    before = records.team("One")
    _, password = records.new_password("One")
    kept = (tmp_path / "cup" / "contest.db").read_bytes()
    kept += (tmp_path / "cup" / "contest.db-wal").read_bytes()
    assert password.encode() not in kept
    assert records.team("One").ha1 != before.ha1
    assert len(password) >= 24


@pytest.mark.parametrize(
    "name",
    ["", "  ", "x" * 101, "One\u202e", "O\u200bne", " One", "one", "\uff2fne", "a\tb"],
)
def test_no_two_teams_look_alike_and_the_arena_takes_each_name(records: Records, name: str) -> None:
    with pytest.raises(ConfigError, match=r"nobody sees|already|1 to 100 characters"):
        records.enter(name)
    records.enter("x" * 100)


def test_once_begun_the_teams_stay_as_they_are(records: Records) -> None:
    """Another team would change every pairing."""
    for name, told in (("One", "already"), ("Nobody", "entered are One, Two")):
        with pytest.raises(ConfigError, match=told):
            records.enter(name) if name == "One" else records.remove(name)
    records.remove("Five")
    Director(records, ArenaTables(FakeArena())).step()
    for change in (lambda: records.enter("Six"), lambda: records.remove("Four")):
        with pytest.raises(ConfigError, match="has begun"):
            change()


@given(data=st.data(), teams=st.integers(2, 6), late=st.integers(0, 30))
@settings(max_examples=25, deadline=None)
def test_a_contest_goes_on_to_its_end_whatever_is_ruled(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, teams: int, late: int
) -> None:
    """After some steps, and again after its end: all that follows is worked out and played anew."""
    folder = tmp_path_factory.mktemp("ruled") / "cup"
    records = found_in(folder, replace(SETTINGS, matches=1, most=3))
    for number in range(teams):
        records.add(Entrant(f"{number:024x}", f"Team {number}", "ha1"))
    arena = FakeArena()
    director = Director(records, ArenaTables(arena))
    for _ in range(late):
        director.step()
    for _ in range(2):
        known = data.draw(st.sampled_from(records.results() or [None]))
        if known is not None:
            records.rule(known.pairing, data.draw(st.sampled_from(known.teams)), "appeal")
        director = Director(records, ArenaTables(arena))
        assert any(director.step() for _ in range(200)), "the contest does not end"
    rulings = records.rulings()
    teams_of = {one["_id"]: set(one["playerids"]) for one in arena.made}
    for result in records.results():
        assert result.decided
        assert all(teams_of[match] == set(result.teams) for match in result.matches)
        ruling = rulings.get(result.pairing)
        if ruling is not None and ruling.winner in result.teams:
            assert result.winner == ruling.winner
    assert not [one for one in arena.made if one["activePlayerIndex"] is not None]
    records.close()
