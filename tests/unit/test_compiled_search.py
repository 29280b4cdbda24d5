"""Tests that the compiled search decides as plain Python does, on every recorded position.

What needs the library is skipped where it is not built: there is no C compiler on the machine.
`make setup` builds it.
"""

import gc
import json
import shutil
import subprocess
from copy import copy
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from weakref import WeakKeyDictionary

import pytest
from support.case_counts import case_count
from support.positions import position as make_position
from support.recordings import SAMPLE, RecordedMatches, parametrize_sample_and_all
from support.search_builds import ZIG_PYTHON, run_build_script
from support.search_comparison import SEVERAL_LIMITS, evaluate, recorded_positions

from cardsharp.games.deadmansdraw.actions import END_TURN
from cardsharp.games.deadmansdraw.history.arena_import import parse_arena_match
from cardsharp.games.deadmansdraw.history.decisions import steps_with_positions
from cardsharp.games.deadmansdraw.luck import luck_of
from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE, captain, is_standard_deck
from cardsharp.games.deadmansdraw.strategies.search import compiled_search
from cardsharp.games.deadmansdraw.strategies.search.compiled_search import (
    DISABLE_VARIABLE,
    CompiledEndgameSolver,
    build_turn_search,
    find_search_library,
)
from cardsharp.games.deadmansdraw.strategies.search.endgame import EndgameSolver, EndgameTurn
from cardsharp.games.deadmansdraw.strategies.search.turn_search import TurnSearch
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model

needs_library = pytest.mark.skipif(
    find_search_library() is None, reason="needs the compiled search, which a C compiler builds"
)


@needs_library
@parametrize_sample_and_all(pytest.mark.slow)
def test_every_recorded_position_has_the_same_decision(
    matches: RecordedMatches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check actions, values to the last bit, reasons and the number of evaluated leaves."""
    step, count = case_count(34, full=1), 0
    for number, position in enumerate(recorded_positions(matches)):
        if number % step or not is_standard_deck(position):
            continue
        limits = SEVERAL_LIMITS[count % len(SEVERAL_LIMITS) if count % 3 else 0]
        monkeypatch.setenv(DISABLE_VARIABLE, "1")
        compiled = evaluate(position, limits)
        monkeypatch.setenv(DISABLE_VARIABLE, "0")
        assert compiled == evaluate(position, limits), position
        count += 1
    assert count > 0.9 * matches.min_step_count / step


@pytest.mark.parametrize("value", ["0", "1"])
def test_a_draw_from_an_empty_pile_is_worth_what_banking_is(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match may begin with an empty pile and cards in the play area."""
    monkeypatch.setenv(DISABLE_VARIABLE, value)
    position = make_position(area="Mermaid6 Key5", discard="Anchor2 Hook2", unseen="")
    draw, stop = captain(Random(0)).decide(position).options
    assert (draw.value, stop.value, stop.action) == (1.0, 1.0, END_TURN)


@needs_library
def test_a_draw_pile_larger_than_usual_has_the_same_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """The learned tables end at 50 cards, but a match may begin with all 60."""
    for area in ("Anchor2", "Hook3 Key7", "Oracle4 Chest2 Kraken6"):
        monkeypatch.setenv(DISABLE_VARIABLE, "1")
        compiled = evaluate(make_position(area=area), SEVERAL_LIMITS[0])
        monkeypatch.setenv(DISABLE_VARIABLE, "0")
        assert compiled == evaluate(make_position(area=area), SEVERAL_LIMITS[0])


@needs_library
def test_different_positions_of_an_endgame_are_kept_apart() -> None:
    """A hash that was too weak took one position of this endgame for another."""
    turn = EndgameTurn(
        own_bank=0x18C288000088240,
        opponent_bank=0x210D6088AC44010,
        draw_pile=0xC00004024000000,
        discard_pile=0x63003751133DAF,
        play_area=0x10000200000,
    )
    library = find_search_library()
    assert library is not None
    compiled, plain = CompiledEndgameSolver(library, 150_000), EndgameSolver(150_000)
    assert compiled.value_of_drawing(turn) == plain.value_of_drawing(turn)
    assert compiled.ends == plain.ends


@needs_library
def test_a_solver_forgets_the_last_decision_and_keeps_its_memory() -> None:
    library = find_search_library()
    assert library is not None
    turn = EndgameTurn(own_bank=1, opponent_bank=1 << 10, draw_pile=7 << 41, discard_pile=1 << 6)
    addresses, results = set(), set()
    for _ in range(3):
        solver = CompiledEndgameSolver(library, 15_000)
        results.add((solver.value_of_drawing(turn), solver.ends))
        addresses.add(solver._address)
        del solver
    assert len(addresses) == len(results) == 1
    first, second = (CompiledEndgameSolver(library, 15_000) for _ in range(2))
    assert first._address != second._address


@needs_library
def test_the_luck_of_recorded_moves_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    count, step = 0, case_count(9, full=1)
    for trace in SAMPLE.random_matches(case_count(3, full=99)):
        _, moves = parse_arena_match(json.dumps(trace).encode())
        for number, (move, position, _) in enumerate(steps_with_positions(moves)):
            if number % step or position is None:
                continue
            monkeypatch.setenv(DISABLE_VARIABLE, "1")
            compiled = luck_of(position, move.past_move.events)
            monkeypatch.setenv(DISABLE_VARIABLE, "0")
            assert compiled == luck_of(position, move.past_move.events)
            count += 1
    assert count > 10


@needs_library
def test_a_search_is_freed_with_its_model() -> None:
    model = copy(load_model(WEIGHT_FILE))
    build_turn_search(model)
    count = len(compiled_search._searches)
    del model
    gc.collect()
    assert len(compiled_search._searches) == count - 1


@pytest.mark.parametrize("content", ["", "not a library", "another version", "another library"])
def test_a_library_that_cannot_be_used_is_left_out(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / compiled_search._LIBRARY_NAME
    if content.startswith("another"):
        if shutil.which("cc") is None:
            pytest.skip("needs a C compiler")
        name = "library_version" if "version" in content else "other"
        source = tmp_path / "other.c"
        source.write_text(f"int {name}(void) {{ return 99; }}\n")
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)  # noqa: S603, S607
    elif content:
        library.write_text(content)
    monkeypatch.setattr(compiled_search, "SEARCH_SOURCES", tmp_path)
    monkeypatch.setattr(
        compiled_search,
        "_load_search_library",
        compiled_search._load_search_library.__wrapped__,
    )
    assert find_search_library() is None
    assert type(build_turn_search(load_model(WEIGHT_FILE))) is TurnSearch


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_script_builds_the_library_of_this_machine_with_equal_bytes(tmp_path: Path) -> None:
    libraries = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        assert run_build_script("--into", str(folder)) == ""
        [library] = folder.iterdir()
        assert library.name == compiled_search._LIBRARY_NAME
        libraries.append(library.read_bytes())
    assert libraries[0] == libraries[1]


def test_without_a_compiler_the_script_says_so_and_succeeds(tmp_path: Path) -> None:
    output = run_build_script("--into", str(tmp_path), "aarch64", path="/nonexistent")
    assert output == "without compiled search for aarch64: there is no compiler for it\n"
    assert not list(tmp_path.iterdir())


def test_ziglang_uses_only_what_every_processor_of_the_kind_can(tmp_path: Path) -> None:
    """An image is built on one machine and runs on others."""
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import sys; from pathlib import Path; a = sys.argv; "
        "Path(a[a.index('-o') + 1]).write_text(' '.join(a[1:]))"
    )
    folder = tmp_path / "into"
    folder.mkdir()
    for processor in ([], ["aarch64"]):
        options = ("--into", str(folder), *processor)
        assert run_build_script(*options, path="/nonexistent", modules=tmp_path) == ""
    commands = [library.read_text() for library in folder.iterdir()]
    assert len(commands) == 2
    assert all(command.startswith("cc -mcpu=baseline ") for command in commands)


