"""Tests of the poller, worker and practice handlers, with every sample event.

R10: an invalid message gets a clear error, and the valid messages beside it are played.
"""

import io
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fault_simulation.checker import intent_differences, log_differences
from support.arena_server import ALICE, BOB, DUMMY, OUTSIDER, PASSWORDS, running_arena
from support.lambda_events import (
    EVENTS,
    alice_settings,
    invocation_context,
    match_event,
    match_message_body,
)
from support.store_fixtures import FakeClock, receive_message
from support.waiting import HANG_SECONDS

import poller.app
import practice.app
import worker.app
from cardsharp.aws.telemetry import redirect_logs_and_metrics
from cardsharp.bot.control.runtime_settings import RuntimeSettings, RuntimeSettingsStore
from cardsharp.bot.queueing.memory_queue import MAX_RECEIVES, MemoryQueue, register_queue
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError, InvalidInput
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import ArenaBotDependencies
from cardsharp.store.match_log import MatchStatus
from cardsharp_tools.local_cloud.lambda_events import InvocationResult, sqs_event
from cardsharp_tools.local_cloud.lambda_scheduler import LambdaSchedulerOptions
from cardsharp_tools.local_play.bot_runtime import (
    MatchFollower,
    in_process_backend_settings,
    open_bot_dependencies,
    run_poller_and_workers,
)
from cardsharp_tools.local_server.arena_server import ArenaServer

FAST_SETTINGS = {
    "CARDSHARP_DENIAL_SECONDS": "0.1",
    "CARDSHARP_READ_SECONDS": "1",
    "CARDSHARP_STRATEGY": "draw-3",
}
NO_FAILURES: dict[str, list[object]] = {"batchItemFailures": []}


@dataclass(frozen=True)
class BotEnvironment:
    """An arena, the bot's dependencies, and its log, which never contains the password."""

    arena: ArenaServer
    dependencies: ArenaBotDependencies
    log_output: io.StringIO


@contextmanager
def open_bot_environment(
    folder: Path, *, slow_down: bool = False, **settings: str
) -> Iterator[BotEnvironment]:
    log_output = io.StringIO()
    redirect_logs_and_metrics(log_output)
    wait = timedelta(seconds=0.1)
    with running_arena(folder, long_poll_timeout=wait, throttle=slow_down) as (arena, _):
        variables = {
            **alice_settings(arena.url),
            **in_process_backend_settings(folder / "matches.db"),
            **settings,
        }
        with open_bot_dependencies(variables) as dependencies:
            yield BotEnvironment(arena, dependencies, log_output)
    assert PASSWORDS[ALICE] not in log_output.getvalue()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[BotEnvironment]:
    with open_bot_environment(tmp_path, **FAST_SETTINGS) as opened_place:
        yield opened_place


def sample_event_names(function: str) -> list[str]:
    """Return the names of a function's sample events."""
    names = [path.stem for path in sorted(EVENTS.glob(f"{function}_*.json"))]
    assert names, f"{function} has no sample event"
    return names


def test_worker_and_poller_answer_every_sample_event(place: BotEnvironment) -> None:
    """The worker closes a match that the arena does not know without reporting a failure."""
    for sample in sample_event_names("worker"):
        event = json.loads((EVENTS / f"{sample}.json").read_text())
        response = worker.app.handler(event, invocation_context())
        failed_ids = [record["messageId"] for record in event["Records"]][
            : sample == "worker_poison"
        ]
        assert response == {"batchItemFailures": [{"itemIdentifier": name} for name in failed_ids]}
    for sample in sample_event_names("poller"):
        event = json.loads((EVENTS / f"{sample}.json").read_text())
        match_id = place.arena.create_match_and_get_id([ALICE, ALICE])
        assert poller.app.handler(event, invocation_context(1.2)) == {"offered": 1}
        assert receive_message(place.dependencies.queue).body == match_message_body(match_id)


