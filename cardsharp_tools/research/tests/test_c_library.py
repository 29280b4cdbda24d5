"""Tests of the C compilation, and of compiled environments against those in plain Python."""

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cardsharp.errors import ConfigError
from cardsharp_tools.environments.vector_env import CardVectorEnv
from cardsharp_tools.executors.strategy_reference import BuiltIn, parse_strategy
from cardsharp_tools.research import c_library, native_engines
from cardsharp_tools.research.c_library import compile_library, unavailable_reason
from cardsharp_tools.research.native_engines import native_stepper
from cardsharp_tools.research.tests.decision_comparison import needs_compiler


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the folder of a small C library, and set an empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "game" / "native"
    folder.mkdir(parents=True)
    (folder / "seven.c").write_text("int seven(void) { return 7; }\n")
    return folder


@needs_compiler
def test_sources_are_compiled_once_and_anew_when_they_change(sources: Path) -> None:
    library_path = compile_library(sources)
    assert library_path is not None
    build_time = library_path.stat().st_mtime_ns
    assert ctypes.CDLL(str(library_path)).seven() == 7
    assert compile_library(sources) == library_path
    assert library_path.stat().st_mtime_ns == build_time
    (sources / "seven.c").write_text("int seven(void) { return 8; }\n")
    assert compile_library(sources) not in {library_path, None}


@needs_compiler
def test_compiler_wait_and_failure_are_reported(
    sources: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(c_library, "SLOW_COMPILE_SECONDS", 0)
    compile_library(sources)
    assert capfd.readouterr().err == "cardsharp: compiling game once, some 10 s ...\n"
    (sources / "seven.c").write_text("int seven(void) { return\n")
    with pytest.raises(ConfigError, match="CARDSHARP_NATIVE=0 plays in plain Python"):
        compile_library(sources)
    monkeypatch.setenv("XDG_CACHE_HOME", str(sources / "seven.c"))
    with pytest.raises(ConfigError, match="set XDG_CACHE_HOME"):
        compile_library(sources)


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [("PATH", "/nonexistent", "no C compiler"), ("CARDSHARP_NATIVE", "0", "CARDSHARP_NATIVE=0")],
)
def test_reason_is_reported_without_compiled_code(
    sources: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, reason: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert compile_library(sources) is None
    assert reason in str(unavailable_reason())


STEPS, LANE_COUNT = 500, 5


@needs_compiler
@pytest.mark.parametrize(
    ("game", "seats", "opponents"),
    [
        *((*game, {}) for game in (("deadmansdraw", 2), ("blef", 2), ("blef", 5), ("blef", 8))),
        ("euchre", 4, {}),
        *(("deadmansdraw", 2, {0: name}) for name in ("draw-3", "rule", "third", "champion-2")),
        *(("deadmansdraw", 2, {1: name}) for name in ("draw-2", "example-node", "example-java")),
    ],
)
def test_compiled_lanes_equal_plain_python_lanes(
    game: str, seats: int, opponents: dict[int, str]
) -> None:
    """Observations, masks, active seats, rewards and ends are equal to the bit.

    Each pair of environments takes 2,500 random actions.
    """
    references = {seat: parse_strategy(name) for seat, name in opponents.items()}
    assert native_stepper(game, LANE_COUNT, seats, references) is not None
    end_count = 0
    engine_traces = (
        _play_random_actions(
            CardVectorEnv(LANE_COUNT, game, seats, pure_python=plain, opponents=opponents)
        )
        for plain in (True, False)
    )
    for plain, compiled in zip(*engine_traces, strict=True):
        for expected, actual in zip(plain, compiled, strict=True):
            np.testing.assert_array_equal(expected, actual)
        end_count += int(plain[-1].sum())
    assert end_count > LANE_COUNT


@needs_compiler
def test_fallback_to_plain_lanes_is_reported_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    native_engines._warn_no_native_player.cache_clear()
    for _ in range(2):
        assert native_stepper("deadmansdraw", 2, 2, {1: BuiltIn("random")}) is None
        assert native_stepper("blef", 2, 2, {1: BuiltIn("greedy")}) is None
    message = "No compiled player is {}; plain Python steps its lanes, slower."
    err = capfd.readouterr().err
    assert [err.count(message.format(name)) for name in ("random", "greedy")] == [1, 1]


def _play_random_actions(env: CardVectorEnv) -> Iterator[list[NDArray[Any]]]:
    rng = np.random.default_rng(3)
    observation, infos = env.reset(seed=9)
    yield [*observation.values(), infos["to_act"], np.zeros(1)]
    for _ in range(STEPS):
        mask = observation["action_mask"]
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        observation, rewards, terminations, _, infos = env.step(actions)
        yield [*observation.values(), infos["to_act"], rewards, terminations]
