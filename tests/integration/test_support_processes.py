"""A handler in processes of its own: what it answers, and what its death means."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from support.cloud_threads import at_once
from support.processes import InvocationError, ProcessHandler

from cardsharp.cloud.clock import SystemClock
from workbench.cloud.context import LambdaContext

TESTS = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(TESTS)}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "worker.log"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Return a pipe through which a handler says that it hangs."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def echo(log: Path) -> Iterator[ProcessHandler]:
    with ProcessHandler("support.cloud_handlers:echo", ENVIRONMENT, log) as handler:
        yield handler


@pytest.fixture
def hang(log: Path) -> Iterator[ProcessHandler]:
    with ProcessHandler("support.cloud_handlers:hang", ENVIRONMENT, log) as handler:
        yield handler


def context(timeout: timedelta = timedelta(seconds=30)) -> LambdaContext:
    return LambdaContext("worker", timeout, SystemClock())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_event_and_context_arrive_and_the_answer_comes_back(
    echo: ProcessHandler, log: Path
) -> None:
    given = context()
    answer = echo({"body": "ünï☃\n"}, given)
    assert isinstance(answer, dict)
    assert answer["event"] == {"body": "ünï☃\n"}
    assert answer["request_id"] == given.aws_request_id
    assert answer["function"] == "worker"
    assert 0 < answer["remaining"] <= 30_000
    assert answer["pid"] != os.getpid()
    printed = log.read_text()
    assert "not this one" in printed
    assert "from a child" in printed


def test_a_process_is_used_again_and_concurrent_invocations_have_one_each(
    echo: ProcessHandler,
) -> None:
    first, second = (echo({}, context()) for _ in range(2))
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert first["pid"] == second["pid"]
    answers = at_once(3, lambda _: echo({}, context()))
    assert len(answers) == 3
    assert echo.busy_pids() == []


def test_a_process_killed_in_mid_invocation_fails_it_and_the_next_one_works(
    hang: ProcessHandler, pipe: Path
) -> None:
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(hang, {"pipe": str(pipe)}, context())
        pid = int(pipe.read_text())
        assert hang.busy_pids() == [pid]
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(InvocationError, match="ended with -9"):
            hanging.result(timeout=20)
    assert hang.busy_pids() == []
    assert hang({}, context()) == "done"


def test_an_invocation_out_of_time_is_killed(hang: ProcessHandler, pipe: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        timeout = timedelta(seconds=1)
        hanging = pool.submit(hang, {"pipe": str(pipe)}, context(timeout))
        pid = int(pipe.read_text())
        with pytest.raises(InvocationError, match="timed out"):
            hanging.result(timeout=20)
    assert not is_alive(pid)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process as Linux can")
def test_a_process_does_not_outlive_a_parent_that_was_killed(log: Path, pipe: Path) -> None:
    parent = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", "support.cloud_handlers", str(pipe), str(log)], env=ENVIRONMENT
    )
    with parent:
        watched = os.pidfd_open(int(pipe.read_text()))
        parent.send_signal(signal.SIGKILL)
        assert select.select([watched], [], [], 20)[0], "it still runs"
        os.close(watched)
