"""Logs and metrics: structured, complete, and without secrets."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import stamina
from stamina.instrumentation import get_on_retry_hooks, set_on_retry_hooks
from support.cloud_threads import at_once

from cardsharp.cloud.metrics import ALARMED, Metric
from cardsharp.cloud.redaction import BLOT, redact, register
from cardsharp.cloud.secrets import guarded
from cardsharp.cloud.telemetry import (
    Meter,
    RedactingFormatter,
    logger,
    redirect,
    watch_retries,
)

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


def test_the_loggers_of_the_library_write_the_same_lines_without_secrets(
    lines: io.StringIO,
) -> None:
    register("sesame-99")
    logging.getLogger("cardsharp.scout").warning("got %s", "sesame-99", extra={"match_id": "m"})
    (line,) = metric_lines(lines)
    assert (line["message"], line["match_id"]) == (f"got {BLOT}", "m")


def test_the_basic_token_is_redacted_too(lines: io.StringIO) -> None:
    guarded("user-1", "sesame-55")
    logger.warning("sent Authorization: Basic dXNlci0xOnNlc2FtZS01NQ==")
    assert "dXNlci0xOnNlc2FtZS01NQ" not in lines.getvalue()


def test_redacting_leaves_what_was_logged_as_it_is() -> None:
    register("sesame-77")
    body = {"password": "sesame-77"}
    record = logging.LogRecord("x", logging.INFO, "f", 1, "sent %s", (body,), None)
    assert "sesame-77" not in RedactingFormatter().format(record)
    assert body == {"password": "sesame-77"}
    assert record.getMessage() == "sent {'password': 'sesame-77'}"


def test_a_secret_within_a_longer_secret_leaves_nothing_of_either() -> None:
    register("abcd", "abcdefgh")
    assert redact("x abcdefgh abcd y") == f"x {BLOT} {BLOT} y"


def test_a_word_too_short_to_be_a_secret_stays_readable() -> None:
    register("the", "")
    assert redact("the end") == "the end"


def test_the_password_is_in_no_text_of_the_credentials() -> None:
    assert CANARY not in f"{guarded('6364', CANARY)!r} {guarded('6364', CANARY)}"


def metric_lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_metrics_of_an_invocation_are_one_line_that_cloudwatch_reads() -> None:
    meter = Meter()
    meter.stream = io.StringIO()
    meter.count(Metric.MATCHES_WON)
    meter.time(Metric.DECISION, timedelta(seconds=1.5))
    meter.time(Metric.DECISION, timedelta(milliseconds=20))
    assert metric_lines(meter.stream) == []
    meter.flush()
    meter.flush()
    (line,) = metric_lines(meter.stream)
    assert line["MatchesWon"] == [1.0]
    assert line["DecisionTime"] == [1500.0, 20.0]
    (described,) = line["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == "Cardsharp"
    assert {"Name": "DecisionTime", "Unit": "Milliseconds"} in described["Metrics"]


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


def test_a_metric_with_a_dimension_is_a_line_of_its_own() -> None:
    meter = Meter()
    meter.stream = io.StringIO()
    meter.count(Metric.ARENA_ERRORS, status="429")
    meter.count(Metric.MATCHES_TIED)
    meter.flush()
    errors, ties = metric_lines(meter.stream)
    assert (errors["ArenaErrors"], errors["status"]) == ([1.0], "429")
    assert "status" not in ties


def test_metrics_of_the_same_dimensions_share_a_line() -> None:
    """A poller counts the running matches of each game twice a second."""
    meter = Meter()
    meter.stream = io.StringIO()
    for running in (2, 3):
        meter.count(Metric.RUNNING, running)
        meter.count(Metric.RUNNING, running - 1, game="blef")
    meter.flush()
    whole, blef = metric_lines(meter.stream)
    assert (whole["RunningMatches"], blef["RunningMatches"]) == ([2.0, 3.0], [1.0, 2.0])
    assert blef["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["game", "service"]]


def test_each_line_says_of_which_invocation_it_is_whether_it_began_cold_and_of_which_build() -> (
    None
):
    """In a fresh process, whose first invocation alone is cold, and of a stack of any name.

    The name is read when the module is, so what loggers and meter go by is seen here only.
    """
    program = (
        "import cardsharp.cloud.telemetry as t, logging;"
        "from cardsharp.cloud.metrics import Metric;"
        "t.begin('one'); logging.getLogger('cardsharp.bot').warning('x');"
        "t.begin('two'); t.logger.info('y'); t.meter.count(Metric.POLLS); t.meter.flush()"
    )
    told = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program],
        env={**os.environ, "BUILD": "0123abc", "POWERTOOLS_SERVICE_NAME": "some-stack"},
        capture_output=True,
        text=True,
        check=True,
    )
    *lines, metric = [json.loads(line) for line in told.stdout.splitlines()]
    assert [one["message"] for one in lines] == ["x", "y"]
    assert metric["service"] == "some-stack"
    assert [(one["request_id"], one["cold_start"]) for one in lines] == [
        ("one", True),
        ("two", False),
    ]
    assert {one["build"] for one in lines} == {"0123abc"}


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


def test_a_retry_is_counted_and_told_without_the_arguments_of_the_call(
    lines: io.StringIO,
) -> None:
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
