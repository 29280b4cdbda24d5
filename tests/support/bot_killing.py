"""Workers in processes of their own, killed at random moments, and how soon each match goes on."""

import os
import signal
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from unittest import mock

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.messages import parse_message
from cardsharp.cloud.ports import MatchLog
from support.arena import ALICE
from workbench.arena.server import ArenaServer
from workbench.bench.judge import actions_of
from workbench.cloud.context import LambdaContext
from workbench.cloud.events import Event

WORKER = "support.bot_thinking_worker"
LOOK = timedelta(milliseconds=20)
REST = timedelta(seconds=2)
"""For so long after it went on a match is spared: two deaths in a turn may well cost the turn."""


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


@dataclass
class Death:
    """A worker's death, whether it was our turn then, and when the match was taken again."""

    match_id: str
    fence: int
    at: datetime
    our_turn: bool
    taken: datetime | None = None


@dataclass
class Killer:
    """Kills workers and looks on until their matches are taken again."""

    workers: WorkerProcesses
    arena: ArenaServer
    log: MatchLog
    rng: Random
    deaths: list[Death] = field(default_factory=list)
    clock: SystemClock = field(default_factory=SystemClock)

    def kill_one(self, matches: list[str]) -> None:
        """Kill whoever attends one of the matches, if any of them may be hit now."""
        candidates = [match_id for match_id in matches if self._may_be_hit(match_id)]
        if not candidates:
            return
        match_id = self.rng.choice(candidates)
        pids = self.workers.busy(match_id)
        view, record = self.arena.look(match_id), self.log.match(match_id)
        if not pids or view["activePlayerIndex"] is None or record is None:
            return
        fence = 0 if record.lease is None else record.lease.fence
        self.deaths.append(Death(match_id, fence, self.clock.now(), view["activePlayerIndex"] == 0))
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    def look_on(self, duration: timedelta) -> None:
        """Watch the leases for a while."""
        end = self.clock.now() + duration
        while self.clock.now() < end:
            self.clock.sleep(LOOK)
            for death in self.orphans:
                self._look_at(death)

    @property
    def orphans(self) -> list[Death]:
        """The deaths whose matches nobody has taken yet."""
        return [death for death in self.deaths if death.taken is None]

    def gone_on(self, death: Death) -> timedelta:
        """How long after a death the match was taken; in our own turn, how long until we acted."""
        assert death.taken is not None
        if not death.our_turn:
            return death.taken - death.at
        moves = actions_of(self.arena.look(death.match_id), [ALICE])
        acted = (datetime.fromisoformat(move["at"]) for move in moves)
        return min((at for at in acted if at > death.at), default=death.taken) - death.at

    def _may_be_hit(self, match_id: str) -> bool:
        now = self.clock.now()
        own = [death for death in self.deaths if death.match_id == match_id]
        return all(d.taken is not None and now - d.taken > REST for d in own)

    def _look_at(self, death: Death) -> None:
        record = self.log.match(death.match_id)
        taken = record and record.lease and record.lease.fence > death.fence
        if taken or (record and record.outcome is not None):
            death.taken = self.clock.now()
