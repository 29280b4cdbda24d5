"""What a strategy returns, prints and fails of is told of itself, not of what called it."""

import sys
import threading
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.cli import written
from support.positions import position

from cardsharp.deadmansdraw.actions import DRAW
from cardsharp.deadmansdraw.fallback import decide
from cardsharp.deadmansdraw.strategies import Decision, Option, Strategy, build
from cardsharp.deciding import Decided
from cardsharp.errors import ConfigError
from cardsharp.trying import MOST_PRINTED, tried
from workbench import strategy_file
from workbench.strategy_file import strategy_named


class Answers:
    """A strategy that gives one answer."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def decide(self, _position: object) -> Decision:
        return self.answer  # type: ignore[return-value]  # that is what is tried


def decided(strategy: Strategy, limit: timedelta = timedelta(seconds=10)) -> Decided[Decision]:
    return decide(strategy, position(), limit, lambda: 0.0)


def test_a_package_beside_it_is_imported_once_by_all_its_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled code cannot be imported twice; and what is missing is told with what to type.

    So it is in a process that hosts several files, as a worker of the lab.
    """
    monkeypatch.setattr(strategy_file, "_listeners", [lambda _file: None])
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "seldom.py").write_text("import itertools\nIDS = itertools.count()\n")
    reasons = []
    for name in ("package-old", "package-new"):
        file = written(tmp_path, name, "raise ValueError(next(IDS))", "from seldom import IDS")
        reasons.append(decided(build(strategy_named(file), Random(0))).decision.reason)
    assert "ValueError: 0 " in reasons[0]
    assert "ValueError: 1 " in reasons[1]
    lacks = written(tmp_path, "lacks", "pass", "import nosuchpackage")
    with pytest.raises(ConfigError, match=f"install --target {tmp_path}/packages nosuchpackage"):
        strategy_named(lacks)


def test_where_there_is_no_pip_the_line_to_type_is_for_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    said = strategy_file._remedy(ModuleNotFoundError(name="numpy.linalg"), Path("/its/mine.py"))
    assert said.endswith(f"uv pip install --python {sys.executable} --target /its/packages numpy")


def test_an_error_in_a_module_beside_it_is_traced_through_both(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def best(position):\n    return position.nosuch\n")
    file = written(tmp_path, "beside", "return best(position)", "from helper import best")
    found = decided(build(strategy_named(file), Random(0)))
    assert found.fault is not None
    assert found.fault.endswith("(helper.py, line 2, in best: return position.nosuch)")
    assert found.trace.splitlines() == [
        "beside.py, line 13, in decide: return best(position)",
        "helper.py, line 2, in best: return position.nosuch",
    ]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (None, "the strategy returned None, which is no Decision"),
        (DRAW, "the strategy returned Action(verb=<Verb.DRAW: 'Draw'>"),
        (Decision("Draw", "why"), "the strategy chose 'Draw' (str), which is no action"),  # type: ignore[arg-type]
        (Decision(DRAW, None), "the reason of its decision is None, no text"),  # type: ignore[arg-type]
        (Decision(DRAW, "", [DRAW]), "the options of its decision are ["),  # type: ignore[arg-type]
        (Decision(DRAW, "", (DRAW,)), "an option of its decision is Action("),  # type: ignore[arg-type]
        (
            Decision(DRAW, "", (Option(DRAW, float("nan")),)),
            "the value of an option is nan (float)",
        ),
    ],
)
def test_what_is_no_decision_is_named(answer: object, fault: str) -> None:
    found = decided(Answers(answer))
    assert found.fault is not None
    assert found.fault.startswith(fault)
    assert found.decision.action == DRAW
    assert not found.trace


def test_what_it_prints_is_bounded_and_a_late_one_is_heard_too() -> None:
    assert (
        len(tried(lambda: sys.stdout.write("x" * 10 * MOST_PRINTED), None).printed) == MOST_PRINTED
    )
    over = threading.Event()

    def late() -> None:
        sys.stdout.write("still thinking\n")
        over.wait()

    before = sys.stdout
    found = tried(late, None, timedelta(seconds=0.2))
    waiting = [thread for thread in threading.enumerate() if thread.name == "decision"]
    over.set()
    for thread in waiting:
        thread.join()
    assert found.fault == "no decision within 0.2 s"
    assert found.printed == "still thinking\n"
    assert sys.stdout is before
