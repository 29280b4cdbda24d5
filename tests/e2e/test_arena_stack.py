"""An arena that is deployed alone, operated by the same commands as a bot."""

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.aws_build import native_build
from support.cli import Cli, clean

from workbench.build.deploy import STACK_SERVICES, deploy
from workbench.build.target import native_architecture
from workbench.cloud.emulator import Emulator
from workbench.cloud.template import ARENA
from workbench.operate.stack import Stack, find_stack
from workbench.show.exits import Exit

NAME = "arena-alone"
HERE = ("--stack", NAME)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Emulator, Stack]]:
    built = native_build(tmp_path_factory)
    with Emulator(STACK_SERVICES) as emulator:
        deploy(emulator, built, NAME, {"Architecture": native_architecture()}, ARENA)
        yield emulator, find_stack(NAME, emulator.client)


@pytest.fixture
def cli(
    deployed: tuple[Emulator, Stack],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Cli:
    clean(monkeypatch, tmp_path / "data")
    for name, value in deployed[0].environment.items():
        monkeypatch.setenv(name, value)
    return Cli(capsys)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_arena_alone_is_looked_at_and_its_directors_letters_are_sent_again(
    deployed: tuple[Emulator, Stack], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    emulator, stack = deployed
    without = cli("cloud", "doctor", *HERE)
    assert without.code == Exit.FAILED
    assert "rotate-secret --service deadmansdraw" in without.out + without.err
    monkeypatch.setattr("sys.stdin", io.StringIO("a long password of the organiser\n"))
    assert cli("cloud", "rotate-secret", "--service", "deadmansdraw", *HERE).code == Exit.OK
    sqs, url = emulator.client("sqs"), stack.output("TickLetterUrl")
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
    there = {"logGroupName": stack.log_groups["director"], "logStreamName": "planted"}
    logs.create_log_stream(**there)
    lines = ('{"level":"ERROR","message":"planted"}', '{"level":"INFO","message":"no error"}')
    told = [{"timestamp": now, "message": line} for line in lines]
    logs.put_log_events(**there, logEvents=told)
    problems = cli("cloud", "logs", "--problems", *HERE, "--json").json()
    (planted,) = [line for line in problems if line["function"] == "director"]
    assert planted["message"] == "planted"
    refused = cli("cloud", "logs", "nonsuch", *HERE)
    assert refused.code != Exit.OK
    assert "no function logged anything about nonsuch" in refused.err
    assert "is an arena without a bot" in cli("cloud", "pause", *HERE).err
