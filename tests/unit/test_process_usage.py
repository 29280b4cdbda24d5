"""Usage meter of a process, by which a busy machine makes no process late."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from support.waiting import wait_until

from cardsharp_tools.executors import hang_monitor, line_process
from cardsharp_tools.executors.hang_monitor import (
    WALL_TIME_FACTOR,
    BusyIdleTimeMeter,
    UsageSample,
    sample_usage,
)
from cardsharp_tools.executors.line_process import LineProcess
from cardsharp_tools.executors.process_usage import process_tree

MAX_SAMPLE_SECONDS = 0.05  # seconds at most that a look counts

SINGLE_CPU_CODE = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
"""
"""Has a process run where all the others of a test do, so that they wait for each other."""

LOW_PRIORITY_CODE = f"{SINGLE_CPU_CODE}os.nice(10)\n"
"""Lets it have a tenth of the processor, as one of ten programs has."""


@contextmanager
def run_process(code: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run some code in a process, from the moment at which it reports that it has begun."""
    startup_code = f"{code.partition('while')[0]}\nprint(flush=True)\n"
    program = f"{startup_code}{code[len(code.partition('while')[0]) :]}"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as popen:  # noqa: S603 - our own
        assert popen.stdout is not None
        popen.stdout.readline()
        try:
            yield popen
        finally:
            popen.kill()


@pytest.fixture
def busy_processor() -> Iterator[None]:
    """Keep the first processor busy."""
    with run_process(f"{SINGLE_CPU_CODE}while True: pass"):
        yield


def meter_of(popen: subprocess.Popen[bytes]) -> BusyIdleTimeMeter:
    return BusyIdleTimeMeter(lambda: process_tree(popen.pid))


def take_sample(meter: BusyIdleTimeMeter) -> BusyIdleTimeMeter:
    meter.take_sample(MAX_SAMPLE_SECONDS)
    return meter


def test_computing_is_charged_as_processor_time() -> None:
    with run_process("while True: pass") as popen:
        meter = meter_of(popen)
        wait_until(lambda: take_sample(meter).exceeds(0.3))
        assert meter.used >= 0.3
        assert meter.rested < 0.3


def test_child_processes_are_charged_too() -> None:
    with run_process("import os; os.setsid(); os.fork() and os.wait()\nwhile True: pass") as popen:
        meter = meter_of(popen)
        wait_until(lambda: take_sample(meter).used >= 0.3)
        os.killpg(popen.pid, signal.SIGKILL)


def test_sleeping_is_charged_as_rest() -> None:
    with run_process("import time\nwhile True: time.sleep(60)") as popen:
        meter = meter_of(popen)
        wait_until(lambda: take_sample(meter).exceeds(0.3))
        assert meter.rested >= 0.3
        assert meter.used < 0.1


def test_a_process_that_waits_for_its_caller_is_charged_for_no_rest() -> None:
    """A process may wait because its caller has not read a full pipe."""
    with run_process("import time\nwhile True: time.sleep(60)") as popen:
        meter = meter_of(popen)
        for _ in range(50):
            meter.take_sample(MAX_SAMPLE_SECONDS, is_waiting_for_caller=True)
        assert meter.rested == 0


def test_waiting_for_a_busy_processor_is_charged_as_neither(busy_processor: None) -> None:
    del busy_processor
    with run_process(f"{LOW_PRIORITY_CODE}while True: pass") as popen:
        meter = meter_of(popen)
        wait_until(lambda: take_sample(meter).elapsed >= 1)
        assert meter.used < 0.5
        assert meter.rested < 0.5


def test_a_stopped_process_is_charged_as_rest_unless_it_is_spared() -> None:
    """A debugger may stop a worker of the lab, and a bot may stop itself for ever."""
    with run_process("while True: pass") as popen:
        popen.send_signal(signal.SIGSTOP)
        wait_until(
            lambda: (
                (process_sample := sample_usage([popen.pid])) is not None and process_sample.stopped
            )
        )
        meter = BusyIdleTimeMeter(lambda: process_tree(popen.pid), spares_stopped=True)
        for _ in range(50):
            meter.take_sample(MAX_SAMPLE_SECONDS)
        assert (meter.used, meter.rested, meter.elapsed) == (0, 0, 0)
        meter = meter_of(popen)
        wait_until(lambda: take_sample(meter).exceeds(0.3))
        assert meter.rested >= 0.3


@pytest.mark.parametrize(("waits_per_look", "rested"), [(0, 0.0), (1, 0.9)])
def test_a_thread_that_got_no_processor_is_charged_for_no_rest(
    monkeypatch: pytest.MonkeyPatch, waits_per_look: int, rested: float
) -> None:
    """The host of a virtual machine may run other machines, which the kernel reports nowhere."""
    samples = (
        UsageSample(0, 0, resting=True, stopped=False, own_waits=look * waits_per_look)
        for look in count()
    )
    times = (0.1 * look for look in count())
    monkeypatch.setattr(hang_monitor, "sample_usage", lambda _: next(samples))
    monkeypatch.setattr(hang_monitor, "monotonic", lambda: next(times))
    meter = BusyIdleTimeMeter(list)
    for _ in range(10):
        meter.take_sample(1)
    assert meter.rested == pytest.approx(rested)


def test_without_samples_the_wall_clock_limits_in_the_end() -> None:
    meter = BusyIdleTimeMeter(list)
    wait_until(lambda: take_sample(meter).exceeds(0.3 / WALL_TIME_FACTOR))
    assert (meter.used, meter.rested) == (0, 0)


# --- the limits that are kept by it --------------------------------------------------------------

COMPUTE_CODE = "sum(range(8_000_000))"  # some tenths of a second, which crowded are more than one

PROGRAM_CODE = f"""
import sys
for number, _ in enumerate(sys.stdin):
    if number == 0:
        exec({LOW_PRIORITY_CODE!r})
    else:
        for _ in range(4):
            {COMPUTE_CODE}
    print("answer", flush=True)
"""


def test_a_program_is_not_late_because_the_machine_is_busy(
    busy_processor: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del busy_processor
    monkeypatch.setattr(line_process, "ANSWER_TIMEOUT", timedelta(seconds=1))
    (tmp_path / "bot.py").write_text(PROGRAM_CODE)
    program = LineProcess(f"{sys.executable} {tmp_path / 'bot.py'}")
    assert [program.request(b"question\n") for _ in range(2)] == [b"answer\n"] * 2


def test_the_lab_guard_does_not_count_stopped_time() -> None:
    """After Ctrl-Z and a resume, the time of the stop must not count as a late decision."""
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


def test_native_code_that_computes_on_a_busy_machine_is_not_taken_for_a_hang(
    busy_processor: None, tmp_path: Path
) -> None:
    """Native code keeps the interpreter's lock, so that its process cannot report progress."""
    del busy_processor
    code = f"""
from pathlib import Path
from cardsharp_tools.executors import crash_report, hang_monitor
hang_monitor.HANG_TIMEOUT_SECONDS = 1
crash_report.enable_crash_reports(Path({str(tmp_path)!r}) / "mine.py")
{LOW_PRIORITY_CODE}
{COMPUTE_CODE}
print("done")
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "done\n"  # noqa: S603
