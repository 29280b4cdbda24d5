"""Time limits in tests: they only end a hang, so that a busy machine fails no test."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support.waiting import HANG_SECONDS

ROOT = Path(__file__).parents[2]
TIMEOUT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]

WAIT_FUNCTIONS = {
    "wait",
    "join",
    "result",
    "exception",
    "acquire",
    "communicate",
    "wait_for",
    "until",
}
"""What has a number of seconds as its last argument."""

TURN_LIMIT_CALLS = {"ContestSettings", "create_match"}
"""Whose `timeout` is the limit of a turn, which is a rule of the game."""

MIN_LIMIT_SECONDS = 1
"""Who waits for less wants to sleep for a moment."""


def list_test_files() -> list[str]:
    folders = (ROOT / "tests", ROOT / "cardsharp_tools/research/tests")
    files = (file for folder in folders for file in folder.rglob("*.py"))
    return sorted(str(file.relative_to(ROOT)) for file in files if "samples" not in file.parts)


def literal_seconds(node: ast.expr) -> float | None:
    """Return the value of a numeric literal, or None."""
    is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return float(node.value) if is_number else None  # type: ignore[attr-defined]


def clock_limits(call: ast.Call) -> Iterator[float]:
    """Yield the time limits that are numeric arguments of a call."""
    name = ast.unparse(call.func).rpartition(".")[2]
    if name in TURN_LIMIT_CALLS:
        return
    limit_nodes = [
        keyword.value for keyword in call.keywords if keyword.arg in {"timeout", "open_timeout"}
    ]
    limit_nodes += call.args[-1:] if name in WAIT_FUNCTIONS else []
    yield from (number for node in limit_nodes if (number := literal_seconds(node)) is not None)


def calls_with_short_limits(code: str) -> list[str]:
    """Return the calls in some code that fail on a busy machine, each with its line."""
    return [
        f"line {node.lineno}: {ast.unparse(node):.60}"
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and has_short_limit(node)
    ]


def has_short_limit(call: ast.Call) -> bool:
    """Return True if a call, or a mark that ends a test, fails on a busy machine."""
    if ast.unparse(call.func).endswith("mark.timeout"):
        return (literal_seconds(call.args[0]) or 0) <= TIMEOUT["timeout"]
    return any(MIN_LIMIT_SECONDS <= limit < HANG_SECONDS for limit in clock_limits(call))


@pytest.mark.parametrize("name", list_test_files())
def test_no_test_has_a_private_wall_clock_limit(name: str) -> None:
    """Tests wait by `support.waiting`; `hang_monitor.BusyIdleTimeMeter` measures usage."""
    assert calls_with_short_limits((ROOT / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "requests.get(url, timeout=10)",
        "socket.create_connection(place, timeout=5.0)",
        "begun.wait(30)",
        "future.result(timeout=20)",
        "until(lambda: over, 60)",
        "process.communicate(timeout=15)",
        "pytest.mark.timeout(120)",
    ],
)
def test_a_short_limit_is_detected(line: str) -> None:
    assert calls_with_short_limits(line) == [f"line 1: {line}"]


@pytest.mark.parametrize(
    "line",
    [
        "requests.get(url, timeout=HANG_SECONDS)",
        "begun.wait()",
        "pause.wait(0.001)",
        "until(lambda: over)",
        "ContestSettings('cup', timeout=60)",
        "pytest.mark.timeout(3600)",
        "', '.join(words)",
    ],
)
def test_waits_without_a_fixed_duration_are_not_limits(line: str) -> None:
    assert calls_with_short_limits(line) == []


def test_the_pytest_timeout_exceeds_the_hang_timeout() -> None:
    assert TIMEOUT["timeout"] > HANG_SECONDS


def test_no_property_has_a_limit_on_the_clock() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


def test_timed_tests_are_marked_slow_to_run_alone() -> None:
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in list_test_files()}
    for name in (name for name, text in texts.items() if "mark.timed" in text):
        for node in ast.walk(ast.parse(texts[name])):
            marks = {ast.unparse(decorator) for decorator in getattr(node, "decorator_list", ())}
            assert "pytest.mark.timed" not in marks or "pytest.mark.slow" in marks, name
