"""A handler in processes of its own, as Lambda runs it in execution environments."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from workbench.cloud.context import InvocationError, LambdaContext
from workbench.cloud.events import Event


class ProcessHandler:
    """Calls MODULE:HANDLER in a process; usable wherever a handler in this process is.

    An idle process is used again and concurrent invocations get one each. One that dies fails
    its invocation only, and one that is out of time is killed. None outlives this process.
    `environment` is the whole environment of the processes and `log` gets all that they print.
    """

    def __init__(self, target: str, environment: Mapping[str, str], log: Path) -> None:
        self._target = target
        self._environment = dict(environment)
        self._log = log
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[str]] = []
        self._busy: list[subprocess.Popen[str]] = []
        # The processes read the first; the second stays open as long as this process lives.
        self._ends: tuple[int, ...] = os.pipe()

    def __call__(self, event: Event, context: LambdaContext) -> object:
        """Return the handler's answer; raises `InvocationError` if there is none."""
        process = self._borrow()
        killer = threading.Timer(context.get_remaining_time_in_millis() / 1000, process.kill)
        killer.start()
        line = ""
        try:
            line = _exchange(process, event, context)
        finally:
            killer.cancel()
            self._give_back(process, alive=bool(line))
        if not line and context.get_remaining_time_in_millis() == 0:
            raise InvocationError(f"Task timed out and was killed; see {self._log}.")
        if not line:
            raise InvocationError(f"The process ended with {process.returncode}; see {self._log}.")
        reply = json.loads(line)
        if "error" in reply:
            raise InvocationError(reply["error"])
        answer: object = reply["answer"]
        return answer

    def busy_pids(self) -> list[int]:
        """Return the ids of the processes that are in the middle of an invocation."""
        with self._lock:
            return [process.pid for process in self._busy]

    def close(self) -> None:
        """Kill every process and wait for its end; an invocation under way fails."""
        with self._lock:
            idle, busy = self._idle, list(self._busy)
            self._idle = []
            ends, self._ends = self._ends, ()
        for end in ends:
            os.close(end)
        for process in busy:
            process.kill()
        for process in idle:
            _end(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _borrow(self) -> subprocess.Popen[str]:
        """Return a living idle process or a new one, now busy."""
        with self._lock:
            process = None
            while self._idle and process is None:
                process = self._idle.pop()
                if process.poll() is not None:
                    _end(process)
                    process = None
            process = process or self._start()
            self._busy.append(process)
            return process

    def _give_back(self, process: subprocess.Popen[str], *, alive: bool) -> None:
        """Keep a process that answered for the next invocation, and clear away any other."""
        if not alive:
            # Its answers have ended, so it is about to; its own exit code says more than a kill.
            _end(process, timedelta(seconds=1))
        with self._lock:
            self._busy.remove(process)
            if alive:
                self._idle.append(process)

    def _start(self) -> subprocess.Popen[str]:
        if not self._ends:
            raise InvocationError("The processes of this handler were closed.")
        lifeline = self._ends[0]
        with self._log.open("a") as log:
            return subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", "workbench.cloud.runtime", self._target, str(lifeline)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self._environment,
                pass_fds=[lifeline],
                text=True,
                # A Ctrl-C at the terminal stops the home, and the home stops its processes.
                start_new_session=True,
            )


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    """Return the process's stdin and stdout."""
    if process.stdin is None or process.stdout is None:
        raise InvocationError("The process was started without pipes.")
    return process.stdin, process.stdout


def _exchange(process: subprocess.Popen[str], event: Event, context: LambdaContext) -> str:
    """Return the process's answer line, empty if it died."""
    request = {
        "event": event,
        "function": context.function_name,
        "request_id": context.aws_request_id,
        "remaining": context.get_remaining_time_in_millis(),
    }
    requests, answers = _pipes(process)
    try:
        requests.write(f"{json.dumps(request)}\n")
        requests.flush()
    except OSError:
        return ""
    line = answers.readline()
    return line if line.endswith("\n") else ""


def _end(process: subprocess.Popen[str], patience: timedelta = timedelta(0)) -> None:
    """Kill a process that does not end by itself, and close its pipes."""
    try:
        process.wait(patience.total_seconds())
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in _pipes(process):
        with contextlib.suppress(OSError):
            pipe.close()
