"""An arena that is deployed alone: operated like a bot, and a contest through all that happens."""

import io
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support.aws_build import native_build
from support.cli import Cli, start_program, wait_for_line
from support.contests import contests_in
from support.waiting import HANG_SECONDS

from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.contest.contest_file import create_in
from cardsharp.contest.models import ContestSettings
from cardsharp.core.credentials import Credentials
from cardsharp_tools.build.emulator_deploy import STACK_SERVICES, deploy
from cardsharp_tools.build.sam_build import Build
from cardsharp_tools.build.target import native_architecture
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.contest.contest_arena import play_team_matches
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.template_files import ARENA_TEMPLATE
from cardsharp_tools.local_play.opponent import OpponentConfig
from cardsharp_tools.operations.stack import Stack, find_stack

NAME = "arena-alone"
HERE = ("--stack", NAME)
TEAMS = ("draw-2", "draw-3", "third")  # strategies that do the same in the same position, as teams

CUP = ContestSettings("cup", "swiss", matches=3, most=9, timeout=60, seed="a secret of this test")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

Deployed = tuple[Emulator, Build]


def stack(deployed: Deployed, log_level: str = "INFO") -> Stack:
    """The arena's stack, new or updated."""
    emulator, built = deployed
    parameters = {"Architecture": native_architecture(), "LogLevel": log_level}
    deploy(emulator, built, NAME, parameters, ARENA_TEMPLATE)
    return find_stack(NAME, emulator.client)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with Emulator(STACK_SERVICES) as emulator:
        yield emulator, native_build(tmp_path_factory, with_arena=True)


@pytest.fixture
def cli(deployed: Deployed, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name, value in deployed[0].environment.items():
        monkeypatch.setenv(name, value)
    return cli


def test_an_arena_alone_is_looked_at_and_its_directors_letters_are_sent_again(
    deployed: Deployed, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    (emulator, _), made = deployed, stack(deployed)
    without = cli("cloud", "doctor", *HERE)
    assert without.code == ExitCode.FAILED
    assert "rotate-secret --service deadmansdraw" in without.out + without.err
    monkeypatch.setattr("sys.stdin", io.StringIO("a long password of the organiser\n"))
    assert cli("cloud", "rotate-secret", "--service", "deadmansdraw", *HERE).code == ExitCode.OK
    sqs, url = emulator.client("sqs"), made.output("TickLetterUrl")
    for body in ('{"ticket": 0}', "no tick"):
        sqs.send_message(QueueUrl=url, MessageBody=body)
    look = cli("cloud", "status", *HERE, "--json").json()
    assert look["director"]["deadLetters"] == 2
    assert any("dlq list --director" in problem for problem in look["problems"])
    assert "lastPoll" not in look
    assert "tick 0 of the director" in cli("cloud", "dlq", "list", *HERE).out
    assert "sent 1 letter" in cli("cloud", "dlq", "replay", "--all", *HERE).out
    assert "dropped 1 letter" in cli("cloud", "dlq", "drop", "--all", "--director", *HERE).out
    logs, now = emulator.client("logs"), round(time.time() * 1000)
    there = {"logGroupName": made.log_groups["director"], "logStreamName": "planted"}
    logs.create_log_stream(**there)
    lines = ('{"level":"ERROR","message":"planted"}', '{"level":"INFO","message":"no error"}')
    told = [{"timestamp": now, "message": line} for line in lines]
    logs.put_log_events(**there, logEvents=told)
    problems = cli("cloud", "logs", "--problems", *HERE, "--json").json()
    (planted,) = [line for line in problems if line["function"] == "director"]
    assert planted["message"] == "planted"
    refused = cli("cloud", "logs", "nonsuch", *HERE)
    assert refused.code != ExitCode.OK
    assert "no function logged anything about nonsuch" in refused.err
    assert "is an arena without a bot" in cli("cloud", "pause", *HERE).err


def kill_director(emulator: Emulator) -> int:
    """How many processes of the deployed director there were."""
    killed = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if str(emulator.folder).encode() in line and b"Director" in line:
            os.kill(int(folder.name), signal.SIGKILL)
            killed += 1
    return killed


@contextmanager
def at_play(emulator: Emulator, made: Stack, words: dict[str, Credentials]) -> Iterator[None]:
    """The teams at the deployed arena, which the emulator has below a path of its own."""
    api = made.outputs["deadmansdrawUrl"].partition("//")[2].partition(".")[0]
    url = f"{emulator.endpoint}/_aws/execute-api/{api}/$default"
    over = threading.Event()
    for name, who in words.items():
        play_team_matches(
            OpponentConfig(url, who.user, who.password, name, name), print, emulator.folder, over
        )
    yield
    over.set()


def results(cli: Cli, *contest: str) -> list[tuple[object, ...]]:
    """Who met whom, with the points of each match, and who won."""
    rows = cli("contest", "results", *contest, "--json").json()
    return [(row["pairing"], row["teams"], row["points"], row["winner"]) for row in rows]


@pytest.mark.parametrize("form", ["swiss", "ladder"])
def test_a_contest_survives_an_upgrade_and_a_killed_director(
    deployed: Deployed, cli: Cli, tmp_path: Path, form: str
) -> None:
    """With the results, to the points, of the same contest at home that nobody disturbs.

    The stack itself plays the last team, which has no program.
    """
    home, (emulator, _) = str(tmp_path / "cup"), deployed
    settings = replace(CUP, name=form, format=form)
    create_in(Path(home), settings).close()
    for name in TEAMS:
        cli("contest", "teams", "add", home, name, "--strategy", name)
    assert cli("contest", "run", home, "--port", "0").code == 0
    made = stack(deployed)
    table = DynamoTable(made.ids["deadmansdrawTable"], emulator.client("dynamodb"))
    contests_in(table, emulator.client("dynamodb")).create(settings)
    words = {}
    for name in TEAMS[:-1]:
        line = cli("contest", "teams", "add", form, name, *HERE).out
        team, _, password = line.partition("id ")[2].strip().partition(", password ")
        words[name] = Credentials(team, password)
    cli("contest", "teams", "add", form, TEAMS[-1], "--strategy", TEAMS[-1], *HERE)
    with at_play(emulator, made, words), start_program("contest", "run", form, *HERE) as running:
        wait_for_line(running.stdout, "pairing 1")
        assert kill_director(emulator) > 0
        wait_for_line(running.stdout, "pairing 2")
        stack(deployed, "DEBUG")
        wait_for_line(running.stdout, "won by")
        assert running.wait(timeout=HANG_SECONDS) == 0
    assert results(cli, form, *HERE) == results(cli, home)
