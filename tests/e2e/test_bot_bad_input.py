"""R10: a message or an event that is no good is answered clearly, and what is good is played."""

import io
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from support.arena import ADMIN_PASSWORD, ALICE, BOB, OUTSIDER, PASSWORDS, write_players
from support.bot_events import context, event_of, message, ours
from world.judge import log_faults

import worker.app
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.memory import MAX_RECEIVES, MemoryQueue, Redrive, register
from cardsharp.cloud.ports import Status
from cardsharp.cloud.telemetry import redirect
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.errors import Malformed
from workbench.arena.server import ArenaServer
from workbench.cloud.context import Invocation
from workbench.cloud.home import HomeOptions
from workbench.stage.following import Follower
from workbench.stage.side import assembled, attending, embedded_in

BELIEVED_SOON = {"CARDSHARP_DENIAL_SECONDS": "0.1"}
"""For matches that the arena really has not: a denial need not stay for 3 s."""


@pytest.fixture(autouse=True)
def lines() -> Iterator[io.StringIO]:
    """What is logged; in no line of it is the password."""
    stream = io.StringIO()
    redirect(stream)
    yield stream
    assert PASSWORDS[ALICE] not in stream.getvalue()


@contextmanager
def settings(folder: Path, url: str, **more: str) -> Iterator[Any]:
    given = {**ours(url), **embedded_in(folder / "matches.db").settings, **BELIEVED_SOON, **more}
    with assembled(given) as made:
        yield made


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[ArenaServer]:
    config = ArenaConfig(players=write_players(tmp_path), admin_password=ADMIN_PASSWORD)
    with ArenaServer(config) as server:
        yield server


def test_a_wrong_password_fails_the_message_and_leaves_the_match_alone_for_a_while(
    tmp_path: Path, arena: ArenaServer, lines: io.StringIO
) -> None:
    match_id = arena.create_match([ALICE, BOB])
    with settings(tmp_path, arena.url, CARDSHARP_PASSWORD="not-alices") as assembly:
        answer = worker.app.handler(event_of(message(match_id)), context())
        record = assembly.log.match(match_id)
        assert not assembly.log.announce(match_id, timedelta(seconds=3))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    assert "check the user and the password" in lines.getvalue()
    assert "not-alices" not in lines.getvalue()
    (failed,) = (line for line in lines.getvalue().splitlines() if "a message failed" in line)
    assert json.loads(failed)["match_id"] == match_id
    assert record is not None
    assert record.status is Status.RUNNING


def test_an_id_that_is_none_and_the_match_of_others_are_set_aside(
    tmp_path: Path, arena: ArenaServer, lines: io.StringIO
) -> None:
    """The arena's 400 is an answer; asking again would be no use."""
    others = arena.create_match([BOB, OUTSIDER])
    with settings(tmp_path, arena.url) as assembly:
        for match_id, failed, said in (
            ("abc", [], "24 hex characters"),
            (others, ["0"], "Match is visible only to participating players."),
        ):
            answer = worker.app.handler(event_of(message(match_id)), context())
            assert answer == {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}
            assert not assembly.log.announce(match_id, timedelta(seconds=3))
            assert said in lines.getvalue()


def test_an_event_of_another_shape_is_refused_in_a_sentence(
    tmp_path: Path, arena: ArenaServer
) -> None:
    odd: list[Any] = [{}, [], None, {"Records": {}}, {"Records": [{"s3": {}}]}, {"records": []}]
    with settings(tmp_path, arena.url):
        for event in odd:
            with pytest.raises(Malformed, match="expects an SQS event"):
                worker.app.handler(event, context())


def test_r10_a_poison_message_becomes_a_dead_letter_after_its_last_receive_while_others_go_on(
    tmp_path: Path, arena: ArenaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.app, "AGAIN", timedelta(seconds=0.2))
    clock, poison, received = SystemClock(), "this is no match message", Counter[str]()
    dead = MemoryQueue(clock)
    register("poisoned", MemoryQueue(clock, timedelta(seconds=0.2), Redrive(MAX_RECEIVES, dead)))

    def observe(invocation: Invocation) -> None:
        received.update(
            record["body"] for record in cast("Any", invocation.event).get("Records", ())
        )

    short = [["Key", 3], ["Map", 5], ["Mermaid", 9], ["Sword", 4]]
    matches = [arena.create_match([ALICE, ALICE], drawPile=short) for _ in range(2)]
    given = {"CARDSHARP_QUEUE": "memory:poisoned", "CARDSHARP_STRATEGY": "steady"}
    with (
        settings(tmp_path, arena.url, **given) as assembly,
        attending(assembly, HomeOptions(observe=observe), arena.stop),
    ):
        assembly.queue.send(poison)
        [*Follower(assembly.log, clock, timedelta(seconds=60)).as_they_end(matches, 2)]
        letter = dead.receive(timedelta(seconds=10))
        assert [log_faults(arena.look(match), assembly.log) for match in matches] == [[], []]
    assert letter is not None
    assert letter.body == poison
    assert len(dead) == 1
    assert received[poison] == MAX_RECEIVES
