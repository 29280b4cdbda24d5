"""Settings, logs and metrics: parsed once, structured, bounded, complete, without secrets."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import stamina
from stamina.instrumentation import get_on_retry_hooks, set_on_retry_hooks
from support.blef_service import capture_log
from support.ports import unused_port
from support.store_fixtures import run_concurrently

from cardsharp.aws import telemetry
from cardsharp.aws.ssm_credentials import credentials_redacted_in_logs
from cardsharp.aws.telemetry import CloudWatchMetrics, install_retry_counter, logger
from cardsharp.bot.settings import WorkerSettings, _warn_about_retired_setting
from cardsharp.client.config import RequestLimits, ServiceAddress
from cardsharp.core.credentials import Credentials
from cardsharp.core.metrics import ALARM_METRICS, MetricName
from cardsharp.core.redaction import REDACTED, redact, register_secrets
from cardsharp.errors import ConfigError, Unreachable
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.settings import ArenaBotSettings
from cardsharp_tools.games.deadmansdraw.bot_runner import bot_slot_acquirer
from cardsharp_tools.local_play import handler_environment
from cardsharp_tools.local_play.handler_environment import LogFile, redirect_telemetry
from cardsharp_tools.local_server.log_filter import LOG_REPEAT_SECONDS, RepeatFilter

CANARY = 'can"ary-☃-81b2'


@pytest.fixture
def log_stream() -> Iterator[io.StringIO]:
    with capture_log() as stream:
        yield stream


def test_a_secret_appears_in_no_part_of_a_log_line(log_stream: io.StringIO) -> None:
    """No secret, part of it or basic token is logged, also by the library's loggers."""
    credentials_redacted_in_logs("6364", CANARY)
    logger.info("password %s", CANARY, extra={"nested": {"deep": [CANARY]}})
    try:
        int(CANARY)
    except ValueError:
        logger.exception("failed")
    log_text = log_stream.getvalue()
    for secret_form in (CANARY, json.dumps(CANARY)[1:-1], "ary-"):
        assert secret_form not in log_text
    assert log_text.count(REDACTED) >= 4
    assert [json.loads(line)["message"] for line in log_text.splitlines()] == [
        f"password {REDACTED}",
        "failed",
    ]
    register_secrets("abcd", "abcdefgh")
    assert redact("x abcdefgh abcd y") == f"x {REDACTED} {REDACTED} y"
    credentials_redacted_in_logs("user-1", "sesame-55")
    logger.warning("sent Authorization: Basic dXNlci0xOnNlc2FtZS01NQ==")
    logging.getLogger("cardsharp.scout").warning("got %s", "sesame-55", extra={"match_id": "m"})
    assert "dXNlci0xOnNlc2FtZS01NQ" not in log_stream.getvalue()
    *_, line = metric_lines(log_stream)
    assert (line["message"], line["match_id"]) == (f"got {REDACTED}", "m")


def metric_lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_metrics_without_an_alarm_are_logged_but_not_emitted() -> None:
    meter = CloudWatchMetrics(emitted=ALARM_METRICS)
    meter.stream = io.StringIO()
    meter.count(MetricName.POLLS)
    meter.count(MetricName.MATCHES_WON)
    meter.flush()
    meter.count(MetricName.ARENA_ERRORS, status="429")
    meter.flush()
    mixed_line, error_line = metric_lines(meter.stream)
    assert mixed_line["MatchesWon"] == [1.0]
    (metric_directive,) = mixed_line["_aws"]["CloudWatchMetrics"]
    assert [metric["Name"] for metric in metric_directive["Metrics"]] == ["SuccessfulPolls"]
    assert (error_line["ArenaErrors"], error_line["status"]) == ([1.0], "429")
    assert "_aws" not in error_line


