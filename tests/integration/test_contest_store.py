"""Tests of the stored state of a contest, local and deployed.

The document stores are tested in `test_document_store_contract.py`.
"""

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
from support.contests import arena_table, contests_in_table, new_contest, play_practice
from support.store_fixtures import moto_client

from cardsharp.analysis.ratings import Rating
from cardsharp.aws.sqs_queue import SqsQueue
from cardsharp.contest.contest_file import _STORE, CONTEST_FILE_NAME, open_contest_in
from cardsharp.contest.match_host import MatchResultFacts
from cardsharp.contest.models import (
    ContestSettings,
    ContestStage,
    PairingResult,
    PracticeMatch,
    RatingSnapshot,
    Ruling,
    TeamEntry,
)
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import utc_now
from cardsharp.errors import WriteConflict
from cardsharp.games.deadmansdraw.arena.director_ticks import TickChain
from cardsharp.store.documents import Write
from cardsharp.store.sqlite_file import parse_migrations
from cardsharp_tools.operations.stack import Stack

SETTINGS = ContestSettings("cup", matches=3, most=9, seed="secret")
TEAM_ONE, TEAM_TWO, TEAM_THREE = (
    TeamEntry(f"{n:024x}", f"Team {n}", f"{n:032x}") for n in (1, 2, 3)
)
FACTS = MatchResultFacts((3, 4), 1, 2.5, 9, (1, 0), (0, 2))
RESULT = PairingResult("1", 1, "winners", (TEAM_ONE.id, TEAM_TWO.id))


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def records() -> ContestRecords:
    return new_contest(0)


def test_teams_stand_in_the_order_of_their_entries_until_they_are_seeded(
    records: ContestRecords,
) -> None:
    """A removed team that is added again is the last, and so is a new team."""
    for team in (TEAM_TWO, replace(TEAM_ONE, strategy="captain"), TEAM_THREE):
        records.append_team(team)
    with pytest.raises(WriteConflict):
        records.append_team(replace(TEAM_TWO, id="f" * 24))
    records.remove_team(TEAM_TWO.name)
    records.append_team(TEAM_TWO)
    assert [team.name for team in records.teams()] == ["Team 1", "Team 3", "Team 2"]
    assert records.teams()[0].strategy == "captain"
    records.remove_team(TEAM_THREE.name)
    records.set_seeding([TEAM_TWO.id, TEAM_ONE.id])
    records.append_team(TEAM_THREE)
    updated_team, _ = records.reset_password(TEAM_THREE.name)
    assert [team.id for team in records.teams()] == [TEAM_TWO.id, TEAM_ONE.id, TEAM_THREE.id]
    assert records.teams()[2] == updated_team != TEAM_THREE


