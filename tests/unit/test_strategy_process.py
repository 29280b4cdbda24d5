"""Strategy file in its own process: faults, crashes, time limits and captured output."""

import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from itertools import islice
from pathlib import Path
from random import Random
from time import monotonic
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import pytest
from support.cli import write_strategy_file
from support.games import game_simulation, match_states, mount_samples
from support.positions import position
from support.waiting import HANG_SECONDS

from cardsharp.core.limits import DECISION_TIMEOUT
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.actions import DRAW
from cardsharp.games.deadmansdraw.fallback import DECISION_RUNNER
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, PointsOption, build
from cardsharp.play.catalog import get_game
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.guarded_call import MAX_STDOUT_CHARS, InvalidDecision, call_guarded
from cardsharp_tools.cli.commands.new import new
from cardsharp_tools.executors import line_process, strategy_import
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.executors.strategy_reference import parse_strategy
from cardsharp_tools.games.deadmansdraw.arena_environment import bot_environment_from_options
from cardsharp_tools.games.deadmansdraw.arena_options import ArenaOptions
from cardsharp_tools.local_play.seat_orders import run_workers

VALID_CODE = (
    "print('I see', len(position.unseen)); DO = Decision(position.legal_actions()[0], 'why')"
)
PRINT_CODE = "print('seen', end='')"
WALL_CLOCK_LIMIT = timedelta(seconds=HANG_SECONDS)
"""On the clock; what counts is the limit of the process, of which a busy machine takes nothing."""


@pytest.fixture(scope="module")
def decide_by_code(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], DecisionResult[object]]:
    """Return a function that has the same strategy decide by other code each time."""
    body = (
        "here = {**globals(), 'position': position}; "
        "exec(open(__file__ + '.txt').read(), here); return here['DO']"
    )
    file = write_strategy_file(tmp_path_factory.mktemp("house"), "obeys", body)
    strategy = build(register_strategy(parse_strategy(file)), Random(0))

    def run_code(strategy_code: str) -> DecisionResult[object]:
        Path(f"{file}.txt").write_text(strategy_code)
        return decide_with(strategy)

    return run_code


