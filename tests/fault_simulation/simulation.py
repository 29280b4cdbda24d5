"""Base of the fault simulations: an arena with rate limiters, a network, and virtual time.

The arena, its throttling and all its clients are the real ones. The network between them
is a number of milliseconds. Faults happen at random, repeatable by a seed, as the
configuration says (`fault_rate`, `trouble_interval`). A scenario adds what is played:
many matches of our machines (`chaos`), or a contest (`contest_simulation`).
"""

import gc
import hashlib
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Annotated, Any

from cyclopts import Parameter

from cardsharp.games.deadmansdraw.arena.access.throttling import (
    MAX_PER_USER,
    RequestThrottle,
)
from cardsharp.store.match_log import MatchLog
from fault_simulation.checker import Evidence, Incident, MatchCheck, check_match
from fault_simulation.scheduler import Process, Scheduler
from fault_simulation.simulated_arena import SimulatedArena

GC_THRESHOLD = 200_000
"""After so many new objects Python looks for those that nobody has; else it takes a fifth."""

FREEZE_SECONDS = (0.5, 12)  # how long a freeze may last, in seconds


@dataclass(frozen=True)
class FaultSimulationConfig:
    """Configuration of a simulation: number of matches, and how many at once; times in seconds."""

    matches: int
    concurrency: int
    turn_seconds: float = 7
    rate_limit: Annotated[int | None, Parameter("--limit")] = MAX_PER_USER
    reports_rate_limit: Annotated[bool, Parameter("--tells")] = (
        True  # whether the arena's answers tell the limit
    )
    address_limit: int | None = None  # on the requests of all together, which no answer tells
    network_delay: Annotated[float, Parameter("--way")] = 0.02
    max_decision_seconds: Annotated[float, Parameter("--deciding")] = (
        0.3  # the longest that a decision of ours takes
    )
    opponent_seconds: Annotated[tuple[float, float], Parameter("--opponent")] = (
        0.5,
        2.5,
    )  # how long an opponent takes for an action
    strategy: str = "draw-3"
    seed: int = 1
    machines: int = 1
    fault_rate: Annotated[float, Parameter("--rate")] = (
        0  # the share of requests to which something happens
    )
    # The mean time from a trouble's end to the next, None for none.
    trouble_interval: Annotated[float | None, Parameter("--every")] = None


@dataclass
class FaultSimulationResult:
    """Outcome of a simulation: checked matches, counts of requests and faults, and its cost."""

    match_checks: list[MatchCheck] = field(default_factory=list)
    stalled_matches: list[int] = field(default_factory=list)
    request_counts: Counter[str] = field(default_factory=Counter)
    throttled_counts: Counter[str] = field(default_factory=Counter)
    abandoned_counts: Counter[str] = field(default_factory=Counter)  # ours, held for too long
    fault_counts: Counter[str] = field(default_factory=Counter)
    max_throttle_seconds: float = 0  # for so long the arena held a request back
    max_address_seconds: float = 0  # of that, because of the limit by address
    cpu_seconds: float = 0  # of a processor
    minutes: float = 0
    match_minutes: float = 0
    max_concurrency: int = 0
    trace_digest: str = ""  # a digest of every step and every answer, each with its moment

    @property
    def finished_count(self) -> int:
        return len(self.match_checks)

    @property
    def violations(self) -> list[str]:
        """All broken promises, each with the number of its match."""
        match_violations = [
            f"match {match_check.match}: {fault}"
            for match_check in self.match_checks
            for fault in match_check.all_violations
        ]
        return [
            *match_violations,
            *(f"match {number} stands still" for number in self.stalled_matches),
        ]


