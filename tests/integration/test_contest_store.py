"""What a contest keeps, here and deployed; `test_keep.py` has the contract of the homes."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from boto3.session import Session
from pydantic import TypeAdapter
from support.cli import Cli
from support.cloud_benches import moto_client
from support.contests import arena_table, contests_in, founded

from cardsharp.cloud.clock import utc_now
from cardsharp.cloud.sqlite_file import steps_in
from cardsharp.cloud.sqs import SqsQueue
from cardsharp.contest.entries import Entrant, Meeting, Result, Ruling, Settings, Stage, Standing
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import _STORE, FILE, kept_in
from cardsharp.contest.tables import Facts
from cardsharp.deadmansdraw.arena.ticks import Ticks
from cardsharp.errors import Conflict
from cardsharp.keep.port import Change
from cardsharp.ratings import Rating
from workbench.operate.stack import Stack

SETTINGS = Settings("cup", matches=3, most=9, seed="secret")
ONE, TWO, THREE = (Entrant(f"{n:024x}", f"Team {n}", f"{n:032x}") for n in (1, 2, 3))
FACTS = Facts((3, 4), 1, 2.5, 9, (1, 0), (0, 2))
RESULT = Result("1", 1, "winners", (ONE.id, TWO.id))


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def records() -> Records:
    return founded(0)


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


def test_of_two_who_change_a_contest_at_once_neither_undoes_the_other(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Teams are changed by the first alone; what else is said of a contest is said by both."""
    overtaking, commit = list[Callable[[], None]](), records.documents.commit

    def overtaken(*made: Change) -> None:
        while overtaking:
            overtaking.pop()()
        commit(*made)

    monkeypatch.setattr(records.documents, "commit", overtaken)
    changes: tuple[Callable[[], None], ...] = (
        lambda: records.add(ONE),
        lambda: records.seed([ONE.id]),
        lambda: records.remove(ONE.name),
    )
    for change in changes:
        overtaking.append(lambda: records.pause(on=not records.paused))
        with pytest.raises(Conflict):
            change()
        assert records.teams() in ([], [ONE])
        change()
    records.add(ONE)
    overtaking.append(records.begin)
    with pytest.raises(Conflict):
        records.add(TWO)
    overtaking.append(lambda: records.pause(on=True))
    records.end(0)
    records.begin()
    assert (records.stage, records.paused) == (Stage.OVER, True)


def test_results_take_the_place_of_those_before(records: Records) -> None:
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
        db.executescript(";".join(steps_in(_STORE.script)[:3]))
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


# --- `cardsharp contest --stack`: the same commands on a contest that is deployed ---------------


STACK = ("--stack", "cardsharp-dev", "--region", "us-east-1")


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ContestsKept, Callable[[], bool]]]:
    """The contests of one that nothing looks at; whether a tick came since this was asked last."""
    with moto_client() as client, arena_table(client) as table:
        told = {"deadmansdrawUrl": "https://arena.example"}, {"deadmansdrawTable": table.name}
        monkeypatch.setattr(
            "workbench.operate.stack.find_stack",
            lambda name, clients: Stack(name, utc_now(), False, {}, *told, clients),  # noqa: FBT003
        )
        sqs = Session(region_name="us-east-1").client("sqs")
        url = sqs.create_queue(QueueName="ticks")["QueueUrl"]
        queue = SqsQueue(url, sqs)
        Ticks(table, queue, url).broken()

        def woken() -> bool:
            messages = list(iter(lambda: queue.receive(timedelta()), None))
            for message in messages:
                queue.delete(message)
            return bool(messages)

        yield contests_in(table, client), woken


def test_it_begins_is_looked_at_and_told_to_the_end(
    cli: Cli, stack: tuple[ContestsKept, Callable[[], bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The director, which is not there, is asked to look whenever there is something to see."""
    contests, woken = stack
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    assert cli("contest", "new", "cup", "-n", "1", *STACK).code == 0
    for name in ("One", "Two"):
        cli("contest", "teams", "add", "cup", name, *STACK)
    records = contests.named("cup")
    one, two = (team.id for team in records.teams())
    assert "has not begun" in cli("contest", "status", "cup", *STACK).out
    assert not woken()
    facts = Facts((12, 9), 0, 60.0, 30, (1, 2), (0, 0))
    first = Result("1", 1, "winners", (one, two), (1, 0), one, matches=("a" * 24,), facts=(facts,))
    records.keep([replace(first, decided=True)])
    records.begin()
    assert "has begun" in cli("contest", "teams", "add", "cup", "Late", *STACK).err
    assert cli("contest", "rule", "cup", "1", "Two", "--reason", "left", *STACK).code == 0
    assert records.rulings()["1"].winner == two
    assert woken()
    assert cli("contest", "pause", "cup", *STACK).code == 0
    assert cli("contest", "status", "cup", "--json", *STACK).json()["paused"] is True
    assert cli("contest", "resume", "cup", *STACK).code == 0
    assert woken()
    records.end(records.ruled)
    assert records.stage is Stage.OVER
    told = cli("contest", "run", "cup", *STACK)
    assert "arena at https://arena.example" in told.err
    assert told.out.startswith("pairing 1, winners: One - Two 1:0, One")
    assert woken()
    (row,) = cli("contest", "results", "cup", "--json", *STACK).json()
    assert (row["winner"], row["points"]) == ("One", ["12:9"])
