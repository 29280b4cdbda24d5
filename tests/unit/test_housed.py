"""A strategy file in its own process: whatever it does there, the next decision is made."""

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from time import monotonic

import pytest
from support.cli import written
from support.games import mount_samples, simulated
from support.positions import position

from cardsharp.deadmansdraw.fallback import DECIDER
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deciding import Decided
from cardsharp.games import game
from cardsharp.trying import Unfit
from workbench.cli.new import new
from workbench.strategy_file import strategy_named

GOOD = "print('I see', len(position.unseen)); DO = Decision(position.legal_actions()[0], 'why')"
LIMIT = timedelta(seconds=10)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, timedelta], Decided[object]]:
    """Has the same strategy decide by other code each time."""
    body = (
        "here = {**globals(), 'position': position}; "
        "exec(open(__file__ + '.txt').read(), here); return here['DO']"
    )
    file = written(tmp_path_factory.mktemp("house"), "obeys", body)
    strategy = build(strategy_named(file), Random(0))

    def asked(code: str, limit: timedelta = LIMIT) -> Decided[object]:
        Path(f"{file}.txt").write_text(code)
        return decided(strategy, limit)

    return asked


def decided(strategy: object, limit: timedelta = LIMIT) -> Decided[object]:
    """What it makes of an opening position."""
    return DECIDER.decide(strategy, position(), limit, monotonic)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "limit", "said"),
    [
        ("import os; os._exit(0)", LIMIT, "the strategy ended the process (os._exit(0))"),
        ("import ctypes; ctypes.string_at(0)", LIMIT, "ended the process (Segmentation fault)"),
        ("import os; os.kill(os.getpid(), 9)", LIMIT, "the strategy ended the process (Killed)"),
        ("import sys; sys.exit(5)", LIMIT, "the strategy failed: SystemExit: 5"),
        ("import ctypes; ctypes.PyDLL(None).pause()", timedelta(seconds=1), "decision within 1 s"),
        ("while True: pass", timedelta(seconds=1), "no decision within 1 s"),
        ("DO = bytearray(1 << 40)", LIMIT, "the strategy failed: MemoryError"),
        ("DO = 1 / 0", LIMIT, "the strategy failed: ZeroDivisionError: division by zero"),
        ("DO = None", LIMIT, "the strategy returned None, which is no Decision"),
        ("DO = Decision('Draw', 'why')", LIMIT, "chose 'Draw' (str), which is no action"),
        ("DO = Decision(END_TURN, 'why')", LIMIT, "the rules refuse 'EndTurn': "),
    ],
)
def test_a_fault_is_told_with_its_line_and_the_next_decision_is_made(
    ask: Callable[..., Decided[object]], code: str, limit: timedelta, said: str
) -> None:
    failed = ask(code, limit)
    assert failed.fault is not None
    assert said in failed.fault
    assert "kill(" in code or "(obeys.py, line 1" in failed.fault
    good = ask(GOOD)
    assert (good.fault, good.decision.reason) == (None, "why")  # type: ignore[attr-defined]
    assert good.printed.startswith("I see ")


@pytest.mark.parametrize("end", ["os._exit(3)", "__import__('ctypes').string_at(0)"])
def test_what_it_has_printed_before_a_hard_end_is_kept(
    ask: Callable[..., Decided[object]], end: str
) -> None:
    assert ask(f"import os; print('seen', end=''); {end}").printed == "seen"


@pytest.mark.timed
def test_a_new_process_imports_the_file_outside_the_time_of_a_decision(tmp_path: Path) -> None:
    """Else who crashes each time was late as well, which ends a match."""
    slow = "import os, time; time.sleep(1.2)"
    strategy = build(strategy_named(written(tmp_path, "slow", "os._exit(3)", slow)), Random(0))
    for _ in range(2):
        fault = decided(strategy, timedelta(seconds=1)).fault
        assert fault is not None
        assert "the strategy ended the process (os._exit(3)) (slow.py, line 13" in fault


def test_dice_go_on_after_a_hard_end_as_they_would_again(tmp_path: Path) -> None:
    body = """rolled = str(self.dice.random())
        if __import__("os").path.exists(__file__ + ".end"): __import__("os")._exit(3)
        return Decision(position.legal_actions()[0], rolled)"""
    file = written(tmp_path, "rolls", body)
    Path(file).write_text(Path(file).read_text().replace("pass", "self.dice = rng"))
    end = Path(f"{file}.end")

    def rolled() -> list[str]:
        strategy, found = build(strategy_named(file), Random(0)), []
        for ends in (False, True, False):
            end.unlink(missing_ok=True)
            if ends:
                end.touch()
            found.append(decided(strategy).decision.reason)  # type: ignore[attr-defined]
        return found

    first, _, second = rolled()
    assert first != second
    assert rolled()[::2] == [first, second]


def test_a_file_of_a_hosted_game_has_a_process_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount_samples(monkeypatch, tmp_path)
    file, nim = tmp_path / "mine.py", game("nim")
    new(file, game="nim")
    ends = tmp_path / "ends.py"
    ends.write_text(file.read_text().replace("return", "import os; os._exit(4)\n        return"))
    simulation = simulated(nim)
    strategy = simulation.strategy(strategy_named(str(ends), nim), Random(0))
    with pytest.raises(Unfit, match=r"ended the process \(os._exit\(4\)\) \(ends.py, line 2"):
        strategy.decide(simulation.position(simulation.deal(Random(1))))


def test_what_is_printed_before_the_end_is_no_answer(ask: Callable[..., Decided[object]]) -> None:
    told = ask("import os; os.write(1, b'{}\\n'); print(input())")
    assert told.fault is not None
    assert "EOFError" in told.fault


def test_a_process_that_hangs_and_that_nobody_asks_any_more_ends(tmp_path: Path) -> None:
    """As when its parent was killed: even native code that keeps the interpreter's lock."""
    file = written(tmp_path, "hangs", "pass", "import ctypes; ctypes.PyDLL(None).pause()")
    code = (
        "from cardsharp.games import game; from workbench import file_process; "
        f"file_process.LONGEST = 1; file_process.main(game('deadmansdraw'), {file!r})"
    )
    ended = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 1
    assert "hangs.py" in ended.stderr
