"""Usage of a process is measured so that a busy machine makes no process late."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from support.waiting import until

from cardsharp_tools.executors import line_process
from cardsharp_tools.executors.hang_monitor import WALL_TIME_FACTOR, BusyIdleTimeMeter, sample_usage
from cardsharp_tools.executors.line_process import LineProcess
from cardsharp_tools.executors.sandbox_supervisor import process_tree

LOOK = 0.05  # seconds at most that a look counts

BUSY = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
"""
"""Has a process run where all the others of a test do, so that they wait for each other."""

LAST = f"{BUSY}os.nice(10)\n"
"""Lets it have a tenth of the processor, as one of ten programs has."""


@contextmanager
def running(code: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run some code in a process, once it says that it has begun."""
    ready = f"{code.partition('while')[0]}\nprint(flush=True)\n"
    program = f"{ready}{code[len(code.partition('while')[0]) :]}"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as popen:  # noqa: S603 - our own
        assert popen.stdout is not None
        popen.stdout.readline()
        try:
            yield popen
        finally:
            popen.kill()


@pytest.fixture
def crowded() -> Iterator[None]:
    """Keep the first of our processors busy."""
    with running(f"{BUSY}while True: pass"):
        yield


def watched(popen: subprocess.Popen[bytes]) -> BusyIdleTimeMeter:
    return BusyIdleTimeMeter(lambda: process_tree(popen.pid))


def looked(usage: BusyIdleTimeMeter) -> BusyIdleTimeMeter:
    usage.take_sample(LOOK)
    return usage


def test_computing_is_charged_as_processor_time() -> None:
    with running("while True: pass") as popen:
        usage = watched(popen)
        until(lambda: looked(usage).exceeds(0.3))
        assert usage.used >= 0.3
        assert usage.rested < 0.3


def test_child_processes_are_charged_too() -> None:
    with running("import os; os.setsid(); os.fork() and os.wait()\nwhile True: pass") as popen:
        usage = watched(popen)
        until(lambda: looked(usage).used >= 0.3)
        os.killpg(popen.pid, signal.SIGKILL)


def test_sleeping_is_charged_as_rest() -> None:
    with running("import time\nwhile True: time.sleep(60)") as popen:
        usage = watched(popen)
        until(lambda: looked(usage).exceeds(0.3))
        assert usage.rested >= 0.3
        assert usage.used < 0.1


def test_what_waits_for_us_is_charged_for_no_rest() -> None:
    """As with a pipe that is full because we have not come to read it."""
    with running("import time\nwhile True: time.sleep(60)") as popen:
        usage = watched(popen)
        for _ in range(50):
            usage.take_sample(LOOK, is_waiting_for_caller=True)
        assert usage.rested == 0


def test_waiting_for_a_busy_processor_is_charged_as_neither(crowded: None) -> None:
    del crowded
    with running(f"{LAST}while True: pass") as popen:
        usage = watched(popen)
        until(lambda: looked(usage).elapsed >= 1)
        assert usage.used < 0.5
        assert usage.rested < 0.5


def test_a_stopped_process_is_charged_as_rest_unless_it_is_spared() -> None:
    """A debugger stops a worker of the lab, and a bot may stop itself for ever."""
    with running("while True: pass") as popen:
        popen.send_signal(signal.SIGSTOP)
        until(
            lambda: (
                (process_sample := sample_usage([popen.pid])) is not None and process_sample.stopped
            )
        )
        usage = BusyIdleTimeMeter(lambda: process_tree(popen.pid), spares_stopped=True)
        for _ in range(50):
            usage.take_sample(LOOK)
        assert (usage.used, usage.rested, usage.elapsed) == (0, 0, 0)
        usage = watched(popen)
        until(lambda: looked(usage).exceeds(0.3))
        assert usage.rested >= 0.3


def test_without_samples_the_wall_clock_limits_in_the_end() -> None:
    usage = BusyIdleTimeMeter(list)
    until(lambda: looked(usage).exceeds(0.3 / WALL_TIME_FACTOR))
    assert (usage.used, usage.rested) == (0, 0)


# --- the limits that are kept by it --------------------------------------------------------------

WORK = "sum(range(8_000_000))"  # some tenths of a second, which crowded are more than one

ANSWERS = f"""
import sys
for number, _ in enumerate(sys.stdin):
    if number == 0:
        exec({LAST!r})
    else:
        for _ in range(4):
            {WORK}
    print("answer", flush=True)
"""


def test_a_program_is_not_late_because_the_machine_is_busy(
    crowded: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del crowded
    monkeypatch.setattr(line_process, "ANSWER_TIMEOUT", timedelta(seconds=1))
    (tmp_path / "bot.py").write_text(ANSWERS)
    program = LineProcess(f"{sys.executable} {tmp_path / 'bot.py'}")
    assert [program.request(b"question\n") for _ in range(2)] == [b"answer\n"] * 2


def test_the_lab_guard_does_not_count_stopped_time() -> None:
    """As by Ctrl-Z: it had slept through its time, as it seemed, when it went on."""
    code = """
import os, subprocess
from types import SimpleNamespace
from datetime import timedelta
from cardsharp.play.strategy import Decision
from cardsharp_tools.lab import players
players.DECISION_TIMEOUT = timedelta(seconds=1)
def decide(position):
    stops = f"kill -STOP {os.getpid()}; sleep 2; kill -CONT {os.getpid()}"
    subprocess.run(["sh", "-c", stops])
    return Decision(position, "why")
print(players.ErrorReportingStrategy("its name", SimpleNamespace(decide=decide)).decide(7).action)
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "7\n"  # noqa: S603


def test_native_code_that_computes_on_a_busy_machine_is_not_taken_for_a_standstill(
    crowded: None, tmp_path: Path
) -> None:
    """It keeps the interpreter's lock meanwhile, so that nothing in its process can say so."""
    del crowded
    code = f"""
from pathlib import Path
from cardsharp_tools.executors import crash_report, hang_monitor
hang_monitor.HANG_TIMEOUT_SECONDS = 1
crash_report.enable_crash_reports(Path({str(tmp_path)!r}) / "mine.py")
{LAST}
{WORK}
print("done")
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "done\n"  # noqa: S603
