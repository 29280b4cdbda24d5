"""Workers in processes of their own, so that a test may kill them."""

import os
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from multiprocessing.process import BaseProcess
from pathlib import Path
from unittest import mock

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.messages import parse_message
from workbench.cloud.context import LambdaContext
from workbench.cloud.events import Event

WORKER = "support.bot_thinking_worker"


class WorkerProcesses:
    """The worker's handler; each invocation has a process of its own, known by its match."""

    def __init__(self, variables: Mapping[str, str], log: Path) -> None:
        self._given = dict(variables), log
        self._made = get_context("forkserver")
        self._made.set_forkserver_preload([WORKER, __name__])
        with mock.patch.dict(os.environ, variables):  # its path leads to that module
            ensure_running()
        self._of: defaultdict[str, list[BaseProcess]] = defaultdict(list)

    def __call__(self, event: Event, context: LambdaContext) -> object:
        """The handler's answer; EOFError where its process has died."""
        records = event["Records"]
        assert isinstance(records, list)
        busy = self._of[parse_message(records[0]["body"]).match_id]
        ours, theirs = self._made.Pipe(duplex=False)
        left = timedelta(milliseconds=context.get_remaining_time_in_millis())
        what = (*self._given, event, left, theirs)
        process = self._made.Process(target=_attend, args=what, daemon=True)
        process.start()
        theirs.close()
        busy.append(process)
        try:
            return ours.recv()
        finally:
            process.join()
            busy.remove(process)

    def busy(self, match_id: str) -> list[int]:
        """The processes that attend a match, or are about to."""
        return [process.pid for process in self._of[match_id] if process.pid is not None]

    def close(self) -> None:
        """Kill whoever still attends."""
        for process in [one for busy in self._of.values() for one in busy]:
            process.kill()


def _attend(
    variables: Mapping[str, str], log: Path, event: Event, left: timedelta, told: Connection
) -> None:
    """What a process does: answer one event, as the function of that environment."""
    os.environ.clear()
    os.environ.update(variables)
    with log.open("a") as printed:
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
    # Here alone, so that no other process has the strategy of that module.
    handler = import_module(WORKER).handler
    told.send(handler(event, LambdaContext("worker", left, SystemClock())))
