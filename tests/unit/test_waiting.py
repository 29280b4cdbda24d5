"""No test fails because the machine does other things: its limits only end what hangs."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support.waiting import HANG_SECONDS

ROOT = Path(__file__).parents[2]
TIMEOUT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]

WAITS = {"wait", "join", "result", "exception", "acquire", "communicate", "wait_for", "until"}
"""What has a number of seconds as its last argument."""

OF_A_MATCH = {"ContestSettings", "create_match"}
"""Whose `timeout` is the limit of a turn, which is a rule of the game."""

SLEEP = 1
"""Who waits for less wants to sleep for a moment."""


def sources() -> list[str]:
    folders = (ROOT / "tests", ROOT / "cardsharp_tools/research/tests")
    files = (file for folder in folders for file in folder.rglob("*.py"))
    return sorted(str(file.relative_to(ROOT)) for file in files if "samples" not in file.parts)


def seconds(node: ast.expr) -> float | None:
    """A number that is written out."""
    is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return float(node.value) if is_number else None  # type: ignore[attr-defined]


def limits(call: ast.Call) -> Iterator[float]:
    """Yield the limits on the clock that a call is given as numbers."""
    name = ast.unparse(call.func).rpartition(".")[2]
    if name in OF_A_MATCH:
        return
    given = [one.value for one in call.keywords if one.arg in {"timeout", "open_timeout"}]
    given += call.args[-1:] if name in WAITS else []
    yield from (number for one in given if (number := seconds(one)) is not None)


def hurries(code: str) -> list[str]:
    """Return the calls in some code that fail on a busy machine, each with its line."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call):
            continue
        text, least = f"line {node.lineno}: {ast.unparse(node):.60}", SLEEP
        most = HANG_SECONDS
        if ast.unparse(node.func).endswith("mark.timeout"):
            found += [text] * ((seconds(node.args[0]) or 0) <= TIMEOUT["timeout"])
        elif any(least <= limit < most for limit in limits(node)):
            found.append(text)
    return found


@pytest.mark.parametrize("name", sources())
def test_no_test_has_a_limit_of_its_own_on_the_clock(name: str) -> None:
    """`support.waiting` says how to wait, and `hang_monitor.Usage` counts processor time."""
    assert hurries((ROOT / name).read_text(encoding="utf-8")) == []


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
def test_a_limit_is_caught(line: str) -> None:
    assert hurries(line) == [f"line 1: {line}"]


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
def test_what_takes_as_long_as_it_takes_is_no_limit(line: str) -> None:
    assert hurries(line) == []


def test_pytest_ends_later_than_those_who_know_what_they_wait_for() -> None:
    assert TIMEOUT["timeout"] > HANG_SECONDS


def test_no_property_has_a_limit_on_the_clock() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


def test_what_holds_seconds_of_a_real_clock_is_run_by_itself_alone() -> None:
    for name in sources():
        for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
            marks = {ast.unparse(one) for one in getattr(node, "decorator_list", ())}
            assert "pytest.mark.timed" not in marks or "pytest.mark.slow" in marks, name
