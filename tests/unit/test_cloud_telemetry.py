"""Logs and metrics: structured, complete, and without secrets."""

import io
import json
import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import stamina
from stamina.instrumentation import get_on_retry_hooks, set_on_retry_hooks
from support.cloud_threads import at_once

from cardsharp.cloud.metrics import ALARMED, Metric
from cardsharp.cloud.redaction import BLOT, redact, register
from cardsharp.cloud.secrets import guarded
from cardsharp.cloud.telemetry import Meter, logger, redirect, watch_retries

CANARY = 'can"ary-☃-81b2'


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """Return what the logger and the meter write."""
    handlers = {handler: handler.stream for handler in logger.handlers}  # type: ignore[attr-defined]
    stream = io.StringIO()
    redirect(stream)
    yield stream
    for handler, before in handlers.items():
        handler.setStream(before)  # type: ignore[attr-defined]


def test_a_secret_appears_in_no_part_of_a_log_line(lines: io.StringIO) -> None:
    """Nor does one within a longer one, or its basic token."""
    guarded("6364", CANARY)
    logger.info("password %s", CANARY, extra={"nested": {"deep": [CANARY]}})
    try:
        int(CANARY)
    except ValueError:
        logger.exception("failed")
    written = lines.getvalue()
    for form in (CANARY, json.dumps(CANARY)[1:-1], "ary-"):
        assert form not in written
    assert written.count(BLOT) >= 4
    assert [json.loads(line)["message"] for line in written.splitlines()] == [
        f"password {BLOT}",
        "failed",
    ]
    register("abcd", "abcdefgh")
    assert redact("x abcdefgh abcd y") == f"x {BLOT} {BLOT} y"
    guarded("user-1", "sesame-55")
    logger.warning("sent Authorization: Basic dXNlci0xOnNlc2FtZS01NQ==")
    assert "dXNlci0xOnNlc2FtZS01NQ" not in lines.getvalue()


def test_loggers_of_the_library_write_the_same_lines_without_secrets(lines: io.StringIO) -> None:
    register("sesame-99")
    logging.getLogger("cardsharp.scout").warning("got %s", "sesame-99", extra={"match_id": "m"})
    (line,) = metric_lines(lines)
    assert (line["message"], line["match_id"]) == (f"got {BLOT}", "m")


def metric_lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_what_no_alarm_watches_is_logged_without_becoming_a_metric() -> None:
    meter = Meter(kept=ALARMED)
    meter.stream = io.StringIO()
    meter.count(Metric.POLLS)
    meter.count(Metric.MATCHES_WON)
    meter.flush()
    meter.count(Metric.ARENA_ERRORS, status="429")
    meter.flush()
    mixed, error = metric_lines(meter.stream)
    assert mixed["MatchesWon"] == [1.0]
    (described,) = mixed["_aws"]["CloudWatchMetrics"]
    assert [one["Name"] for one in described["Metrics"]] == ["SuccessfulPolls"]
    assert (error["ArenaErrors"], error["status"]) == ([1.0], "429")
    assert "_aws" not in error


def test_no_count_of_parallel_threads_is_lost() -> None:
    meter = Meter()
    meter.stream = stream = io.StringIO()

    def play(_me: int) -> None:
        for _ in range(101):
            meter.count(Metric.ACTIONS)

    at_once(8, play)
    meter.flush()
    values = [line["Actions"] for line in metric_lines(stream)]
    assert sum(len(value) for value in values) == 808
    assert max(len(value) for value in values) <= 100, "more would be refused"


def test_a_retry_is_counted_and_told_without_the_arguments_of_the_call(lines: io.StringIO) -> None:
    from cardsharp.cloud.telemetry import meter  # noqa: PLC0415 - the one that retries count in

    before = get_on_retry_hooks()
    meter.flush()  # what other tests of this process have left
    lines.seek(0)
    lines.truncate()
    watch_retries()
    try:
        state = SimpleNamespace(calls=0)

        @stamina.retry(on=OSError, attempts=2, wait_initial=0)
        def flaky(_secret: str) -> str:
            state.calls += 1
            if state.calls == 1:
                raise OSError("reset")
            return "done"

        assert flaky("hush-hush") == "done"
    finally:
        set_on_retry_hooks(before)
    meter.flush()
    told, counted = metric_lines(lines)
    assert told["message"] == "Trying again"
    assert told["cause"] == "OSError('reset')"
    assert counted["Retries"] == [1.0]
    assert "hush-hush" not in lines.getvalue()
