"""What a contest keeps, over the port whose homes `tests/contract` holds against each other."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from support.cloud_clock import FakeClock

from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.contest.entries import Entrant, Meeting, Result, Ruling, Settings, Stage, Standing
from cardsharp.contest.facts import Facts
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import _CONTENTS, FILE, kept_in
from cardsharp.errors import Conflict
from cardsharp.keep.port import Change
from cardsharp.keep.sqlite import SqliteKeep
from cardsharp.ratings import Rating

SETTINGS = Settings("cup", matches=3, most=9, seed="secret")
ONE, TWO, THREE = (Entrant(f"{n:024x}", f"Team {n}", f"{n:032x}") for n in (1, 2, 3))
FACTS = Facts((3, 4), 1, 2.5, 9, (1, 0), (0, 2))
RESULT = Result("1", 1, "winners", (ONE.id, TWO.id))


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def contests() -> ContestsKept:
    return ContestsKept(SqliteKeep(MEMORY, FakeClock()))


@pytest.fixture
def records(contests: ContestsKept) -> Records:
    return contests.found(SETTINGS)


def test_teams_stand_in_the_order_of_their_entries_until_they_are_seeded(records: Records) -> None:
    """A removed one leaves its place; who comes back or enters afterwards is the last."""
    for team in (TWO, replace(ONE, strategy="captain"), THREE):
        records.add(team)
    with pytest.raises(Conflict):
        records.add(replace(TWO, id="f" * 24))
    records.remove(TWO.name)
    records.add(TWO)
    assert [team.name for team in records.teams()] == ["Team 1", "Team 3", "Team 2"]
    assert records.teams()[0].strategy == "captain"
    records.remove(THREE.name)
    records.seed([TWO.id, ONE.id])
    records.add(THREE)
    changed, _ = records.new_password(THREE.name)
    assert [team.id for team in records.teams()] == [TWO.id, ONE.id, THREE.id]
    assert records.teams()[2] == changed != THREE


class Overtaken(SqliteKeep):
    """A keep whose next commit comes after somebody else's."""

    def commit(self, *changes: Change) -> None:
        while OVERTAKING:
            OVERTAKING.pop()()
        super().commit(*changes)


OVERTAKING: list[Callable[[], None]] = []


def test_of_two_who_change_a_contest_at_once_neither_undoes_the_other() -> None:
    """Teams are changed by the first alone; what else is said of a contest is said by both."""
    records = ContestsKept(Overtaken(MEMORY, FakeClock())).found(SETTINGS)
    changes: tuple[Callable[[], None], ...] = (
        lambda: records.add(ONE),
        lambda: records.seed([ONE.id]),
        lambda: records.remove(ONE.name),
    )
    for change in changes:
        OVERTAKING.append(lambda: records.pause(on=not records.paused))
        with pytest.raises(Conflict):
            change()
        assert records.teams() in ([], [ONE])
        change()
    records.add(ONE)
    OVERTAKING.append(records.begin)
    with pytest.raises(Conflict):
        records.add(TWO)
    OVERTAKING.append(lambda: records.pause(on=True))
    records.end(0)
    records.begin()
    assert (records.stage, records.paused) == (Stage.OVER, True)


def test_results_take_the_place_of_those_before(records: Records) -> None:
    """In their order, more of them than one write or one answer can hold."""
    many = [replace(RESULT, pairing=str(number)) for number in range(1200)]
    records.keep(many)
    assert records.results() == many
    many[3] = replace(
        many[3], decided=True, wins=(2, 1), winner=ONE.id, matches=("a", "b"), facts=(FACTS,)
    )
    records.keep(many)
    assert records.results() == many
    records.keep(many[:2])
    assert records.results() == many[:2]


def test_a_file_of_before_the_port_has_all_that_it_had(tmp_path: Path) -> None:
    """Of a contest that goes on, whatever its folder is called now."""

    def text(value: object) -> str:
        return TypeAdapter[object](type(value)).dump_json(value).decode()

    meeting = Meeting(7, (ONE.id, TWO.id), "a", NOON, FACTS)
    standing = Standing(7, NOON, {ONE.id: Rating(1010.5, 99.0)})
    with closing(sqlite3.connect(tmp_path / FILE)) as db, db:
        db.executescript(";".join(_CONTENTS.steps[:3]))
        db.execute("PRAGMA user_version = 3")
        db.execute("INSERT INTO settings VALUES (?)", (text(SETTINGS),))
        db.execute("UPDATE progress SET stage = 'begun', ruled = 1")
        for seed, team in ((2, ONE), (1, TWO)):
            row = (team.id, seed, team.name, team.ha1, None)
            db.execute("INSERT INTO teams VALUES (?, ?, ?, ?, ?)", row)
        db.execute("INSERT INTO rulings VALUES ('1', ?, 'left', '')", (ONE.id,))
        db.execute("INSERT INTO results VALUES ('1', 0, ?)", (text(RESULT),))
        db.execute("INSERT INTO pauses VALUES ('')")
        db.execute("INSERT INTO meetings VALUES (7, ?)", (text(meeting),))
        db.execute("INSERT INTO standings VALUES (7, ?)", (text(standing),))
    with closing(kept_in(tmp_path)) as records:
        assert records.settings == SETTINGS
        assert (records.stage, records.paused, records.ruled) == (Stage.BEGUN, True, 1)
        assert records.teams() == [TWO, ONE]
        assert records.rulings() == {"1": Ruling("1", ONE.id, "left")}
        assert (records.results(), records.meetings()) == ([RESULT], [meeting])
        assert records.standings() == [standing]