@contextmanager
def run_folder(replay: Path | None = None) -> Iterator[tuple[Path, Callable[[str], object]]]:
    """Open a folder for a run; yield it and a function that writes the replay, if one is wanted."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if replay is None:
            yield folder, lambda _line: None
        else:
            file = stack.enter_context(replay.open("w"))
            yield folder, lambda line: print(line, file=file)


class FaultSimulation:
    """Base of every scenario: clock, arena, rate limiters, recorded events and the result.

    `config` sets the conditions.
    """

    def __init__(
        self,
        config: FaultSimulationConfig,
        folder: Path,
        log_line: Callable[[str], object],
        **arena_settings: Any,  # noqa: ANN401 - what a scenario's is beside
    ) -> None:
        self.config, self.rng, self.log_line = config, Random(config.seed), log_line
        self.scheduler, self.outcome = Scheduler(), FaultSimulationResult()
        self.arena = SimulatedArena(
            folder, self.scheduler, table=None, has_rate_limit=False, **arena_settings
        )
        self.limiter, self.address_limiter = (
            None if limit is None else RequestThrottle(limit, self.scheduler.now)
            for limit in (config.rate_limit, config.address_limit)
        )
        self.bot_users: set[str] = set()  # whose actions our match logs tell of
        self.match_numbers: dict[str, int] = {}
        # What became of our actions, by match and player.
        self.accepted: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
        self.refused: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
        self.incidents: defaultdict[str, list[Incident]] = defaultdict(list)
        self.view_counts: Counter[str] = Counter()
        self.active_matches: list[str] = []
        self.is_done = False
        self.arena_restarts = (
            0  # how often the arena was started again, which drops all that waits there
        )
        self.partition_end = self.locked_until = self.down_until = 0.0
        self._trace_hash = hashlib.sha256()

    def run_to_end(self) -> None:
        """Run everything that was started to its end, and record time and cost."""
        gc_thresholds, start = gc.get_threshold(), time.process_time()
        gc.set_threshold(GC_THRESHOLD)
        try:
            self.scheduler.run()
        finally:
            gc.set_threshold(*gc_thresholds)
            self.arena.close()
        self.outcome.cpu_seconds = time.process_time() - start
        self.outcome.minutes = self.scheduler.monotonic() / 60
        self.outcome.trace_digest = self._trace_hash.hexdigest()

    def sleep(self, seconds: float) -> None:
        self.scheduler.sleep(timedelta(seconds=seconds))

    def record(self, *parts: object) -> None:
        """Record what happened, and when."""
        line = f"{self.scheduler.monotonic():.3f} {' '.join(map(str, parts))}"
        self._trace_hash.update(line.encode())
        self.log_line(line)

    def match_number(self, match_id: str) -> int:
        """Return the number of a match, in the order in which the matches were first seen."""
        return self.match_numbers.setdefault(match_id, len(self.match_numbers) + 1)

    def check_match(
        self, match_id: str, bot_player: str, log: MatchLog, incidents: Sequence[Incident] = ()
    ) -> MatchCheck:
        """Check a match of our bot, store the result and return it."""
        self.arena.match_id = match_id
        accepted, refused = (
            actions_by_match.pop((match_id, bot_player), [])
            for actions_by_match in (self.accepted, self.refused)
        )
        evidence = Evidence(self.arena.match_json(), bot_player, log, accepted, refused, incidents)
        check = check_match(self.match_number(match_id), evidence)
        self.outcome.match_checks.append(check)
        return check

    def record_incident(self, name: str, affected: str = "", duration: float = 0) -> None:
        """Record an incident of a match or a team, or of all of them if `affected` is empty."""
        current_time = self.scheduler.now()
        self.outcome.fault_counts[name.partition(" (")[0]] += 1
        self.incidents[affected].append(
            Incident(current_time, name, current_time + timedelta(seconds=duration))
        )

    def inject(self, fault: str) -> None:
        self.record_incident(fault)
        self.record("world", fault)

    def freeze(self, process: Process) -> float:
        """Freeze a process from this moment, and return the duration in seconds."""
        seconds = self.rng.uniform(*FREEZE_SECONDS)
        process.frozen_until = self.scheduler.monotonic() + seconds
        return seconds

    def pause(self, process: Process) -> None:
        """Freeze the process of the current thread, and wait until it thaws."""
        self.freeze(process)
        self.sleep(0)
