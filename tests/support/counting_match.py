"""Match that counts to three, and a harness that runs its sessions on a virtual clock."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from fault_simulation.virtual_clock import VirtualClock

from cardsharp.bot.bot import Bot
from cardsharp.bot.bot_match import MoveFacts, NextRead, Observation
from cardsharp.bot.control.runtime_settings import RuntimeSettings, RuntimeSettingsStore
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.memory_queue import MemoryQueue
from cardsharp.bot.session_result import SessionResult
from cardsharp.bot.timing import SessionTiming
from cardsharp.core.metrics import Metrics
from cardsharp.errors import ArenaError, RequestRejected, StoreError
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import Body
from cardsharp.store.sqlite_match_log import SqliteMatchLog
from support.store_fixtures import require_match

HOUR = timedelta(hours=1)
TIMING = SessionTiming()
NO_METER = Metrics()
ACTIONS = 3


@dataclass
class CountingMatch:
    """One-player match that counts to three.

    Every answer of its arena can be an error, and a read can return an old state. Another bot
    may act on the same seat: at each read for which `other_bot_moves` says so.
    """

    errors: dict[str, list[ArenaError | Observation[int] | None]] = field(default_factory=dict)
    other_bot_moves: list[bool] = field(default_factory=list)
    count: int = 0
    target_count: int = ACTIONS
    rejected_action_sets: list[frozenset[int]] = field(default_factory=list)
    header: Body | None = None

    def observe(self, recorded: MoveFacts) -> Observation[int]:
        if (old := self._fail("look")) is not None:
            return old
        self.count += bool(self.other_bot_moves and self.other_bot_moves.pop(0))
        facts: dict[int, Body] = {n: {} for n in range(self.count) if n not in recorded}
        outcome = {"result": "won"} if self.count >= self.target_count else None
        turn, our_moves = None if outcome else self, frozenset(range(self.count))
        return Observation(
            next_sequence=self.count, facts=facts, outcome=outcome, turn=turn, our_moves=our_moves
        )

    def wait_for_change(self, recorded: MoveFacts) -> Observation[int] | None:
        raise AssertionError(f"it is always our turn, {recorded}")

    def outcome_if_missing(self, error: RequestRejected) -> Body | None:
        return {"result": "unknown"} if error.message == "gone" else None

    def decide(
        self, timeout: timedelta, monotonic: Callable[[], float], rejected_actions: frozenset[int]
    ) -> DecisionResult[Decision[int]]:
        assert timeout == TIMING.decision_timeout
        assert monotonic() >= 0
        self.rejected_action_sets.append(rejected_actions)
        return DecisionResult(Decision(max(rejected_actions, default=0) + 1, "because"))

    def intent_body(
        self, result: DecisionResult[Decision[int]], decided_at: datetime, worker_id: str
    ) -> Body:
        return {"action": result.decision.action, "at": decided_at.isoformat(), "worker": worker_id}

    def send(self, action: int) -> NextRead:
        self._fail("act")
        assert action > 0
        self.count += 1
        return NextRead.READ_IMMEDIATELY

    def _fail(self, step: str) -> Observation[int] | None:
        scripted = self.errors[step].pop(0) if self.errors.get(step) else None
        if isinstance(scripted, ArenaError):
            raise scripted
        return scripted


class ScriptedSettings(RuntimeSettingsStore):
    settings: RuntimeSettings | None = RuntimeSettings()

    def read(self) -> RuntimeSettings:
        if self.settings is None:
            raise StoreError("The table is throttled.")
        return self.settings


@dataclass
class SessionHarness:
    """Log, queue, clock and settings in which each session is a new worker's."""

    log: SqliteMatchLog
    clock: VirtualClock
    queue: MemoryQueue
    runtime_settings: ScriptedSettings = field(default_factory=ScriptedSettings)

    def __post_init__(self) -> None:
        self.dispatcher = MatchDispatcher(
            self.log, self.queue, self.clock, runtime_settings=self.runtime_settings
        )

    def run_session(
        self,
        match: CountingMatch,
        life: timedelta = HOUR,
        meter: Metrics = NO_METER,
        match_id: str = "m",
    ) -> SessionResult:
        end = self.clock.now() + life
        dispatcher = replace(self.dispatcher, metrics=meter)
        bot = Bot("count", lambda _: nullcontext(match), dispatcher, "worker", TIMING)
        return bot.run_session(match_id, lambda: end - self.clock.now())

    def lease_ttl(self) -> timedelta:
        """Return how long after the last sign of life no other worker may take the match."""
        record = require_match(self.log)
        assert record.lease is not None
        return record.ttl

    def expire_lease(self) -> None:
        """Let a worker's lease expire, and let the dispatcher notice that."""
        self.dispatcher.dispatch_unattended()
        self.clock.advance(self.lease_ttl())
        assert self.dispatcher.dispatch_unattended() == 1


@contextmanager
def open_session_harness() -> Iterator[SessionHarness]:
    """Open a harness whose clock shows an hour, so that no moment is equal to zero."""
    clock = VirtualClock()
    clock.advance(HOUR)
    with closing(SqliteMatchLog(Path(":memory:"), clock)) as log:
        yield SessionHarness(log, clock, MemoryQueue(clock, visibility_timeout=HOUR))