@pytest.mark.slow
@pytest.mark.skipif(not ZIG_PYTHON.exists(), reason="needs ziglang, which `make build` installs")
def test_the_libraries_of_both_processors_have_equal_bytes_and_this_one_decides_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cross compiler's library for this machine decides as plain Python does."""
    folders = tmp_path / "first", tmp_path / "second"
    for folder in folders:
        folder.mkdir()
        options = ("--into", str(folder), "x86_64", "aarch64")
        assert run_build_script(*options, python=ZIG_PYTHON) == ""
    names = {"search-linux-x86_64.so": 62, "search-linux-aarch64.so": 183}
    for name, machine in names.items():
        first, second = ((folder / name).read_bytes() for folder in folders)
        assert first == second
        assert first[:4] == b"\x7fELF"
        assert first[18] == machine
    if compiled_search._LIBRARY_NAME not in names:
        pytest.skip("none of the two is for this machine")
    monkeypatch.setattr(compiled_search, "SEARCH_SOURCES", folders[0])
    monkeypatch.setattr(
        compiled_search,
        "_load_search_library",
        cache(compiled_search._load_search_library.__wrapped__),
    )
    monkeypatch.setattr(compiled_search, "_searches", WeakKeyDictionary())
    monkeypatch.setattr(compiled_search, "_layers", WeakKeyDictionary())
    for position in islice(recorded_positions(SAMPLE), 60, 1500, 30):
        monkeypatch.setenv(DISABLE_VARIABLE, "1")
        compiled = evaluate(position, SEVERAL_LIMITS[0])
        monkeypatch.setenv(DISABLE_VARIABLE, "0")
        assert compiled == evaluate(position, SEVERAL_LIMITS[0])
