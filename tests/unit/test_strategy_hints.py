"""Hints about a user's strategy: global random numbers, globals, time, form of `decide`."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from support.cli import write_strategy_file
from support.positions import position

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.strategies import build
from cardsharp.play.guarded_call import fault_group_key
from cardsharp_tools.cli.exit_codes import ExitCode, decision_exit_code
from cardsharp_tools.executors import strategy_hints
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_hints import record_decision, take_hints
from cardsharp_tools.executors.strategy_reference import parse_strategy

GOOD = "return Decision(position.legal_actions()[0], 'why')"


@pytest.fixture(autouse=True)
def _clear_hints() -> Iterator[None]:
    """Clear the hints of earlier tests."""
    list(take_hints())
    yield
    list(take_hints())


def hints(
    folder: Path, name: str, body: str, preamble: str = "", decision_count: int = 4
) -> list[str]:
    """Return the hints about a strategy file once it has decided `decision_count` times."""
    strategy = build(
        register_strategy(parse_strategy(write_strategy_file(folder, name, body, preamble))),
        Random(0),
    )
    for _ in range(decision_count):
        strategy.decide(position())
    return [hint for hint in take_hints() if "is slow" not in hint]


@pytest.mark.parametrize(
    ("name", "preamble", "call", "replacement"),
    [
        ("plain", "import random", "random.random()", "self.rng.random"),
        ("named", "from random import shuffle as mix", "mix([1, 2])", "self.rng.shuffle"),
        ("alias", "import random as dice", "dice.randrange(2)", "self.rng.randrange"),
    ],
)
def test_global_random_numbers_are_reported_with_line_and_replacement(
    tmp_path: Path, name: str, preamble: str, call: str, replacement: str
) -> None:
    [hint] = hints(tmp_path, name, f"{call}; {GOOD}", preamble)
    function = call.partition("(")[0]
    assert hint.startswith(f"{name}.py, line 13: {function} draws from global random numbers")
    assert f"Write {replacement}, the Random that __init__ gets" in hint


def test_global_numpy_random_numbers_are_reported(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    [hint] = hints(tmp_path, "numeric", f"np.random.rand(); {GOOD}", "import numpy as np")
    assert hint.startswith("numeric.py, line 13: np.random.rand draws from global random numbers")


@pytest.mark.parametrize(
    ("name", "preamble", "body", "expected_text"),
    [
        ("grows", "SEEN = []", "SEEN.append(1)", "grows.py, line 1: the global SEEN changes"),
        (
            "counts",
            "N = 0",
            "globals().__setitem__('N', N + 1)",
            "counts.py, line 1: the global N c",
        ),
        ("shares", "", "Mine.seen = getattr(Mine, 'seen', 0) + 1", "the global Mine.seen changes"),
    ],
)
def test_globals_that_change_with_decisions_are_reported(
    tmp_path: Path, name: str, preamble: str, body: str, expected_text: str
) -> None:
    [hint] = hints(tmp_path, name, f"{body}; {GOOD}", preamble)
    assert expected_text in hint
    assert "decide from the position alone" in hint


@pytest.mark.parametrize(
    ("name", "preamble", "body"),
    [
        ("own", "from random import Random", "Random(3).random()"),
        ("setup", "TABLE = {}", "TABLE.setdefault('all', [1, 2])"),
        ("local", "import math", "seen = [1]; seen.append(math.pi)"),
    ],
)
def test_a_private_rng_and_tables_set_up_once_are_not_reported(
    tmp_path: Path, name: str, preamble: str, body: str
) -> None:
    assert hints(tmp_path, name, f"{body}; {GOOD}", preamble) == []


def test_slow_decisions_are_reported_with_times_and_limit() -> None:
    for seconds in (0.1, 0.5, 0.6):
        record_decision("slow.py", seconds, ())
    record_decision("quick.py", strategy_hints.SLOW_MEDIAN / 2, ())
    [hint] = take_hints()
    assert hint.startswith(
        "slow.py is slow: half of its decisions took 0.50 s or more, the slowest 0.60"
    )
    assert "may take 2 s" in hint
    assert list(take_hints()) == [], "it is said once"


def test_the_process_of_a_file_measures_its_decisions(tmp_path: Path) -> None:
    """The time in which other processes use the processor does not count."""
    body = f"end = thread_time() + 0.15\n        while thread_time() < end: pass\n        {GOOD}"
    preamble = "from time import thread_time"
    strategy = build(
        register_strategy(parse_strategy(write_strategy_file(tmp_path, "busy", body, preamble))),
        Random(0),
    )
    strategy.decide(position())
    [hint] = take_hints()
    assert hint.startswith("busy.py is slow: half of its decisions took 0.")


CLASS_TEMPLATE = """from cardsharp.games.deadmansdraw.strategies import strategy