def decide_with(strategy: object) -> DecisionResult[object]:
    return DECISION_RUNNER.decide(strategy, position(), WALL_CLOCK_LIMIT, monotonic)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"{PRINT_CODE}; import os; os._exit(0)", "the strategy ended the process (os._exit(0))"),
        (f"{PRINT_CODE}; import ctypes; ctypes.string_at(0)", "process (Segmentation fault)"),
        ("import os; os.kill(os.getpid(), 9)", "the strategy ended the process (Killed)"),
        ("import sys; sys.exit(5)", "the strategy failed: SystemExit: 5"),
        ("import ctypes; ctypes.PyDLL(None).pause()", "decision within 1 s"),
        ("while True: pass", "no decision within 1 s"),
        ("DO = bytearray(1 << 40)", "the strategy failed: MemoryError"),
        ("DO = 1 / 0", "the strategy failed: ZeroDivisionError: division by zero"),
        ("DO = None", "the strategy returned None, which is no Decision"),
        ("import os; os.write(1, b'{}\\n'); print(input())", "EOFError"),
        ("DO = Decision(END_TURN, 'why')", "the rules refuse 'EndTurn': "),
        (
            "DO = Decision(END_TURN, 'why')",
            "; legal here: Draw (obeys.py, line 13, in decide: here = ",
        ),
        ("DO = Decision('Draw', 'why')", "which is no action; legal here: Draw ("),
        ("position.seat = 1", "a position cannot be changed; change a copy"),
    ],
)
def test_a_fault_is_reported_with_its_line_and_deciding_continues(
    decide_by_code: Callable[[str], DecisionResult[object]],
    code: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decide_by_code(VALID_CODE)  # it is imported, and has the limit of a decision the next time
    monkeypatch.setattr(line_process, "ANSWER_TIMEOUT", timedelta(seconds=1))
    decide_by_code(VALID_CODE)
    faulty_result = decide_by_code(code)
    assert expected in str(faulty_result.error)
    assert not code.startswith(PRINT_CODE) or faulty_result.stdout == "seen", (
        "what it printed is kept"
    )
    assert "kill(" in code or "(obeys.py, line 1" in str(faulty_result.error)
    next_result = decide_by_code(VALID_CODE)
    assert (next_result.error, next_result.decision.reason) == (None, "why")  # type: ignore[attr-defined]
    assert next_result.stdout.startswith("I see ")


def test_a_new_process_imports_the_file_outside_the_time_of_a_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crashing strategy is not late as well, which would end a match."""
    monkeypatch.setattr(line_process, "ANSWER_TIMEOUT", timedelta(seconds=1.2))
    preamble = "import os, time; time.sleep(1.5)"
    strategy = build(
        register_strategy(
            parse_strategy(write_strategy_file(tmp_path, "slow", "os._exit(3)", preamble))
        ),
        Random(0),
    )
    for _ in range(2):
        fault = decide_with(strategy).error
        assert "the strategy ended the process (os._exit(3)) (slow.py, line 13" in str(fault)


def test_at_an_arena_a_busy_machine_makes_no_strategy_of_a_user_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process limits its processor time itself; a built-in strategy has 2 s on the clock."""
    name, options = "CARDSHARP_DECISION_SECONDS", ArenaOptions(url="http://localhost", user="1")
    monkeypatch.setenv("CARDSHARP_PASSWORD", "secret")
    file = parse_strategy(write_strategy_file(tmp_path, "mine", "pass"))
    assert bot_environment_from_options(options, file)[name] == "60"
    assert name not in bot_environment_from_options(options, parse_strategy("captain"))
    monkeypatch.setenv(name, "3")
    assert bot_environment_from_options(options, file)[name] == "3"
    with run_workers(tmp_path / "log.db", print, 1, is_user_code=True) as dependencies:
        assert dependencies.settings.decision_timeout == timedelta(minutes=1)
    with run_workers(tmp_path / "log.db", print, 1) as dependencies:
        assert dependencies.settings.decision_timeout == DECISION_TIMEOUT


def test_dice_continue_identically_when_a_crashed_process_is_replaced(tmp_path: Path) -> None:
    body = """rolled = str(self.dice.random())
        if __import__("os").path.exists(__file__ + ".end"): __import__("os")._exit(3)
        return Decision(position.legal_actions()[0], rolled)"""
    file = write_strategy_file(tmp_path, "rolls", body)
    Path(file).write_text(Path(file).read_text().replace("pass", "self.dice = rng"))
    crash_marker = Path(f"{file}.end")

    def roll_with_crash() -> list[str]:
        strategy, reasons = build(register_strategy(parse_strategy(file)), Random(0)), []
        for crashes in (False, True, False):
            crash_marker.unlink(missing_ok=True)
            if crashes:
                crash_marker.touch()
            reasons.append(decide_with(strategy).decision.reason)  # type: ignore[attr-defined]
        return reasons

    first_roll, _, second_roll = roll_with_crash()
    assert first_roll != second_roll
    assert roll_with_crash()[::2] == [first_roll, second_roll]


def test_a_file_gets_only_new_moves_and_sees_the_whole_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """if len(position.history) == 4: position.history[99]
        text = repr((position, position.history))
        from zlib import crc32
        return Decision(position.legal_actions()[0], str(crc32(text.encode())))"""
    file = write_strategy_file(tmp_path, "reads", body)
    strategy: Any = build(register_strategy(parse_strategy(file)), Random(0))
    sizes, request = list[int](), strategy.request
    monkeypatch.setattr(
        strategy, "request", lambda message: sizes.append(len(message)) or request(message)
    )
    simulation, faults = game_simulation(get_game("deadmansdraw")), 0
    for state in islice(match_states(simulation, 5), 30):
        seen = simulation.current_position(state)
        try:
            reason = strategy.decide(seen).reason
        except InvalidDecision:  # the process goes on, and knows this position too
            faults += 1
            continue
        assert reason == str(crc32(repr((seen, seen.history)).encode()))
    assert (len(sizes), faults) == (30, 1)
    whole_size = len(pickle.dumps(seen))
    assert max(sizes[1:]) < whole_size / 2
    strategy.restart()
    assert strategy.decide(seen).reason == reason
    assert sizes[-1] > whole_size


def test_strategies_of_hosted_games_run_in_a_process_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount_samples(monkeypatch, tmp_path)
    file, nim = tmp_path / "mine.py", get_game("nim")
    new(file, game="nim")
    crashing_file = tmp_path / "ends.py"
    crashing_file.write_text(
        file.read_text().replace("return", "import os; os._exit(4)\n        return")
    )
    simulation = game_simulation(nim)
    strategy = simulation.build_strategy(
        register_strategy(parse_strategy(str(crashing_file)), nim), Random(0)
    )
    with pytest.raises(
        InvalidDecision, match=r"ended the process \(os._exit\(4\)\) \(ends.py, line 2"
    ):
        strategy.decide(simulation.current_position(simulation.initial_state(Random(1))))


def test_a_hung_worker_without_a_parent_ends(tmp_path: Path) -> None:
    """A worker ends after its parent, even if native code keeps the interpreter's lock."""
    file = write_strategy_file(
        tmp_path, "hangs", "pass", "import ctypes; ctypes.PyDLL(None).pause()"
    )
    for seconds in (1, 8, 64):
        code = (
            "from cardsharp.play.catalog import get_game; "
            "from pathlib import Path; "
            "from cardsharp_tools.executors import strategy_worker; "
            f"strategy_worker.MAX_WORK_SECONDS = {seconds}; "
            "strategy_worker.main(get_game('deadmansdraw'), "
            f"Path({file!r}))"
        )
        process = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-c", code], input="", capture_output=True, text=True, check=False,
            timeout=HANG_SECONDS,
        )  # fmt: skip
        assert process.returncode == 1
        if "hangs.py" in process.stderr:  # a busy machine may not have come so far at first
            return
    pytest.fail(process.stderr)