def test_no_count_of_parallel_threads_is_lost() -> None:
    meter = CloudWatchMetrics()
    meter.stream = stream = io.StringIO()

    def count_actions(_me: int) -> None:
        for _ in range(101):
            meter.count(MetricName.ACTIONS)

    run_concurrently(8, count_actions)
    meter.flush()
    values = [line["Actions"] for line in metric_lines(stream)]
    assert sum(len(value) for value in values) == 808
    assert max(len(value) for value in values) <= 100, "more would be refused"


def test_a_retry_is_counted_and_logged_without_call_arguments(
    log_stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter = CloudWatchMetrics()
    meter.stream = log_stream
    monkeypatch.setattr(telemetry, "metrics_recorder", meter)
    previous_hooks, failures = get_on_retry_hooks(), iter([OSError("reset")])
    install_retry_counter()
    try:

        @stamina.retry(on=OSError, attempts=2, wait_initial=0)
        def flaky(_secret: str) -> str:
            for failure in failures:
                raise failure
            return "done"

        assert flaky("hush-hush") == "done"
    finally:
        set_on_retry_hooks(previous_hooks)
    meter.flush()
    retry_line, metric_line = metric_lines(log_stream)
    assert retry_line["message"] == "Trying again"
    assert retry_line["cause"] == "OSError('reset')"
    assert metric_line["Retries"] == [1.0]
    assert "hush-hush" not in log_stream.getvalue()


@pytest.mark.parametrize("is_function", [True, False])
def test_a_retry_names_the_request_and_the_cause(
    log_stream: io.StringIO, tmp_path: Path, *, is_function: bool
) -> None:
    """The retry is in the log of a function, and in the file of a command (contest.log)."""
    previous_hooks = get_on_retry_hooks()
    if is_function:
        install_retry_counter()
    else:
        set_on_retry_hooks(None)
    address = f"http://127.0.0.1:{unused_port()}"
    limits = RequestLimits(max_attempts=2, backoff=timedelta(0))
    try:
        with (
            nullcontext() if is_function else redirect_telemetry(tmp_path / "contest.log"),
            ArenaClient(address, Credentials("user", "secret-word"), limits) as client,
            pytest.raises(Unreachable),
        ):
            client.get_match("5e8f")
    finally:
        set_on_retry_hooks(previous_hooks)
    log = log_stream.getvalue() if is_function else (tmp_path / "contest.log").read_text()
    (line,) = [line for line in log.splitlines() if "etry" in line]
    assert line.count("GET /api/matches/5e8f") == 2, "as the call, and in the cause"
    assert "Unreachable" in line
    assert "secret-word" not in log


PASSWORD = "canary-7f3a"
VALID_ENVIRONMENT = {
    "CARDSHARP_ARENA_URL": "https://arena.example/",
    "CARDSHARP_USER": "6364",
    "CARDSHARP_PASSWORD": PASSWORD,
}


def settings_errors(changes: dict[str, str], missing_variable: str = "") -> list[str]:
    environment = {
        key: value
        for key, value in {**VALID_ENVIRONMENT, **changes}.items()
        if key != missing_variable
    }
    with pytest.raises(ConfigError) as error_info:
        ArenaBotSettings.load(environment)
    assert PASSWORD not in str(error_info.value)
    return str(error_info.value).splitlines()


def test_half_of_the_action_timeout_is_reserved_for_the_response() -> None:
    """Connecting may take at most half: an action that is sent late may arrive too late."""
    for connect, expected_seconds in (("10", 1.5), ("1", 1)):
        overrides = {"CARDSHARP_CONNECT_SECONDS": connect, "CARDSHARP_ACT_SECONDS": "3"}
        limits = ArenaBotSettings.load({**VALID_ENVIRONMENT, **overrides}).request_limits
        assert (limits.connect_timeout, limits.action_timeout) == (
            timedelta(seconds=expected_seconds),
            timedelta(seconds=3),
        )


def test_all_invalid_settings_are_reported_together() -> None:
    invalid_settings = {
        "ARENA_URL": "http://arena.example",
        "LEASE_SECONDS": "soon",
        "STORE": "mongodb:x",
    }
    url_error, lease_error, *other_errors = settings_errors(
        {f"CARDSHARP_{k}": v for k, v in {**invalid_settings, "TAG": "a"}.items()}
    )
    expected = "CARDSHARP_ARENA_URL cannot be used; it must be the arena's address, https"
    assert url_error.startswith(expected)
    assert lease_error.endswith("number of seconds: how long a lease is valid unless renewed.")
    assert other_errors == [
        "CARDSHARP_STORE cannot be used; it must be sqlite:FILE or dynamodb:TABLE.",
        "CARDSHARP_TAG is no setting; did you mean CARDSHARP_TAGS?",
    ]


@pytest.mark.parametrize(
    ("url", "is_private"),
    [
        ("http://192.168.1.7:8080", True),
        ("http://[fd00::7]:8080", True),
        ("http://arena:8080", True),
        ("http://arena.lan", True),
        ("http://arena.example", False),
        ("http://8.8.8.8", False),
        ("http://192.168.1.7.evil.example", False),
    ],
)
def test_plain_http_in_a_private_network_must_be_allowed_explicitly(
    url: str, is_private: bool
) -> None:
    variables = {"CARDSHARP_ARENA_URL": url}
    assert settings_errors(variables)[0].startswith("CARDSHARP_ARENA_URL cannot be used")
    insecure_variables = {**variables, "CARDSHARP_ARENA_INSECURE": "true"}
    if is_private:
        assert ArenaBotSettings.load(
            {**VALID_ENVIRONMENT, **insecure_variables}
        ).address == ServiceAddress(url, None, allow_plain_http=True)
    else:
        assert settings_errors(insecure_variables)[0].startswith(
            "CARDSHARP_ARENA_URL cannot be used"
        )


def test_credentials_are_a_pair_or_a_secret_and_the_password_is_in_no_text() -> None:
    assert settings_errors({}, missing_variable="CARDSHARP_PASSWORD")[0].startswith(
        "The arena's credentials are"
    )
    assert settings_errors({"CARDSHARP_SECRET_ID": "s"})[0].startswith(
        "CARDSHARP_SECRET_ID excludes"
    )
    errors = settings_errors(
        {"CARDSHARP_PASSWROD": PASSWORD}, missing_variable="CARDSHARP_PASSWORD"
    )
    assert errors[0] == "CARDSHARP_PASSWROD is no setting; did you mean CARDSHARP_PASSWORD?"
    settings = ArenaBotSettings.load(VALID_ENVIRONMENT)
    assert PASSWORD not in f"{settings!r} {settings} {settings.model_dump_json()}"


INVALID_DURATIONS = ("0", "-1", "nan", "inf", "1e400", "3s", "1e300")
INVALID_TIMES = ("9:00-18:00", "18:00-09:00", "09:00-09:00", "09:00-24:01", "09:60-18:00")
INVALID_WINDOWS = ("Sat", "Sat, Sun", "Sam 09:00-18:00", "Sat 09:00-18:00; Sun 09:00-18:00")
INVALID_DAYS = ("2026-02-30 09:00-18:00", *map("Sat {}".format, INVALID_TIMES))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *product(["PACE_SECONDS"], INVALID_DURATIONS),
        *product(["WINDOWS"], [*INVALID_WINDOWS, *INVALID_DAYS]),
    ],
)
def test_an_invalid_duration_or_window_is_refused(name: str, value: str) -> None:
    assert len(settings_errors({f"CARDSHARP_{name}": value})) == 1