def test_concurrent_changes_of_a_contest_never_undo_each_other(
    records: ContestRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Concurrent changes of the teams conflict; other changes of a contest are merged."""
    concurrent_changes, commit = list[Callable[[], None]](), records.documents.commit

    def commit_late(*writes: Write) -> None:
        while concurrent_changes:
            concurrent_changes.pop()()
        commit(*writes)

    monkeypatch.setattr(records.documents, "commit", commit_late)
    changes: tuple[Callable[[], None], ...] = (
        lambda: records.append_team(TEAM_ONE),
        lambda: records.set_seeding([TEAM_ONE.id]),
        lambda: records.remove_team(TEAM_ONE.name),
    )
    for change in changes:
        concurrent_changes.append(lambda: records.set_paused(paused=not records.is_paused))
        with pytest.raises(WriteConflict):
            change()
        assert records.teams() in ([], [TEAM_ONE])
        change()
    records.append_team(TEAM_ONE)
    concurrent_changes.append(records.start_contest)
    with pytest.raises(WriteConflict):
        records.append_team(TEAM_TWO)
    concurrent_changes.append(lambda: records.set_paused(paused=True))
    records.end_contest_unless_admin_acted(0)
    records.start_contest()
    assert (records.stage, records.is_paused) == (ContestStage.OVER, True)


def test_saved_results_replace_the_previous_ones(records: ContestRecords) -> None:
    results = [replace(RESULT, pairing=str(number)) for number in range(1200)]
    records.save_results(results)
    assert records.results() == results
    results[3] = replace(
        results[3],
        decided=True,
        wins=(2, 1),
        winner=TEAM_ONE.id,
        matches=("a", "b"),
        facts=(FACTS,),
    )
    records.save_results(results)
    assert records.results() == results
    records.save_results(results[:2])
    assert records.results() == results[:2]


def test_a_file_of_the_old_format_is_migrated_with_all_its_data(tmp_path: Path) -> None:
    """A running contest is migrated, whatever the name of its folder."""

    def to_json(value: object) -> str:
        return TypeAdapter[object](type(value)).dump_json(value).decode()

    practice_match = PracticeMatch(7, (TEAM_ONE.id, TEAM_TWO.id), "a", NOON, FACTS)
    rating_snapshot = RatingSnapshot(7, NOON, {TEAM_ONE.id: Rating(1010.5, 99.0)})
    with closing(sqlite3.connect(tmp_path / CONTEST_FILE_NAME)) as db, db:
        db.executescript(";".join(parse_migrations(_STORE.schema_file)[:3]))
        db.execute("PRAGMA user_version = 3")
        db.execute("INSERT INTO settings VALUES (?)", (to_json(SETTINGS),))
        db.execute("UPDATE progress SET stage = 'begun', ruled = 1")
        for seed, team in ((2, TEAM_ONE), (1, TEAM_TWO)):
            row = (team.id, seed, team.name, team.ha1, None)
            db.execute("INSERT INTO teams VALUES (?, ?, ?, ?, ?)", row)
        db.execute("INSERT INTO rulings VALUES ('1', ?, 'left', '')", (TEAM_ONE.id,))
        db.execute("INSERT INTO results VALUES ('1', 0, ?)", (to_json(RESULT),))
        db.execute("INSERT INTO pauses VALUES ('')")
        db.execute("INSERT INTO meetings VALUES (7, ?)", (to_json(practice_match),))
        db.execute("INSERT INTO standings VALUES (7, ?)", (to_json(rating_snapshot),))
    with closing(open_contest_in(tmp_path)) as records:
        assert records.settings == SETTINGS
        assert (records.stage, records.is_paused, records.admin_action_count) == (
            ContestStage.RUNNING,
            True,
            1,
        )
        assert records.teams() == [TEAM_TWO, TEAM_ONE]
        assert records.rulings_by_pairing() == {"1": Ruling("1", TEAM_ONE.id, "left")}
        assert (records.results(), records.practice_matches()) == ([RESULT], [practice_match])
        assert records.practice_rating_history() == [rating_snapshot]


# --- `cardsharp contest --stack`: the same commands on a contest that is deployed ---------------


STACK_OPTIONS = ("--stack", "cardsharp-dev", "--region", "us-east-1")


@pytest.fixture
def stack(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[ContestRepository, Callable[[], bool]]]:
    """The contests of a stack without a director, and a function that reports new ticks."""
    with moto_client() as client, arena_table(client) as table:
        stack_outputs = (
            {"ArenaUrl": "https://arena.example"},
            {"ArenaTable": table.name},
        )
        monkeypatch.setattr(
            "cardsharp_tools.operations.stack.find_stack",
            lambda name, clients: Stack(name, utc_now(), False, {}, *stack_outputs, clients),  # noqa: FBT003
        )
        sqs = Session(region_name="us-east-1").client("sqs")
        url = sqs.create_queue(QueueName="ticks")["QueueUrl"]
        queue = SqsQueue(url, sqs)
        TickChain(table, queue, url).stalled_ticket()

        def receive_ticks() -> bool:
            messages = list(iter(lambda: queue.receive_message(timedelta()), None))
            for message in messages:
                queue.delete(message)
            return bool(messages)

        yield contests_in_table(table, client), receive_ticks


def test_the_commands_manage_a_deployed_contest_from_start_to_end(
    cli: Cli, stack: tuple[ContestRepository, Callable[[], bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each change sends a tick to the director, which does not run in this test."""
    contests, has_new_tick = stack
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    assert cli("contest", "new", "cup", "-n", "1", *STACK_OPTIONS).code == 0
    for name in ("One", "Two"):
        cli("contest", "teams", "add", "cup", name, *STACK_OPTIONS)
    records = contests.get("cup")
    first_id, second_id = (team.id for team in records.teams())
    assert "not started" in cli("contest", "status", "cup", *STACK_OPTIONS).out
    assert not has_new_tick()
    facts = MatchResultFacts((12, 9), 0, 60.0, 30, (1, 2), (0, 0))
    first_result = PairingResult(
        "1",
        1,
        "winners",
        (first_id, second_id),
        (1, 0),
        first_id,
        matches=("a" * 24,),
        facts=(facts,),
    )
    records.save_results([replace(first_result, decided=True)])
    records.start_contest()
    assert "has begun" in cli("contest", "teams", "add", "cup", "Late", *STACK_OPTIONS).err
    assert (
        cli(
            "contest", "override-result", "cup", "1", "Two", "--reason", "left", *STACK_OPTIONS
        ).code
        == 0
    )
    assert records.rulings_by_pairing()["1"].winner == second_id
    assert has_new_tick()
    assert "no practice matches" in cli("contest", "plan", "cup", *STACK_OPTIONS).err
    play_practice(contests.get("cup"), 4)
    plan = cli("contest", "plan", "cup", "--json", *STACK_OPTIONS)
    assert {"round-robin", "swiss"} < {row["format"] for row in plan.json()}
    assert "Name the contest" in cli("contest", "plan", *STACK_OPTIONS).err
    assert cli("contest", "pause", "cup", *STACK_OPTIONS).code == 0
    assert cli("contest", "status", "cup", "--json", *STACK_OPTIONS).json()["paused"] is True
    assert cli("contest", "resume", "cup", *STACK_OPTIONS).code == 0
    assert has_new_tick()
    records.end_contest_unless_admin_acted(records.admin_action_count)
    assert records.stage is ContestStage.OVER
    result = cli("contest", "run", "cup", *STACK_OPTIONS)
    assert "arena at https://arena.example" in result.err
    assert result.out.startswith("pairing 1, winners: One - Two 1:0, winner One")
    assert has_new_tick()
    (row,) = cli("contest", "results", "cup", "--json", *STACK_OPTIONS).json()
    assert (row["winner"], row["points"]) == ("One", ["12:9"])
