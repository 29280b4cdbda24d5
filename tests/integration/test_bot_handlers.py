"""Poller, worker and practice function as Lambda calls them, with every sample event.

And R10: what is no good is answered clearly, and what is good beside it is played.
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
from support.lambda_events import EVENTS, alice_settings, context, match_event, message
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
    run_bot_runtime,
)
from cardsharp_tools.local_server.arena_server import ArenaServer

QUICK = {
    "CARDSHARP_DENIAL_SECONDS": "0.1",
    "CARDSHARP_READ_SECONDS": "1",
    "CARDSHARP_STRATEGY": "draw-3",
}
NONE_FAILED: dict[str, list[object]] = {"batchItemFailures": []}


@dataclass(frozen=True)
class Place:
    """An arena, what our handlers use, and what they say: in no line of it is the password."""

    arena: ArenaServer
    assembly: ArenaBotDependencies
    log_output: io.StringIO


@contextmanager
def placed(folder: Path, *, slow_down: bool = False, **settings: str) -> Iterator[Place]:
    log_output = io.StringIO()
    redirect_logs_and_metrics(log_output)
    wait = timedelta(seconds=0.1)
    with running_arena(folder, long_poll_timeout=wait, throttle=slow_down) as (arena, _):
        variables = {
            **alice_settings(arena.url),
            **in_process_backend_settings(folder / "matches.db"),
            **settings,
        }
        with open_bot_dependencies(variables) as assembly:
            yield Place(arena, assembly, log_output)
    assert PASSWORDS[ALICE] not in log_output.getvalue()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with placed(tmp_path, **QUICK) as opened_place:
        yield opened_place


def samples(function: str) -> list[str]:
    """The names of a function's sample events."""
    names = [path.stem for path in sorted(EVENTS.glob(f"{function}_*.json"))]
    assert names, f"{function} has no sample event"
    return names


def test_worker_and_poller_answer_every_sample_event(place: Place) -> None:
    """The arena knows none of the worker's matches; that is an end, and no failure."""
    for sample in samples("worker"):
        event = json.loads((EVENTS / f"{sample}.json").read_text())
        answer = worker.app.handler(event, context())
        failed = [record["messageId"] for record in event["Records"]][: sample == "worker_poison"]
        assert answer == {"batchItemFailures": [{"itemIdentifier": name} for name in failed]}
    for sample in samples("poller"):
        event = json.loads((EVENTS / f"{sample}.json").read_text())
        match_id = place.arena.create_match_and_get_id([ALICE, ALICE])
        assert poller.app.handler(event, context(1.2)) == {"offered": 1}
        assert receive_message(place.assembly.queue).body == message(match_id)


