"""Tests of the compiled search as it is shipped: for the other processor, and in wheels."""

from pathlib import Path
from random import Random
from weakref import WeakKeyDictionary

import pytest
from support.case_counts import case_count
from support.emulated_search import EmulatedLibrary, build_driver, missing_package
from support.recordings import SAMPLE
from support.search_builds import ZIG_PYTHON, run_build_script
from support.search_comparison import SEVERAL_LIMITS, evaluate, recorded_positions

from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE, is_standard_deck
from cardsharp.games.deadmansdraw.strategies.search import compiled_search
from cardsharp.games.deadmansdraw.strategies.search.compiled_search import find_search_library
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model

needs_zig = pytest.mark.skipif(
    not ZIG_PYTHON.exists(), reason="needs ziglang, which `make build` installs"
)


@pytest.mark.slow
@needs_zig
@pytest.mark.skipif(
    missing_package() is not None,
    reason=f"needs an emulator of aarch64: sudo apt install {missing_package()}",
)
def test_the_library_of_aarch64_gives_the_same_values_in_an_emulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check actions, values to the last bit, and the number of evaluated leaves."""
    assert run_build_script("--into", str(tmp_path), "aarch64", python=ZIG_PYTHON) == ""
    emulated = EmulatedLibrary(
        build_driver(ZIG_PYTHON, tmp_path),
        tmp_path / "search-linux-aarch64.so",
        load_model(WEIGHT_FILE),
    )
    count = case_count(400, full=5000)
    libraries = [(find_search_library(), WeakKeyDictionary(), WeakKeyDictionary())]
    libraries.append((emulated, WeakKeyDictionary(), WeakKeyDictionary()))
    positions = list(filter(is_standard_deck, recorded_positions(SAMPLE)))
    Random(57).shuffle(positions)
    for number, position in enumerate(positions[:count]):
        limits, results = SEVERAL_LIMITS[number % len(SEVERAL_LIMITS)], []
        for library, searches, layers in libraries:
            monkeypatch.setattr(compiled_search, "find_search_library", lambda it=library: it)
            monkeypatch.setattr(compiled_search, "_searches", searches)
            monkeypatch.setattr(compiled_search, "_layers", layers)
            results.append(evaluate(position, limits))
        assert results[0] == results[1], position
    assert emulated.question_count > count
    emulated.close()
