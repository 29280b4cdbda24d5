"""Tests that a user's code neither delays the end of a command nor outlives it."""

import signal
from pathlib import Path

import pytest
from support.cli import STRATEGY
from support.processes import first_decision_signal, run_command

CLINGING_CODE = """
import atexit, os, signal, subprocess, threading, time
threading.Thread(target=time.sleep, args=(9999,)).start()
atexit.register(time.sleep, 9999)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
subprocess.Popen(["sleep", "9999"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:  # as a service does
        time.sleep(9999)
    os._exit(0)
class Late:
    def __del__(self):
        time.sleep(9999)
late = Late()
"""
"""Code that clings to life in every way that needs no rights."""

LEGAL_STATEMENT = "legal = position.legal_actions()"
DECIDE_STATEMENT = "return Decision(END_TURN if END_TURN in legal else legal[0], 'so')"


def write_clinging_strategy(folder: Path, *statements: str) -> str:
    """Write a strategy file of such code, with more statements before its decision."""
    path = folder / "clinging.py"
    body = "; ".join((*statements, LEGAL_STATEMENT, DECIDE_STATEMENT))
    path.write_text(STRATEGY.format(before=CLINGING_CODE, name="clinging", body=body))
    return str(path)


@pytest.mark.parametrize(
    "command",
    [
        "lab duel FILE draw-2 -n 1",
        pytest.param("lab round-robin FILE draw-2 draw-3 -n 1", marks=pytest.mark.slow),
        pytest.param("lab probe FILE -n 1", marks=pytest.mark.slow),
        pytest.param("lab profile FILE -n 1", marks=pytest.mark.slow),
        pytest.param("ladder FILE --to random -n 2", marks=pytest.mark.slow),
        "play --strategy FILE",
        pytest.param("backtest FILE --match final-2023", marks=pytest.mark.slow),
    ],
)
def test_a_command_ends_and_leaves_no_process(tmp_path: Path, command: str) -> None:
    file = write_clinging_strategy(tmp_path)
    with run_command(tmp_path, *command.replace("FILE", file).split()) as run:
        assert run.wait_for_exit_code() in {0, 1}, run.read_output()
        assert "bug in Cardsharp" not in run.read_output()
        assert run.remaining_processes() == []


SIGNALS = {
    signal.SIGINT: 130,
    signal.SIGTERM: 143,
    signal.SIGHUP: 129,
    signal.SIGKILL: -signal.SIGKILL,
}
LONG_COMMANDS = ("lab duel FILE draw-2 -n 100000", "play --strategy FILE")


@pytest.mark.parametrize(
    ("command", "number", "code"),
    [
        # In `make test` the commands take turns with the signals.
        pytest.param(
            command, number, code, marks=[] if (place + turn) % 2 == 0 else pytest.mark.slow
        )
        for place, command in enumerate(LONG_COMMANDS)
        for turn, (number, code) in enumerate(SIGNALS.items())
    ],
)
def test_a_signal_ends_the_command_and_all_its_processes(
    tmp_path: Path, command: str, number: int, code: int
) -> None:
    pipe, signal_statement = first_decision_signal(tmp_path)
    sleep_statements = ["time.sleep(1)"] * command.startswith("play")  # a duel has matches enough
    file = write_clinging_strategy(tmp_path, signal_statement, *sleep_statements)
    with run_command(tmp_path, *command.replace("FILE", file).split()) as run:
        pipe.read_bytes()
        run.process.send_signal(number)
        assert run.wait_for_exit_code() == code, run.read_output()
        assert run.remaining_processes() == []
