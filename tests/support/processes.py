"""A handler of the source tree in processes that a test may kill, as Lambda has environments.

Each is asked over the Lambda Runtime API, as the built artifacts are by the gates.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Self

from workbench.build.runtime_api import RuntimeApi, RuntimeFault
from workbench.cloud.context import LambdaContext
from workbench.cloud.events import Event


class InvocationError(Exception):
    """An invocation that failed: an exception, a death, a timeout or an answer that is no JSON."""


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
        self._idle: list[_Process] = []
        self._busy: list[_Process] = []
        # The processes read the first; the second stays open as long as this process lives.
        self._ends: tuple[int, ...] = os.pipe()

    def __call__(self, event: Event, context: LambdaContext) -> object:
        """Return the handler's answer; raises `InvocationError` if there is none."""
        process = self._borrow(context.function_name)
        left = timedelta(milliseconds=context.get_remaining_time_in_millis())
        try:
            answer: object = process.api.invoke(event, left, context.aws_request_id)
        except RuntimeFault as fault:
            raise InvocationError(self._why(process, context, str(fault))) from fault
        finally:
            self._give_back(process)
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
            process.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _why(self, process: "_Process", context: LambdaContext, fault: str) -> str:
        """Why there is no answer; a process that is out of time is killed."""
        if context.get_remaining_time_in_millis() == 0:
            process.kill()
            return f"Task timed out and was killed; see {self._log}."
        if process.is_alive():
            return fault
        return f"The process ended with {process.code}; see {self._log}."

    def _borrow(self, function: str) -> "_Process":
        """Return a living idle process or a new one, now busy."""
        with self._lock:
            alive = [process for process in self._idle if process.is_alive()]
            for process in self._idle:
                if process not in alive:
                    process.end()
            self._idle = alive[:-1]
            process = alive[-1] if alive else self._start(function)
            self._busy.append(process)
            return process

    def _give_back(self, process: "_Process") -> None:
        """Keep a process that lives for the next invocation, and clear away any other."""
        alive = process.is_alive()
        if not alive:
            process.end()
        with self._lock:
            self._busy.remove(process)
            if alive:
                self._idle.append(process)

    def _start(self, function: str) -> "_Process":
        if not self._ends:
            raise InvocationError("The processes of this handler were closed.")
        return _Process(function, self._target, self._environment, self._log, self._ends[0])


class _Process:
    """One process, and the API that it asks."""

    def __init__(
        self, function: str, target: str, environment: Mapping[str, str], log: Path, lifeline: int
    ) -> None:
        self._stack = ExitStack()
        api = RuntimeApi(function, lambda: None, self.is_alive)
        self.api = self._stack.enter_context(api)
        with log.open("a") as printed:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", "support.lambda_client", target, str(lifeline)],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                env={**environment, "AWS_LAMBDA_RUNTIME_API": self.api.address},
                pass_fds=[lifeline],
                # A Ctrl-C at the terminal ends the tests, and they end their processes.
                start_new_session=True,
            )
        self.pid = self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code of a process that has ended."""
        return self._process.returncode

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """Kill it; `end` clears away what is left."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        self.kill()
        self._stack.close()
