"""Poller and worker as Lambda calls them, with every sample event."""

import io
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.arena import ADMIN_PASSWORD, ALICE, write_players
from support.bot_events import EVENTS, context, event_of, message
from support.bot_stage import ours
from support.cloud_clock import FakeClock

import poller.app
import practice.app
import worker.app
from cardsharp.cloud.memory import MemoryQueue, register
from cardsharp.cloud.messages import LookMessage, parse_message
from cardsharp.cloud.switches import NoSwitchboard, Switches
from cardsharp.cloud.telemetry import redirect
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.assembly import Assembly
from cardsharp.deadmansdraw.scout import Scout
from cardsharp.errors import ConfigError, StoreError
from workbench.arena.server import ArenaServer
from workbench.cloud.events import sqs_event
from workbench.stage.clouds import embedded_in
from workbench.stage.side import assembled

QUICK = {
    "CARDSHARP_DENIAL_SECONDS": "0.1",
    "CARDSHARP_READ_SECONDS": "1",
    "CARDSHARP_STRATEGY": "draw-3",
}

FAILING = {"worker_poison": 1}
"""How many records of a sample cannot be used."""


@dataclass(frozen=True)
class Place:
    """An arena, what our handlers use, and what they say."""

    arena: ArenaServer
    assembly: Assembly
    said: io.StringIO


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    said = io.StringIO()
    redirect(said)
    config = ArenaConfig(
        players=write_players(tmp_path),
        admin_password=ADMIN_PASSWORD,
        poll_timeout=timedelta(seconds=0.1),
    )
    with ArenaServer(config) as arena:
        variables = {**ours(arena.url), **embedded_in(tmp_path / "matches.db").settings}
        with assembled({**variables, **QUICK}) as assembly:
            yield Place(arena, assembly, said)


def samples(function: str) -> list[str]:
    """The names of a function's sample events."""
    found = [path.stem for path in sorted(EVENTS.glob(f"{function}_*.json"))]
    assert found, f"{function} has no sample event"
    return found


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("sample", samples("worker"))
def test_the_worker_answers_every_sample_event(sample: str) -> None:
    """The arena knows none of the samples' matches; that is an end, and no failure."""
    event = json.loads((EVENTS / f"{sample}.json").read_text())
    answer = worker.app.handler(event, context())
    failed = [record["messageId"] for record in event["Records"]][: FAILING.get(sample, 0)]
    assert answer == {"batchItemFailures": [{"itemIdentifier": name} for name in failed]}


@pytest.mark.parametrize("sample", samples("poller"))
def test_the_poller_answers_every_sample_event(place: Place, sample: str) -> None:
    event = json.loads((EVENTS / f"{sample}.json").read_text())
    match_id = place.arena.create_match([ALICE, ALICE])
    assert poller.app.handler(event, context(1.2)) == {"offered": 1}
    sent = place.assembly.queue.receive(timedelta(0))
    assert sent is not None
    assert sent.body == message(match_id)


def test_a_strategy_that_does_not_exist_stops_worker_poller_and_practice(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an error of the invocation, which Lambda counts and an alarm watches."""
    monkeypatch.setenv("CARDSHARP_STRATEGY", "captian")
    match_id = place.arena.create_match([ALICE, ALICE])
    place.assembly.queue.send(message(match_id))
    held = place.assembly.queue.receive(timedelta(0))
    assert held is not None
    wrong = pytest.raises(ConfigError, match="No strategy is called 'captian'")
    with wrong:
        worker.app.handler(sqs_event([held], datetime.now(UTC)), context())
    with wrong:
        poller.app.handler({}, context(1.2))
    with wrong:
        practice.app.handler({"matches": 0}, context())
    assert f'"match_id":"{match_id}"' in place.said.getvalue()


def test_a_strategy_that_was_set_and_does_not_exist_is_an_error_and_another_plays(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looks through what is set when a build without it is deployed."""
    monkeypatch.setattr(NoSwitchboard, "read", lambda _board: Switches(strategy="captian"))
    with pytest.raises(ConfigError, match="No strategy is called 'captian'"):
        practice.app.handler({"matches": 0}, context())
    match_id = place.arena.create_match([ALICE, ALICE])
    assert worker.app.handler(event_of(message(match_id)), context()) == {"batchItemFailures": []}
    assert played_by(place, match_id) == {"draw-3"}
    (told,) = [one for one in map(json.loads, place.said.getvalue().splitlines()) if is_error(one)]
    assert told["message"].startswith("No strategy is called 'captian'")


def played_by(place: Place, match_id: str) -> set[object]:
    """The strategies that decided in a match."""
    moves = place.assembly.log.moves(match_id)
    return {move.intent["strategy"] for move in moves if move.intent is not None}


def is_error(line: dict[str, object]) -> bool:
    return line.get("level") == "ERROR"


def test_a_message_that_failed_is_seen_again_within_a_minute(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDSHARP_STRATEGY", "captian")
    clock = FakeClock()
    queue = MemoryQueue(clock)
    register(os.environ["CARDSHARP_QUEUE"].removeprefix("memory:"), queue)
    queue.send(message(place.arena.create_match([ALICE, ALICE])))
    held = queue.receive(timedelta(0))
    assert held is not None
    with suppress(ConfigError):
        worker.app.handler(sqs_event([held], datetime.now(UTC)), context())
    clock.advance(timedelta(seconds=29))
    assert queue.receive(timedelta(0)) is None
    clock.advance(timedelta(seconds=31))
    again = queue.receive(timedelta(0))
    assert again is not None
    assert again.receive_count == 2


def test_a_look_that_is_due_puts_the_match_that_waits_on_the_queue(place: Place) -> None:
    match_id = place.arena.create_match([ALICE, ALICE])
    before = place.said.tell()
    assert worker.app.handler(event_of(LookMessage(look=0).body), context()) == {
        "batchItemFailures": []
    }
    sent = place.assembly.queue.receive(timedelta(0))
    assert sent is not None
    assert parse_message(sent.body).match_id == match_id
    assert "_aws" not in place.said.getvalue()[before:], "its figures would be paid for"


def test_a_look_that_fails_is_not_repeated(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise StoreError("The table is throttled.")

    monkeypatch.setattr(Scout, "look", fail)
    answer = worker.app.handler(event_of(LookMessage(look=0).body), context())
    assert answer == {"batchItemFailures": []}
    assert "a look failed: The table is throttled." in place.said.getvalue()
