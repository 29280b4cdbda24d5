"""C is compiled once, where a compiler is; compiled lanes show a learner what plain ones do."""

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cardsharp.errors import ConfigError
from research import compiling, twins
from research.compiling import compile_library, why_not
from research.tests.decisions import needs_compiler
from research.twins import lanes
from workbench.env.batch import Lanes


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a small library, for a cache folder that is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "game" / "native"
    folder.mkdir(parents=True)
    (folder / "seven.c").write_text("int seven(void) { return 7; }\n")
    return folder


@needs_compiler
def test_sources_are_compiled_once_and_anew_when_they_change(sources: Path) -> None:
    first = compile_library(sources)
    assert first is not None
    made = first.stat().st_mtime_ns
    assert ctypes.CDLL(str(first)).seven() == 7
    assert compile_library(sources) == first
    assert first.stat().st_mtime_ns == made
    (sources / "seven.c").write_text("int seven(void) { return 8; }\n")
    assert compile_library(sources) not in {first, None}


@needs_compiler
def test_who_waits_for_the_compiler_is_told_and_what_is_wrong_with_what_to_do(
    sources: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiling, "PATIENCE", 0)
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
def test_where_nothing_is_compiled_a_reason_is_told(
    sources: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, reason: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert compile_library(sources) is None
    assert reason in str(why_not())


STEPS, NUMBER = 500, 5


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
def test_compiled_lanes_are_the_plain_ones(
    game: str, seats: int, opponents: dict[int, str]
) -> None:
    """2,500 random actions: observations, masks, who is to act, rewards and ends, to the bit."""
    assert lanes(game, NUMBER, seats, opponents) is not None
    ended = 0
    both = (
        _played(Lanes(NUMBER, game, seats, plain=plain, opponents=opponents))
        for plain in (True, False)
    )
    for plain, compiled in zip(*both, strict=True):
        for one, other in zip(plain, compiled, strict=True):
            np.testing.assert_array_equal(one, other)
        ended += int(plain[-1].sum())
    assert ended > NUMBER


@needs_compiler
def test_lanes_against_who_has_no_twin_are_plain_and_say_so_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    twins._say_plain.cache_clear()
    for _ in range(2):
        assert lanes("deadmansdraw", 2, 2, {1: "random"}) is None
        assert lanes("blef", 2, 2, {1: "greedy"}) is None
    told = "No compiled player is {}; plain Python steps its lanes, slower."
    err = capfd.readouterr().err
    assert [err.count(told.format(name)) for name in ("random", "greedy")] == [1, 1]


def _played(played: Lanes) -> Iterator[list[NDArray[Any]]]:
    chance = np.random.default_rng(3)
    seen, infos = played.reset(seed=9)
    yield [*seen.values(), infos["to_act"], np.zeros(1)]
    for _ in range(STEPS):
        mask = seen["action_mask"]
        actions = (chance.random(mask.shape) * mask).argmax(axis=1)
        seen, rewards, ended, _, infos = played.step(actions)
        yield [*seen.values(), infos["to_act"], rewards, ended]