def is_open(windows: str, moment: str) -> bool:
    timestamp = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    settings = ArenaBotSettings.load({**VALID_ENVIRONMENT, "CARDSHARP_WINDOWS": windows})
    return any(window.is_open(timestamp) for window in settings.windows)


@pytest.mark.parametrize(
    ("windows", "open_time", "closed_time"),
    [
        ("Sun 09:00-18:00", "2026-11-22 09:00", "2026-11-22 18:00"),
        ("Sun 09:00-18:00", "2026-11-29 17:59:59", "2026-11-23 12:00"),
        ("daily 06:30-07:00", "2026-11-25 06:45", "2026-11-25 06:29"),
        ("2026-12-05 08:00-24:00", "2026-12-05 23:59:59", "2026-12-06 00:00"),
        ("Sat 20:00-24:00, Sun 00:00-02:00", "2026-11-22 01:00", "2026-11-22 03:00"),
    ],
)
def test_a_window_is_open_on_its_days(windows: str, open_time: str, closed_time: str) -> None:
    assert is_open(windows, open_time)
    assert not is_open(windows, closed_time)
    assert not is_open("", open_time)


def test_repeated_messages_are_logged_once_a_minute_with_their_count(tmp_path: Path) -> None:
    clock = [0.0]
    repeat_filter = RepeatFilter(lambda: clock[0])
    messages = []
    for second in range(0, 121, 20):
        clock[0] = float(second)
        for text in ("no handle", "no room"):
            record = logging.makeLogRecord({"levelno": logging.ERROR, "msg": text, "name": "x"})
            if repeat_filter.filter(record):
                messages.append((second, record.getMessage()))
    repeat_note = "(2 times more in the meantime)"
    assert messages == [
        (time, f"{text} {repeat_note}" if time else text)
        for time in (0, int(LOG_REPEAT_SECONDS), 2 * int(LOG_REPEAT_SECONDS))
        for text in ("no handle", "no room")
    ]
    with redirect_telemetry(tmp_path / "a.log"):
        for _ in range(1000):
            logging.getLogger("asyncio").error("socket.accept() out of system resource")
            logging.getLogger("cardsharp.games.deadmansdraw.arena.access.request_guard").error(
                "The arena's store failed"
            )
    lines = (tmp_path / "a.log").read_text().splitlines()
    assert len(lines) == 3  # of our own logger twice: for people, and as JSON


