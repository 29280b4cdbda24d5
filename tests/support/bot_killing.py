"""Workers in processes of their own, killed at random moments, and how soon each match goes on."""

import os
import signal
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.messages import parse_message
from cardsharp.cloud.ports import MatchLog
from support.arena import ALICE
from support.processes import ProcessHandler
from workbench.arena.server import ArenaServer
from workbench.bench.judge import actions_of
from workbench.cloud.context import LambdaContext
from workbench.cloud.events import Event

LOOK = timedelta(milliseconds=20)
REST = timedelta(seconds=2)
"""For so long after it went on a match is spared: two deaths in a turn may well cost the turn."""


class WorkerProcesses:
    """The worker's handler; each match has processes of its own, so that one can be chosen."""

    def __init__(self, variables: Mapping[str, str], log: Path) -> None:
        self._variables = variables
        self._log = log
        self._of: dict[str, ProcessHandler] = {}
        self._stack = ExitStack()

    def __call__(self, event: Event, context: LambdaContext) -> object:
        records = event["Records"]
        assert isinstance(records, list)
        match_id = parse_message(records[0]["body"]).match_id
        if match_id not in self._of:
            handler = ProcessHandler(
                "support.bot_thinking_worker:handler", self._variables, self._log
            )
            self._of[match_id] = self._stack.enter_context(handler)
        return self._of[match_id](event, context)

    def busy(self, match_id: str) -> list[int]:
        """The processes that attend a match, or are about to."""
        handler = self._of.get(match_id)
        return [] if handler is None else handler.busy_pids()

    def close(self) -> None:
        self._stack.close()


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