def test_a_strategy_that_does_not_exist_stops_worker_poller_and_practice(
    place: BotEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each handler raises an error, which Lambda counts and an alarm watches.

    The failed message is visible again within a minute.
    """
    monkeypatch.setenv("CARDSHARP_STRATEGY", "captian")
    clock = FakeClock()
    queue = MemoryQueue(clock)
    register_queue(os.environ["CARDSHARP_QUEUE"].removeprefix("memory:"), queue)
    match_id = place.arena.create_match_and_get_id([ALICE, ALICE])
    queue.send(match_message_body(match_id))
    queue_message = receive_message(queue)
    raises_config_error = pytest.raises(ConfigError, match="No strategy is called 'captian'")
    with raises_config_error:
        worker.app.handler(sqs_event([queue_message], datetime.now(UTC)), invocation_context())
    with raises_config_error:
        poller.app.handler({}, invocation_context(1.2))
    with raises_config_error:
        practice.app.handler({"matches": 0}, invocation_context())
    assert f'"match_id":"{match_id}"' in place.log_output.getvalue()
    clock.advance(timedelta(seconds=29))
    assert queue.receive_message(timedelta(0)) is None
    clock.advance(timedelta(seconds=31))
    assert receive_message(queue).receive_count == 2


def test_an_unknown_strategy_setting_is_logged_and_the_default_strategy_plays(
    place: BotEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored setting may name a strategy that a new build no longer has."""
    monkeypatch.setattr(
        RuntimeSettingsStore, "read", lambda _board: RuntimeSettings(strategy="captian")
    )
    with pytest.raises(ConfigError, match="No strategy is called 'captian'"):
        practice.app.handler({"matches": 0}, invocation_context())
    match_id = place.arena.create_match_and_get_id([ALICE, ALICE])
    assert (
        worker.app.handler(match_event(match_message_body(match_id)), invocation_context())
        == NO_FAILURES
    )
    moves = place.dependencies.match_log.moves(match_id)
    assert {move.intent["strategy"] for move in moves if move.intent is not None} == {"draw-3"}
    lines = map(json.loads, place.log_output.getvalue().splitlines())
    (error_message,) = [line["message"] for line in lines if line.get("level") == "ERROR"]
    assert error_message.startswith("No strategy is called 'captian'")


@pytest.mark.parametrize("body", ['{"look":7}', '{"look":7,"left":24}'])
def test_an_order_of_a_single_poll_from_version_0_3_is_dropped(
    place: BotEnvironment, body: str
) -> None:
    """Such messages may be queued during an upgrade; as dead letters they would raise an alarm."""
    place.arena.create_match_and_get_id([ALICE, ALICE])
    assert worker.app.handler(match_event(body), invocation_context()) == NO_FAILURES
    assert place.dependencies.queue.receive_message(timedelta(0)) is None


# --- practice orders ------------------------------------------------------------------------


@pytest.mark.parametrize("name", sample_event_names("practice"))
def test_a_practice_match_follows_its_order_and_is_played_on_both_sides(
    tmp_path: Path, name: str
) -> None:
    event = json.loads((EVENTS / f"{name}.json").read_text())
    with open_bot_environment(
        tmp_path, CARDSHARP_DUMMY_STRATEGY="draw-3", **FAST_SETTINGS
    ) as place:
        arena, dependencies = place.arena, place.dependencies
        match_ids = practice.app.handler(event, invocation_context())["match_ids"]
        while message := dependencies.queue.receive_message(timedelta(0)):
            worker.app.handler(match_event(message.body), invocation_context())
            dependencies.queue.delete(message)
        opponent = DUMMY if event.get("opponent") == "dummy" else ALICE
        assert len(match_ids) == event.get("matches", 1)
        for match_view in map(arena.admin_view, match_ids):
            assert log_differences(match_view, dependencies.match_log) == []
            assert intent_differences(match_view, dependencies.match_log, [ALICE, DUMMY]) == []
            assert match_view["playerids"] == [ALICE, opponent]
            params = match_view["creationParams"]
            assert params.get("tags", []) == event.get("tags", [])
            assert params.get("timeout") == event.get("timeout_seconds")
            assert params.get("drawPile") == event.get("draw_pile")
            assert params.get("banks") == event.get("banks")
            assert "seed" not in event or params["randomSeed"] == event["seed"]
        finished_records = dependencies.match_log.matches(status=MatchStatus.FINISHED)
    assert {record.outcome["result"] for record in finished_records if record.outcome} == {
        "both seats"
    }


def test_the_request_limit_bounds_the_created_matches(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A limit of 100 requests a minute is enough for six matches with turns of 7 s."""
    event = {"matches": 8, "timeout_seconds": 7}
    with open_bot_environment(tmp_path, slow_down=True):
        limited_ids = practice.app.handler(event, invocation_context())["match_ids"]
        unlimited_ids = practice.app.handler({"matches": 8}, invocation_context())["match_ids"]
    assert [len(limited_ids), len(unlimited_ids)] == [6, 8]
    assert "created 6 of 8 matches: the limit of requests feeds 6 at once" in caplog.text


# --- R10: what is no good -------------------------------------------------------------------


def test_a_wrong_password_fails_the_message_and_leaves_the_match_alone_for_a_while(
    tmp_path: Path,
) -> None:
    with open_bot_environment(tmp_path, **FAST_SETTINGS, CARDSHARP_PASSWORD="not-alices") as place:
        match_id = place.arena.create_match_and_get_id([ALICE, BOB])
        response = worker.app.handler(
            match_event(match_message_body(match_id)), invocation_context()
        )
        record = place.dependencies.match_log.match(match_id)
        assert not place.dependencies.match_log.mark_queued(match_id, timedelta(seconds=3))
    assert response == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    log_text = place.log_output.getvalue()
    assert "check the user and the password" in log_text
    assert "not-alices" not in log_text
    (failure_line,) = (line for line in log_text.splitlines() if "a message failed" in line)
    assert json.loads(failure_line)["match_id"] == match_id
    assert record.status is MatchStatus.RUNNING


def test_an_invalid_id_and_a_foreign_match_are_not_retried_soon(place: BotEnvironment) -> None:
    """A 400 of the arena is final, so the request is not repeated."""
    foreign_match = place.arena.create_match_and_get_id([BOB, OUTSIDER])
    for match_id, failed_ids, expected_text in (
        ("abc", [], "24 hex characters"),
        (foreign_match, ["0"], "Match is visible only to participating players."),
    ):
        response = worker.app.handler(
            match_event(match_message_body(match_id)), invocation_context()
        )
        assert response == {
            "batchItemFailures": [{"itemIdentifier": item_id} for item_id in failed_ids]
        }
        assert not place.dependencies.match_log.mark_queued(match_id, timedelta(seconds=3))
        assert expected_text in place.log_output.getvalue()


@pytest.mark.usefixtures("place")
def test_an_event_of_another_shape_is_refused_in_a_sentence() -> None:
    invalid_events: list[Any] = [
        {},
        [],
        None,
        {"Records": {}},
        {"Records": [{"s3": {}}]},
        {"records": []},
    ]
    for event in invalid_events:
        with pytest.raises(InvalidInput, match="expects an SQS event"):
            worker.app.handler(event, invocation_context())


def test_r10_a_poison_message_becomes_a_dead_letter_while_other_messages_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.app, "RETRY_DELAY", timedelta(seconds=0.2))
    clock, poison, receive_counts = SystemClock(), "this is no match message", Counter[str]()
    dead_letter_queue = MemoryQueue(clock)
    register_queue("poisoned", MemoryQueue(clock, timedelta(seconds=0.2), dead_letter_queue))

    def observe(invocation: InvocationResult) -> None:
        receive_counts.update(record["body"] for record in invocation.event.get("Records", ()))

    draw_pile = [["Key", 3], ["Map", 5], ["Mermaid", 9], ["Sword", 4]]
    with open_bot_environment(
        tmp_path, **FAST_SETTINGS, CARDSHARP_QUEUE="memory:poisoned"
    ) as place:
        arena, dependencies = place.arena, place.dependencies
        matches = [
            arena.create_match_and_get_id([ALICE, ALICE], drawPile=draw_pile) for _ in range(2)
        ]
        with run_poller_and_workers(
            dependencies.dispatcher, LambdaSchedulerOptions(on_invocation=observe), arena.stop
        ):
            dependencies.queue.send(poison)
            [
                *MatchFollower(
                    dependencies.match_log, clock, timedelta(seconds=HANG_SECONDS)
                ).iter_finished(matches, 2)
            ]
            dead_letter = dead_letter_queue.receive_message(timedelta(seconds=HANG_SECONDS))
            assert [
                log_differences(arena.admin_view(match), dependencies.match_log)
                for match in matches
            ] == [[], []]
    assert dead_letter.body == poison
    assert len(dead_letter_queue) == 1
    assert receive_counts[poison] == MAX_RECEIVES
