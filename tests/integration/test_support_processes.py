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
from cardsharp.cloud.memory import MemoryQueue
from workbench.cloud.context import Function, LambdaContext
from workbench.cloud.home import Home, HomeOptions

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


def test_an_exception_fails_its_invocation_and_says_why(log: Path) -> None:
    with ProcessHandler("support.cloud_handlers:fail", ENVIRONMENT, log) as handler:
        for _ in range(2):
            with pytest.raises(InvocationError, match=r"ValueError: cannot use \{'a': 1\}"):
                handler({"a": 1}, context())
    assert "Traceback" in log.read_text()


def test_an_answer_that_is_no_json_fails_its_invocation(log: Path) -> None:
    with (
        ProcessHandler("support.cloud_handlers:unwritable", ENVIRONMENT, log) as handler,
        pytest.raises(InvocationError, match="not JSON serializable"),
    ):
        handler({}, context())


def test_a_handler_that_cannot_be_imported_fails_and_the_log_says_why(log: Path) -> None:
    with (
        ProcessHandler("support.no_such_module:handler", ENVIRONMENT, log) as handler,
        pytest.raises(InvocationError, match=r"ended with 1; see .*worker\.log"),
    ):
        handler({}, context())
    assert "No module named 'support.no_such_module'" in log.read_text()


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


def test_an_idle_process_that_died_is_replaced_unnoticed(echo: ProcessHandler) -> None:
    answer = echo({}, context())
    assert isinstance(answer, dict)
    os.kill(answer["pid"], signal.SIGKILL)
    os.waitid(os.P_PID, answer["pid"], os.WEXITED | os.WNOWAIT)
    again = echo({}, context())
    assert isinstance(again, dict)
    assert again["pid"] != answer["pid"]


def test_an_invocation_out_of_time_is_killed(hang: ProcessHandler, pipe: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        timeout = timedelta(seconds=1)
        hanging = pool.submit(hang, {"pipe": str(pipe)}, context(timeout))
        pid = int(pipe.read_text())
        with pytest.raises(InvocationError, match="timed out"):
            hanging.result(timeout=20)
    assert not is_alive(pid)


def test_closing_ends_idle_and_hanging_processes(log: Path, pipe: Path) -> None:
    handler = ProcessHandler("support.cloud_handlers:hang", ENVIRONMENT, log)
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(handler, {"pipe": str(pipe)}, context())
        pid = int(pipe.read_text())
        assert handler({}, context()) == "done"
        handler.close()
        with pytest.raises(InvocationError):
            hanging.result(timeout=20)
    assert not is_alive(pid)


def test_a_closed_handler_starts_no_more_processes(log: Path) -> None:
    handler = ProcessHandler("support.cloud_handlers:echo", ENVIRONMENT, log)
    handler.close()
    handler.close()
    with pytest.raises(InvocationError, match="were closed"):
        handler({}, context())


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


def test_a_message_whose_worker_was_killed_is_delivered_to_a_new_one(log: Path, pipe: Path) -> None:
    source = MemoryQueue(SystemClock(), visibility=timedelta(milliseconds=50))
    options = HomeOptions(concurrency=1, breath=timedelta(milliseconds=20))
    with ProcessHandler("support.cloud_handlers:hang_once", ENVIRONMENT, log) as handler:
        worker = Function("worker", handler)
        poller = Function("poller", lambda *_: None)
        with Home(poller, worker, source, SystemClock(), options) as home:
            source.send(str(pipe))
            os.kill(int(pipe.read_text()), signal.SIGKILL)
            ended = SystemClock().monotonic() + 20
            while len(source) and SystemClock().monotonic() < ended:
                SystemClock().sleep(timedelta(milliseconds=5))
            assert home.stop(timedelta(seconds=10))
    assert len(source) == 0