def test_a_strategy_that_does_not_exist_stops_worker_poller_and_practice(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an error of the invocation, which Lambda counts and an alarm watches.

    A message that failed is seen again within a minute.
    """
    monkeypatch.setenv("CARDSHARP_STRATEGY", "captian")
    clock = FakeClock()
    queue = MemoryQueue(clock)
    register_queue(os.environ["CARDSHARP_QUEUE"].removeprefix("memory:"), queue)
    match_id = place.arena.create_match_and_get_id([ALICE, ALICE])
    queue.send(message(match_id))
    received = receive_message(queue)
    wrong = pytest.raises(ConfigError, match="No strategy is called 'captian'")
    with wrong:
        worker.app.handler(sqs_event([received], datetime.now(UTC)), context())
    with wrong:
        poller.app.handler({}, context(1.2))
    with wrong:
        practice.app.handler({"matches": 0}, context())
    assert f'"match_id":"{match_id}"' in place.log_output.getvalue()
    clock.advance(timedelta(seconds=29))
    assert queue.receive_message(timedelta(0)) is None
    clock.advance(timedelta(seconds=31))
    assert receive_message(queue).receive_count == 2


def test_a_strategy_that_was_set_and_does_not_exist_is_an_error_and_another_plays(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looks through what is set when a build without it is deployed."""
    monkeypatch.setattr(
        RuntimeSettingsStore, "read", lambda _board: RuntimeSettings(strategy="captian")
    )
    with pytest.raises(ConfigError, match="No strategy is called 'captian'"):
        practice.app.handler({"matches": 0}, context())
    match_id = place.arena.create_match_and_get_id([ALICE, ALICE])
    assert worker.app.handler(match_event(message(match_id)), context()) == NONE_FAILED
    moves = place.assembly.match_log.moves(match_id)
    assert {move.intent["strategy"] for move in moves if move.intent is not None} == {"draw-3"}
    lines = map(json.loads, place.log_output.getvalue().splitlines())
    (error_message,) = [line["message"] for line in lines if line.get("level") == "ERROR"]
    assert error_message.startswith("No strategy is called 'captian'")


@pytest.mark.parametrize("body", ['{"look":7}', '{"look":7,"left":24}'])
def test_an_order_of_a_single_poll_from_version_0_3_is_dropped(place: Place, body: str) -> None:
    """A few are on the queue during an upgrade; as dead letters they would raise an alarm."""
    place.arena.create_match_and_get_id([ALICE, ALICE])
    assert worker.app.handler(match_event(body), context()) == NONE_FAILED
    assert place.assembly.queue.receive_message(timedelta(0)) is None


# --- practice orders ------------------------------------------------------------------------


@pytest.mark.parametrize("name", samples("practice"))
def test_an_ordered_match_is_as_ordered_and_played_on_both_sides(tmp_path: Path, name: str) -> None:
    event = json.loads((EVENTS / f"{name}.json").read_text())
    with placed(tmp_path, CARDSHARP_DUMMY_STRATEGY="draw-3", **QUICK) as place:
        arena, assembly = place.arena, place.assembly
        ids = practice.app.handler(event, context())["match_ids"]
        while message := assembly.queue.receive_message(timedelta(0)):
            worker.app.handler(match_event(message.body), context())
            assembly.queue.delete(message)
        other = DUMMY if event.get("opponent") == "dummy" else ALICE
        assert len(ids) == event.get("matches", 1)
        for match_view in map(arena.admin_view, ids):
            assert log_differences(match_view, assembly.match_log) == []
            assert intent_differences(match_view, assembly.match_log, [ALICE, DUMMY]) == []
            assert match_view["playerids"] == [ALICE, other]
            params = match_view["creationParams"]
            assert params.get("tags", []) == event.get("tags", [])
            assert params.get("timeout") == event.get("timeout_seconds")
            assert params.get("drawPile") == event.get("draw_pile")
            assert params.get("banks") == event.get("banks")
            assert "seed" not in event or params["randomSeed"] == event["seed"]
        finished = assembly.match_log.matches(status=MatchStatus.FINISHED)
    assert {record.outcome["result"] for record in finished if record.outcome} == {"both seats"}


def test_no_more_matches_are_created_than_the_limit_of_requests_feeds(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """100 requests a minute feed six matches with turns of 7 s, without a limit any number."""
    event = {"matches": 8, "timeout_seconds": 7}
    with placed(tmp_path, slow_down=True):
        first = practice.app.handler(event, context())["match_ids"]
        free = practice.app.handler({"matches": 8}, context())["match_ids"]
    assert [len(first), len(free)] == [6, 8]
    assert "created 6 of 8 matches: the limit of requests feeds 6 at once" in caplog.text


# --- R10: what is no good -------------------------------------------------------------------


def test_a_wrong_password_fails_the_message_and_leaves_the_match_alone_for_a_while(
    tmp_path: Path,
) -> None:
    with placed(tmp_path, **QUICK, CARDSHARP_PASSWORD="not-alices") as place:
        match_id = place.arena.create_match_and_get_id([ALICE, BOB])
        answer = worker.app.handler(match_event(message(match_id)), context())
        record = place.assembly.match_log.match(match_id)
        assert not place.assembly.match_log.mark_queued(match_id, timedelta(seconds=3))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    log_text = place.log_output.getvalue()
    assert "check the user and the password" in log_text
    assert "not-alices" not in log_text
    (failed,) = (line for line in log_text.splitlines() if "a message failed" in line)
    assert json.loads(failed)["match_id"] == match_id
    assert record.status is MatchStatus.RUNNING


def test_an_invalid_id_and_a_foreign_match_are_set_aside(place: Place) -> None:
    """The arena's 400 is an answer; asking again would be no use."""
    foreign_match = place.arena.create_match_and_get_id([BOB, OUTSIDER])
    for match_id, failed, expected_text in (
        ("abc", [], "24 hex characters"),
        (foreign_match, ["0"], "Match is visible only to participating players."),
    ):
        answer = worker.app.handler(match_event(message(match_id)), context())
        assert answer == {"batchItemFailures": [{"itemIdentifier": item_id} for item_id in failed]}
        assert not place.assembly.match_log.mark_queued(match_id, timedelta(seconds=3))
        assert expected_text in place.log_output.getvalue()


@pytest.mark.usefixtures("place")
def test_an_event_of_another_shape_is_refused_in_a_sentence() -> None:
    odd: list[Any] = [{}, [], None, {"Records": {}}, {"Records": [{"s3": {}}]}, {"records": []}]
    for event in odd:
        with pytest.raises(InvalidInput, match="expects an SQS event"):
            worker.app.handler(event, context())


def test_r10_a_poison_message_becomes_a_dead_letter_while_other_messages_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.app, "RETRY_DELAY", timedelta(seconds=0.2))
    clock, poison, seen = SystemClock(), "this is no match message", Counter[str]()
    dead = MemoryQueue(clock)
    register_queue("poisoned", MemoryQueue(clock, timedelta(seconds=0.2), dead))

    def observe(invocation: InvocationResult) -> None:
        seen.update(record["body"] for record in invocation.event.get("Records", ()))

    short = [["Key", 3], ["Map", 5], ["Mermaid", 9], ["Sword", 4]]
    with placed(tmp_path, **QUICK, CARDSHARP_QUEUE="memory:poisoned") as place:
        arena, assembly = place.arena, place.assembly
        matches = [arena.create_match_and_get_id([ALICE, ALICE], drawPile=short) for _ in range(2)]
        with run_bot_runtime(
            assembly.dispatcher, LambdaSchedulerOptions(on_invocation=observe), arena.stop
        ):
            assembly.queue.send(poison)
            [
                *MatchFollower(
                    assembly.match_log, clock, timedelta(seconds=HANG_SECONDS)
                ).iter_finished(matches, 2)
            ]
            letter = dead.receive_message(timedelta(seconds=HANG_SECONDS))
            assert [
                log_differences(arena.admin_view(match), assembly.match_log) for match in matches
            ] == [[], []]
    assert letter.body == poison
    assert len(dead) == 1
    assert seen[poison] == MAX_RECEIVES