def test_a_long_log_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler_environment, "MAX_LOG_BYTES", 1000)
    with LogFile(tmp_path / "a.log") as log:
        for number in range(100):
            log.write(f"line {number:04} {'x' * 40}\n")
    files = [tmp_path / "a.log.1", tmp_path / "a.log"]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    text = "".join(file.read_text() for file in files)
    assert text.endswith("".join(f"line {n:04} {'x' * 40}\n" for n in range(80, 100)))
    assert all(file.stat().st_size <= 1000 for file in files)
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_the_newest_bot_holds_its_slot_and_other_slots_are_independent(tmp_path: Path) -> None:
    def acquire_slot(store: str, user: str = "us") -> AbstractContextManager[Callable[[], bool]]:
        settings = SimpleNamespace(store=store, arena_url="http://a", watch=timedelta(seconds=1))
        dispatcher = SimpleNamespace(watch=None)
        bot_environment: Any = SimpleNamespace(
            settings=settings, player_id=user, offering=dispatcher
        )
        return bot_slot_acquirer(bot_environment)

    store = f"sqlite:{tmp_path / 'm.db'}"
    with acquire_slot(store) as slot:
        with acquire_slot(store) as other_slot:
            assert other_slot()
            assert not slot()
            assert other_slot()
        assert slot()
    with acquire_slot(store) as slot:
        assert slot()
        for other_slot_context in (
            acquire_slot(store, "them"),
            acquire_slot(f"{store}2"),
            acquire_slot("dynamodb:table"),
        ):
            with other_slot_context as is_holder:
                assert is_holder()


def test_a_setting_that_was_retired_is_ignored_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The environment of version 0.3 may still have it."""
    _warn_about_retired_setting.cache_clear()
    for _ in range(2):
        assert WorkerSettings.load({"CARDSHARP_LISTENING": "looks"}) == WorkerSettings()
    (message,) = caplog.messages
    assert message.startswith("CARDSHARP_LISTENING is ignored: the bot always listens")