@strategy("{name}")
class Mine:
    def __init__(self, rng):
        {init}

    {decide}
"""


@pytest.mark.parametrize(
    ("name", "decide", "expected"),
    [
        ("lacks", "other = None", r"\(lacks.py, line 3\) has no method decide\(self, position\)"),
        (
            "selfless",
            "def decide(position): pass",
            r"\(selfless.py, line 8\) has a decide\(position\), ",
        ),
        (
            "more",
            "def decide(self, a, b): pass",
            r"decide\(self, a, b\), .* write `def decide\(self, po",
        ),
        (
            "waits",
            "async def decide(self, position): pass",
            r"\(waits.py, line 8\) has an async decide",
        ),
        ("yields", "def decide(self, position): yield 1", "decide that yields. It must `return`"),
    ],
)
def test_an_uncallable_decide_is_refused_at_load(
    tmp_path: Path, name: str, decide: str, expected: str
) -> None:
    file = tmp_path / f"{name}.py"
    file.write_text(CLASS_TEMPLATE.format(name=name, init="pass", decide=decide))
    with pytest.raises(ConfigError, match=expected):
        register_strategy(parse_strategy(str(file)))


@pytest.mark.parametrize(
    ("name", "init", "expected"),
    [
        ("begins", "self.x = rng.nosuch", "begins.py, line 6, fails: AttributeError: 'Random' obj"),
        (
            "leaves",
            "pass\nimport sys; sys.exit(1)\nif 1:",
            "leaves.py, line 7, fails: SystemExit: 1",
        ),
    ],
)
def test_an_init_that_fails_and_a_file_that_ends_are_placed(
    tmp_path: Path, name: str, init: str, expected: str
) -> None:
    file = tmp_path / f"{name}.py"
    file.write_text(CLASS_TEMPLATE.format(name=name, init=init, decide="decide = print"))
    with pytest.raises(ConfigError, match=expected):
        register_strategy(parse_strategy(str(file)))


def test_faults_differing_only_in_action_or_position_have_the_same_kind() -> None:
    location = "(mine.py, line 14, in decide: return Decision(choice, 'why'))"
    first_fault = f"the rules refuse 'EndTurn': Cannot end turn; legal here: Draw {location}"
    second_fault = (
        f"the rules refuse 'Hook: Key5': Respond first: Map; legal here: Map: Key3 {location}"
    )
    assert fault_group_key(first_fault) == fault_group_key(second_fault)
    assert fault_group_key(first_fault) != fault_group_key(
        first_fault.replace("line 14", "line 15")
    )
    assert fault_group_key(first_fault) != fault_group_key(
        f"the strategy failed: KeyError: 'Key' {location}"
    )


def test_the_exit_code_tells_whether_none_some_or_all_decisions_failed() -> None:
    assert [decision_exit_code(11, faults) for faults in (0, 1, 11)] == [
        ExitCode.OK,
        ExitCode.REPLACED,
        ExitCode.FAILED,
    ]
    assert decision_exit_code(0, 0) == ExitCode.OK
