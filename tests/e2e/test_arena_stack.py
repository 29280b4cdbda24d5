"""Tests of an arena that is deployed alone: operation, and contests through disturbances."""

import io
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support.aws_build import native_build
from support.cli import Cli, start_program, wait_for_line
from support.contests import contests_in_table
from support.starters import START_COMMANDS, missing_programs, start_starter
from support.waiting import HANG_SECONDS, wait_until

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.contest.contest_file import create_contest_in
from cardsharp.contest.models import ContestSettings
from cardsharp.core.credentials import Credentials
from cardsharp.games.deadmansdraw.arena.access.presence import DynamoPresence
from cardsharp.store.dynamodb_match_items import item_key
from cardsharp_tools.build.emulator_deploy import STACK_SERVICES, deploy
from cardsharp_tools.build.sam_build import Build
from cardsharp_tools.build.target import native_architecture
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.contest.local_players import play_team_matches
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.template_files import ARENA_TEMPLATE
from cardsharp_tools.local_play.opponent import OpponentConfig
from cardsharp_tools.operations.stack import Stack, find_stack

NAME = "arena-alone"
STACK_OPTIONS = ("--stack", NAME)
TEAMS = ("draw-2", "draw-3", "third")  # strategies that do the same in the same position, as teams

REHEARSAL_TURN_SECONDS = 20  # of the contest, whose turns the arena ends
CONTEST_SETTINGS = ContestSettings(
    "cup", "swiss", matches=3, most=9, timeout=60, seed="a secret of this test"
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

Deployment = tuple[Emulator, Build]


def deploy_arena_stack(deployment: Deployment, log_level: str = "INFO") -> Stack:
    """Deploy or update the arena's stack, and return it."""
    emulator, build = deployment
    parameters = {"Architecture": native_architecture(), "LogLevel": log_level}
    deploy(emulator, build, NAME, parameters, ARENA_TEMPLATE)
    return find_stack(NAME, emulator.client)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with Emulator(STACK_SERVICES) as emulator:
        yield emulator, native_build(tmp_path_factory)


@pytest.fixture
def cli(deployment: Deployment, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name, value in deployment[0].environment.items():
        monkeypatch.setenv(name, value)
    return cli


def test_an_arena_stack_reports_its_status_and_replays_dead_letters(
    deployment: Deployment, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    (emulator, _), arena_stack = deployment, deploy_arena_stack(deployment)
    doctor_result = cli("cloud", "doctor", *STACK_OPTIONS)
    assert doctor_result.code == ExitCode.FAILED
    assert "rotate-secret --service deadmansdraw" in doctor_result.out + doctor_result.err
    monkeypatch.setattr("sys.stdin", io.StringIO("a long password of the organiser\n"))
    assert (
        cli("cloud", "rotate-secret", "--service", "deadmansdraw", *STACK_OPTIONS).code
        == ExitCode.OK
    )
    sqs, url = emulator.client("sqs"), arena_stack.output("TickLetterUrl")
    for body in ('{"ticket": 0}', "no tick"):
        sqs.send_message(QueueUrl=url, MessageBody=body)
    status = cli("cloud", "status", *STACK_OPTIONS, "--json").json()
    assert status["director"]["deadLetters"] == 2
    assert any("dlq list --director" in problem for problem in status["problems"])
    assert "lastPoll" not in status
    assert "tick 0 of the director" in cli("cloud", "dlq", "list", *STACK_OPTIONS).out
    assert "sent 1 message" in cli("cloud", "dlq", "redrive", "--all", *STACK_OPTIONS).out
    assert (
        "dropped 1 message"
        in cli("cloud", "dlq", "drop", "--all", "--director", *STACK_OPTIONS).out
    )
    logs, current_millis = emulator.client("logs"), round(time.time() * 1000)
    log_stream = {
        "logGroupName": arena_stack.log_group_by_function["director"],
        "logStreamName": "planted",
    }
    logs.create_log_stream(**log_stream)
    lines = ('{"level":"ERROR","message":"planted"}', '{"level":"INFO","message":"no error"}')
    log_events = [{"timestamp": current_millis, "message": line} for line in lines]
    logs.put_log_events(**log_stream, logEvents=log_events)
    problems = cli("cloud", "logs", "--problems", *STACK_OPTIONS, "--json").json()
    (planted_line,) = [line for line in problems if line["function"] == "director"]
    assert planted_line["message"] == "planted"
    unknown_log_result = cli("cloud", "logs", "nonsuch", *STACK_OPTIONS)
    assert unknown_log_result.code != ExitCode.OK
    assert "No function logged anything about nonsuch" in unknown_log_result.err
    assert "has no bot" in cli("cloud", "pause", *STACK_OPTIONS).err


def kill_director(emulator: Emulator) -> int:
    """Kill the processes of the deployed director, and return their number."""
    killed_count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if str(emulator.folder).encode() in line and b"Director" in line:
            os.kill(int(folder.name), signal.SIGKILL)
            killed_count += 1
    return killed_count


@contextmanager
def play_as_teams(
    emulator: Emulator, arena_stack: Stack, credentials_by_team: dict[str, Credentials]
) -> Iterator[None]:
    """Play the teams' matches at the deployed arena.

    The emulator serves the arena's API under a path.
    """
    api_id = arena_stack.outputs["ArenaUrl"].partition("//")[2].partition(".")[0]
    url = f"{emulator.endpoint}/_aws/execute-api/{api_id}/$default"
    stop_event = threading.Event()
    for name, credentials in credentials_by_team.items():
        play_team_matches(
            OpponentConfig(url, credentials.user, credentials.password, BuiltIn(name), name),
            print,
            emulator.folder / f"{credentials.user}.log",
            stop_event,
        )
    yield
    stop_event.set()


def read_results(cli: Cli, *contest: str) -> list[tuple[object, ...]]:
    """Return pairing, teams, points and winner of each row of `contest results`."""
    rows = cli("contest", "results", *contest, "--json").json()
    return [(row["pairing"], row["teams"], row["points"], row["winner"]) for row in rows]


@pytest.mark.parametrize("form", ["swiss", "ladder"])
def test_a_contest_survives_an_upgrade_and_a_killed_director(
    deployment: Deployment, cli: Cli, tmp_path: Path, form: str
) -> None:
    """The results equal those of the same contest in an undisturbed local run.

    The stack itself plays the last team, which has no program.
    """
    local_contest, (emulator, _) = str(tmp_path / "cup"), deployment
    settings = replace(CONTEST_SETTINGS, name=form, format=form)
    create_contest_in(Path(local_contest), settings).close()
    for name in TEAMS:
        cli("contest", "teams", "add", local_contest, name, "--strategy", name)
    assert cli("contest", "run", local_contest, "--port", "0").code == 0
    arena_stack = deploy_arena_stack(deployment)
    table = DynamoTable(arena_stack.ids["ArenaTable"], emulator.client("dynamodb"))
    contests_in_table(table, emulator.client("dynamodb")).create(settings)
    credentials_by_team = {}
    for name in TEAMS[:-1]:
        line = cli("contest", "teams", "add", form, name, *STACK_OPTIONS).out
        team, _, password = line.partition("id ")[2].strip().partition(", password ")
        credentials_by_team[name] = Credentials(team, password)
    cli("contest", "teams", "add", form, TEAMS[-1], "--strategy", TEAMS[-1], *STACK_OPTIONS)
    with (
        play_as_teams(emulator, arena_stack, credentials_by_team),
        start_program("contest", "run", form, *STACK_OPTIONS) as contest_process,
    ):
        wait_for_line(contest_process.stdout, "pairing 1")
        assert kill_director(emulator) > 0
        wait_for_line(contest_process.stdout, "pairing 2")
        deploy_arena_stack(deployment, "DEBUG")
        wait_for_line(contest_process.stdout, "won by")
        assert contest_process.wait(timeout=HANG_SECONDS) == 0
    assert read_results(cli, form, *STACK_OPTIONS) == read_results(cli, local_contest)


def test_practice_of_all_starters_begins_within_ten_seconds_in_a_new_stack(
    deployment: Deployment, cli: Cli
) -> None:
    """Every starter and our bot practise by the contest's tag and play the cup to its end."""
    emulator, arena_stack = deployment[0], deploy_arena_stack(deployment)
    table = DynamoTable(arena_stack.ids["ArenaTable"], emulator.client("dynamodb"))
    table.delete(item_key("control", "director"))  # as the schedule of a new stack has not run yet
    settings = replace(
        CONTEST_SETTINGS,
        name="rehearsal",
        format="round-robin",
        matches=1,
        timeout=REHEARSAL_TURN_SECONDS,
    )
    contests = contests_in_table(table, emulator.client("dynamodb"))
    records = contests.create(settings)
    api_id = arena_stack.outputs["ArenaUrl"].partition("//")[2].partition(".")[0]
    url = f"{emulator.endpoint}/_aws/execute-api/{api_id}/$default"
    with ExitStack() as stack:
        for name in (kit for kit in START_COMMANDS if not missing_programs(kit)):
            team, password = records.add_team(name)
            bot = start_starter(name, url, team.id, "rehearsal", password=password)
            stack.callback(bot.communicate)
            stack.callback(os.killpg, bot.pid, signal.SIGKILL)
        team, password = records.add_team("bot")
        arguments = ("--url", url, "--user", team.id, "--tag", "rehearsal")
        environment = {"CARDSHARP_PASSWORD": password}
        stack.enter_context(start_program("bot", *arguments, environment=environment))
        teams = {entry.id for entry in records.teams()}
        wait_until(lambda: teams <= DynamoPresence(table).activity_by_player().keys())
        began_at = time.monotonic()
        with start_program("contest", "practice", "rehearsal", *STACK_OPTIONS) as practice:
            wait_until(lambda: any(table.query_prefix("tagged#rehearsal-practice_Round1")))
            assert time.monotonic() - began_at < 10
            wait_for_line(practice.stdout, "practice 1:")
        assert cli("contest", "run", "rehearsal", *STACK_OPTIONS).code == 0
    results = records.results()
    assert all(result.decided for result in results)
    assert {facts.late for result in results for facts in result.facts} == {(0, 0)}
    assert records.wrong_tags_by_team() == {}