def test_a_package_is_imported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code cannot be imported twice; a missing package is reported with its command.

    The same holds in a process that hosts several files, such as a worker of the lab.
    """
    monkeypatch.setattr(strategy_import, "_import_listeners", [lambda _file: None])
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "seldom.py").write_text("import itertools\nIDS = itertools.count()\n")
    reasons = []
    for name in ("package-old", "package-new"):
        file = write_strategy_file(
            tmp_path, name, "raise ValueError(next(IDS))", "from seldom import IDS"
        )
        reasons.append(
            decide_with(build(register_strategy(parse_strategy(file)), Random(0))).decision.reason
        )
    assert "ValueError: 0 " in reasons[0]
    assert "ValueError: 1 " in reasons[1]
    failing_file = write_strategy_file(tmp_path, "lacks", "pass", "import nosuchpackage")
    with pytest.raises(ConfigError, match=f"install --target {tmp_path}/packages nosuchpackage"):
        register_strategy(parse_strategy(failing_file))
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)  # without pip, as uv has it
    remedy = strategy_import._suggest_fix(
        ModuleNotFoundError(name="numpy.linalg"), Path("/its/mine.py")
    )
    assert remedy.endswith(f"uv pip install --python {sys.executable} --target /its/packages numpy")


def test_an_error_in_a_helper_module_is_traced_through_both_files(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def best(position):\n    return position.nosuch\n")
    file = write_strategy_file(
        tmp_path, "beside", "return best(position)", "from helper import best"
    )
    result = decide_with(build(register_strategy(parse_strategy(file)), Random(0)))
    assert str(result.error).endswith("(helper.py, line 2, in best: return position.nosuch)")
    assert result.traceback.splitlines() == [
        "beside.py, line 13, in decide: return best(position)",
        "helper.py, line 2, in best: return position.nosuch",
    ]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (None, "the strategy returned None, which is no Decision"),
        (
            DRAW,
            "the strategy returned the bare action 'Draw'; let decide end with `return Decision(",
        ),
        (object(), "the strategy returned a object, which is no Decision"),
        (
            "so " * 40,
            "the strategy returned 'so so so so so so so so so so so so so so so so so so ...",
        ),
        (
            DeadMansDrawDecision("Draw", "why"),
            "the strategy chose 'Draw' (str), which is no action",
        ),  # type: ignore[arg-type]
        (DeadMansDrawDecision(DRAW, None), "the reason of its decision is None, no text"),  # type: ignore[arg-type]
        (DeadMansDrawDecision(DRAW, "", [DRAW]), "the options of its decision are ["),  # type: ignore[arg-type]
        (DeadMansDrawDecision(DRAW, "", (DRAW,)), "an option of its decision is Action("),  # type: ignore[arg-type]
        (
            DeadMansDrawDecision(DRAW, "", (PointsOption(DRAW, float("nan")),)),
            "the value of an option is nan (float)",
        ),
    ],
)
def test_an_invalid_decision_is_described(answer: object, fault: str) -> None:
    result = decide_with(SimpleNamespace(decide=lambda _position: answer))
    assert str(result.error).startswith(fault)
    assert result.decision.action == DRAW
    assert not result.traceback


def test_stdout_is_bounded_and_captured_from_late_decisions() -> None:
    assert (
        len(call_guarded(lambda: sys.stdout.write("x" * 10 * MAX_STDOUT_CHARS), None).stdout)
        == MAX_STDOUT_CHARS
    )
    release = threading.Event()

    def print_and_wait() -> None:
        sys.stdout.write("still thinking\n")
        release.wait()

    original_stdout = sys.stdout
    for seconds in (0.2, 2, 60):
        result = call_guarded(print_and_wait, None, timedelta(seconds=seconds))
        if result.stdout:  # a busy machine may not have come so far at first
            break
    decision_threads = [thread for thread in threading.enumerate() if thread.name == "decision"]
    release.set()
    for thread in decision_threads:
        thread.join()
    assert result.error == f"no decision within {seconds:g} s"
    assert result.stdout == "still thinking\n"
    assert sys.stdout is original_stdout


def test_a_late_decision_under_a_debugger_is_abandoned_without_interrupting_it() -> None:
    """An interrupt under a debugger made the whole process hang with Python 3.11."""
    code = (
        "import sys, threading, datetime; from cardsharp.play.guarded_call import call_guarded; "
        "sys.settrace(lambda *_: None); "
        "limit = datetime.timedelta(seconds=0.2); "
        "print(call_guarded(threading.Event().wait, None, limit).error)"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True, timeout=HANG_SECONDS)  # noqa: S603
    assert output == "no decision within 0.2 s\n"
