"""Tests of the limits that captain's search gets by the processor time of a decision."""

from datetime import timedelta
from random import Random

import pytest

from cardsharp.games.deadmansdraw.arena_bot.decision_time import (
    MEMORY_VARIABLE,
    ONE_CPU_MEMORY_MB,
    cpu_seconds_for_decision,
    memory_of_this_function,
)
from cardsharp.games.deadmansdraw.strategies import CpuTimeAware, build
from cardsharp.games.deadmansdraw.strategies.captain import QUICK_CAPTAIN, Captain
from cardsharp.games.deadmansdraw.strategies.search import search_budget
from cardsharp.games.deadmansdraw.strategies.search.compiled_search import DISABLE_VARIABLE
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import SearchLimits
from cardsharp.games.deadmansdraw.strategies.search.search_budget import (
    DEEP_CPU_SECONDS,
    DEEP_LIMITS,
    DEEPEST_CPU_SECONDS,
    DEEPEST_LIMITS,
    PLAIN_LIMITS,
    limits_for,
)


@pytest.mark.parametrize(
    ("turn_seconds", "requests_left", "memory_mb", "limits"),
    [
        (None, 2, 128, DEEPEST_LIMITS),
        (30, 2, 128, DEEPEST_LIMITS),
        (7, 2, 384, DEEPEST_LIMITS),
        (5, 2, 128, PLAIN_LIMITS),
        (5, 2, 384, DEEP_LIMITS),
        (5, 2, 1769, DEEPEST_LIMITS),
        (5, 20, 384, PLAIN_LIMITS),
        (1, 2, 384, PLAIN_LIMITS),
        (1, 2, 1769, DEEP_LIMITS),
        (0.3, 2, 1769, PLAIN_LIMITS),
        (0.3, 2, 10_240, PLAIN_LIMITS),
        (0, 1, 1769, PLAIN_LIMITS),
    ],
)
def test_the_search_is_deep_if_the_turn_and_the_memory_suffice(
    turn_seconds: float | None, requests_left: int, memory_mb: int, limits: SearchLimits
) -> None:
    turn_limit = None if turn_seconds is None else timedelta(seconds=turn_seconds)
    cpu_seconds = cpu_seconds_for_decision(turn_limit, requests_left, memory_mb)
    assert limits_for(cpu_seconds, is_compiled=True) == limits
    assert limits_for(cpu_seconds, is_compiled=False) == PLAIN_LIMITS


@pytest.mark.parametrize(("text", "memory_mb"), [("384", 384), ("", ONE_CPU_MEMORY_MB)])
def test_the_memory_of_a_function_is_that_of_its_environment(
    text: str, memory_mb: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MEMORY_VARIABLE, text)
    assert memory_of_this_function() == memory_mb


@pytest.mark.parametrize("name", ["captain", "adaptive"])
def test_a_strategy_takes_its_limits_from_the_time(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_budget, "find_search_library", object)
    strategy = build(name, Random(1))
    assert isinstance(strategy, CpuTimeAware)
    assert vars(strategy)["_limits"] == DEEP_LIMITS, "as in the lab"
    for cpu_seconds, limits in (
        (None, DEEPEST_LIMITS),
        (DEEPEST_CPU_SECONDS, DEEPEST_LIMITS),
        (0.9 * DEEPEST_CPU_SECONDS, DEEP_LIMITS),
        (DEEP_CPU_SECONDS, DEEP_LIMITS),
        (0.9 * DEEP_CPU_SECONDS, PLAIN_LIMITS),
    ):
        assert vars(strategy.with_cpu_seconds(cpu_seconds))["_limits"] == limits
    assert vars(strategy)["_limits"] == DEEP_LIMITS


def test_the_quick_captain_keeps_its_limits() -> None:
    strategy = build(QUICK_CAPTAIN, Random(1))
    assert isinstance(strategy, CpuTimeAware)
    assert strategy.with_cpu_seconds(None) is strategy
    assert vars(strategy)["_limits"] == PLAIN_LIMITS


def test_without_the_library_captain_plays_with_the_limits_of_plain_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(DISABLE_VARIABLE, "0")
    strategy = build("captain", Random(1))
    assert isinstance(strategy, Captain)
    assert vars(strategy)["_limits"] == PLAIN_LIMITS
