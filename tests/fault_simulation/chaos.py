"""Matches of our machines under random faults of every kind; every promise is checked.

python -m fault_simulation.chaos [--matches 200] [--seed 7] [--store SQLite]
  [--without-faults] [--replay FILE]

Our machines share a match log. They are killed, frozen and restarted with wrong clocks.
The network and the stores cut, delay, lose and forge responses. The arena limits our
requests. The exit code is 1 if an action was missing, doubled, unintended or refused, if
a log differs from the arena's history, if a match stood still, or if a single fault cost
a turn. The same seed at the same commit repeats a run to the last byte; `--replay`
records every step. With `--without-faults` nothing fails, and one machine plays at the
arena's rate limit.
"""

import logging
import os
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from secrets import randbelow
from typing import Literal

import cyclopts
from support.arena_server import ADMIN, ALICE, BOB, PASSWORDS

from cardsharp.bot.queueing.messages import MatchMessage
from cardsharp.core.credentials import Credentials
from cardsharp.games.deadmansdraw.arena.access.users import User
from cardsharp.games.deadmansdraw.game import GAME
from fault_simulation.arena_network import ArenaNetwork
from fault_simulation.fault_matrix import STORES
from fault_simulation.faults import MachineFault
from fault_simulation.machines import Machine, MachineSetup
from fault_simulation.simulation import (
    FaultSimulation,
    FaultSimulationConfig,
    FaultSimulationResult,
    run_folder,
)
from fault_simulation.stores import StoreFactory

CHAOS_RUN = FaultSimulationConfig(
    matches=50,
    concurrency=12,
    turn_seconds=20,
    opponent_seconds=(0.5, 10),
    machines=3,
    fault_rate=0.05,
    trouble_interval=10,
)
"""Fifty matches of a machine's ordinary night, if everything fails in it."""

RATE_LIMIT_RUN = FaultSimulationConfig(matches=50, concurrency=6)
"""As many of one machine's as the limit of requests feeds, in which nothing fails."""

STALL_SECONDS = 600  # so many seconds a match may stand still before it is given up as stuck
OUTAGE_SHARE = 0.3  # so much of a turn an outage may last: from a longer one no turn can be saved
OPPONENT_CARDS_PER_TURN = 2  # after so many an opponent ends its turn
CLOCK_SKEWS_SECONDS = (
    0,
    0,
    0.4,
    -0.4,
    5,
    -5,
    3600,
    -3600,
)  # by how much a new machine's clock may be ahead
REDELIVERY_SECONDS = 5  # seconds from one message that comes again to the next


class ChaosScenario(FaultSimulation):
    """Scenario with our machines, an opponent in each match, and threads that inject faults."""

    def __init__(
        self,
        config: FaultSimulationConfig,
        folder: Path,
        store_factory: StoreFactory,
        log_line: Callable[[str], object],
    ) -> None:
        super().__init__(config, folder, log_line)
        self.bot_users, self.stores = {ALICE}, store_factory(folder, self.scheduler)
        player = Credentials(ALICE, PASSWORDS[ALICE])
        self.machine_setup = MachineSetup(
            self, ArenaNetwork(self), self.stores, player, config.strategy
        )
        self.referee = self.arena.arena.referee
        self.machines = [self._start_machine(number) for number in range(config.machines)]

    def play(self) -> FaultSimulationResult:
        """Play the configured matches, and return the result."""
        self.scheduler.start_thread(self._run_watchdog)
        self.scheduler.start_thread(self._manage_matches)
        if self.config.trouble_interval is not None:
            self.scheduler.start_thread(self._inject_faults)
            self.scheduler.start_thread(self._redeliver_messages)
        try:
            self.run_to_end()
        finally:
            self.stores.close()
        return self.outcome

    def _start_machine(self, number: int, skew: float = 0) -> Machine:
        return Machine(f"machine-{number}", self.machine_setup, skew)

    def _run_watchdog(self) -> None:
        """End overdue turns and restart dead machines, once a second."""
        while not self.is_done:
            for number, machine in enumerate(self.machines):
                if machine.is_dead:
                    self.scheduler.kill(machine)
                    self.machines[number] = self._start_machine(number, machine.skew)
            self.scheduler.change_count += bool(self.referee.end_overdue_turns())
            self.sleep(1)

    def _manage_matches(self) -> None:
        """Begin matches, check the finished ones, and give up those that stand still."""
        running: dict[str, tuple[int, float]] = {}
        while len(self.match_numbers) < self.config.matches or running:
            while (
                len(self.match_numbers) < self.config.matches
                and len(running) < self.config.concurrency
            ):
                running[self._begin_match()] = (-1, self.scheduler.monotonic())
            self.sleep(1)
            self.outcome.match_minutes += len(running) / 60
            for match_id, (moves, moved_at) in [*running.items()]:
                match = self.referee.get_match(match_id)
                if match.is_finished and self._is_closed(match_id):
                    del running[match_id]
                    incidents = [*self.incidents[""], *self.incidents.pop(match_id, [])]
                    self.check_match(match_id, ALICE, self.stores.log, incidents)
                    del self.incidents[""][:-200]  # what befell so long ago is no reason any more
                elif match.moves != moves:
                    running[match_id] = match.moves, self.scheduler.monotonic()
                elif self.scheduler.monotonic() - moved_at > STALL_SECONDS:
                    del running[match_id]
                    self.outcome.stalled_matches.append(self.match_numbers[match_id])
        self.is_done = True
        self.scheduler.change_count += 1

    def _is_closed(self, match_id: str) -> bool:
        record = self.stores.log.match(match_id)
        return record is not None and record.outcome is not None

    def _begin_match(self) -> str:
        number = len(self.match_numbers) + 1
        match_params = {
            "playerids": [ALICE, BOB] if number % 2 else [BOB, ALICE],
            "timeout": self.config.turn_seconds,
            "randomSeed": f"{self.config.seed}/{number}",
        }
        match_id = self.referee.create_match(User(ADMIN, None, ADMIN), match_params, None).id
        self.match_numbers[match_id] = number
        self.scheduler.change_count += 1
        self.scheduler.start_thread(lambda: self._play_opponent(match_id))
        return match_id

    def _play_opponent(self, match_id: str) -> None:
        """Play the opponent's side of a match: two cards a turn; the arena picks for effects."""
        bob, lobby = User(BOB, "Bob", "player"), self.arena.arena.lobby

        def is_opponent_turn() -> bool:
            match = lobby.get(match_id)
            return self.is_done or match is None or match.active_player in {BOB, None}

        while True:
            self.scheduler.wait_until(is_opponent_turn)
            if self.is_done or self.referee.get_match(match_id).is_finished:
                return
            self.sleep(self.rng.uniform(*self.config.opponent_seconds))
            match = self.referee.get_match(match_id)
            if match.active_player == BOB:
                play_area = () if match.state.is_between_turns else match.state.play_area
                has_enough_cards = len(play_area) >= OPPONENT_CARDS_PER_TURN
                action = {"etype": "EndTurn" if has_enough_cards else "Draw", "autopick": True}
                self.referee.act(bob, match_id, action, None)
                self.scheduler.change_count += 1

    def _inject_faults(self) -> None:
        """Inject one machine fault at a time, never two at once."""
        lock_match_log = partial(self._start_outage, MachineFault.STORE_LOCKED, "locked_until")
        injectors = (
            self._kill_machine,
            self._kill_machine,
            self._freeze_machine,
            self._start_outage,
            lock_match_log,
        )
        while not self.is_done:
            self.sleep(self.rng.expovariate(1 / self.config.trouble_interval))
            self.sleep(self.rng.choice(injectors)())

    def _kill_machine(self) -> float:
        """Kill any machine but the first, and restart it, perhaps with a wrong clock."""
        number = self.rng.randrange(1, self.config.machines)
        skew = self.rng.choice(CLOCK_SKEWS_SECONDS)
        self.inject(MachineFault.KILLED)
        if skew:
            self.inject(MachineFault.SKEWED)
        self.scheduler.kill(self.machines[number])
        self.machines[number] = self._start_machine(number, skew)
        return 0

    def _freeze_machine(self) -> float:
        self.inject(MachineFault.FROZEN)
        return self.freeze(self.rng.choice(self.machines))

    def _start_outage(
        self,
        fault: MachineFault = MachineFault.PARTITIONED,
        deadline_attribute: str = "partition_end",
    ) -> float:
        self.inject(fault)
        seconds = self.rng.uniform(0.5, OUTAGE_SHARE * self.config.turn_seconds)
        setattr(self, deadline_attribute, self.scheduler.monotonic() + seconds)
        return seconds

    def _redeliver_messages(self) -> None:
        """Queue the message of a running match again, as a standard queue may."""
        while not self.is_done:
            self.sleep(REDELIVERY_SECONDS)
            running = self.stores.log.running_matches()
            if running:
                self.outcome.fault_counts[MachineFault.MESSAGE_REDELIVERED] += 1
                match_id = self.rng.choice(running).match_id
                self.stores.queue.send(MatchMessage(match_id=match_id, game=GAME.name).to_json)


def run_chaos(
    config: FaultSimulationConfig, store: str, replay: Path | None = None
) -> FaultSimulationResult:
    with run_folder(replay) as (folder, log_line), STORES[store]() as stores:
        return ChaosScenario(config, folder, stores, log_line).play()


def report_text(outcomes: list[FaultSimulationResult]) -> str:
    checks = [check for outcome in outcomes for check in outcome.match_checks]
    lost = [turn for check in checks for turn in check.forced_turns]
    fault_counts: Counter[str] = sum((outcome.fault_counts for outcome in outcomes), Counter())
    hours = sum(outcome.match_minutes for outcome in outcomes) / 60
    match_hours_per_cpu_hour = (
        hours / max(sum(outcome.cpu_seconds for outcome in outcomes), 1) * 3600
    )
    max_turn_seconds = max((t.duration.total_seconds() for v in checks for t in v.turns), default=0)
    violating_count = sum(bool(v.violations) for v in checks)
    unexcused = sum(not turn.is_excused for turn in lost)
    throttled_count = sum(outcome.throttled_counts.total() for outcome in outcomes)
    max_throttle_seconds = max(outcome.max_throttle_seconds for outcome in outcomes)
    request_counts: Counter[str] = sum((outcome.request_counts for outcome in outcomes), Counter())
    requests_per_match = {
        kind: number / max(len(checks), 1) for kind, number in request_counts.most_common()
    }
    return f"""\
{len(checks)} matches, {sum(v.action_count for v in checks)} actions of ours
{hours:.1f} match-hours, {match_hours_per_cpu_hour:.0f} for an hour of a processor
what happened: {", ".join(f"{n} {name}" for name, n in sorted(fault_counts.items()))}
matches with actions missing, doubled or not meant, or another log than history: {violating_count}
actions refused: {sum(len(v.refused) for v in checks)}
matches that stood still: {sum(len(outcome.stalled_matches) for outcome in outcomes)}
turns lost: {len(lost)} of {sum(len(v.turns) for v in checks)}, {unexcused} to fewer than two faults
longest turn of ours: {max_turn_seconds:.1f} s
requests a match: {", ".join(f"{number:.1f} {kind}" for kind, number in requests_per_match.items())}
requests held back by the arena: {throttled_count}, by {max_throttle_seconds:.1f} s at most"""


def main(  # noqa: PLR0913 - the options of a command
    *,
    matches: int = 200,
    seed: int | None = None,
    store: Literal["SQLite", "DynamoDB and SQS"] | None = None,
    without_faults: bool = False,
    strategy: str = RATE_LIMIT_RUN.strategy,
    concurrency: int | None = None,
    turn_seconds: float | None = None,
    replay: Path | None = None,
) -> int:
    """Play what the command line says: a `turn` in seconds; by default a `seed` that is printed.

    Without a `store` one night of ten is played in the cloud; with `replay` the
    seed's first night alone, told there.
    """
    logging.disable()
    base_config, seed = (
        RATE_LIMIT_RUN if without_faults else CHAOS_RUN,
        randbelow(10**6) if seed is None else seed,
    )
    turn_limit, (min_delay, max_delay) = (
        turn_seconds or base_config.turn_seconds,
        base_config.opponent_seconds,
    )
    base_config = replace(
        base_config,
        turn_seconds=turn_limit,
        opponent_seconds=(min_delay, max_delay * turn_limit / base_config.turn_seconds),
    )
    base_config = replace(
        base_config, concurrency=concurrency or base_config.concurrency, strategy=strategy
    )
    configs = [  # each night has its own seed
        replace(
            base_config, matches=min(base_config.matches, matches - first_match), seed=seed + number
        )
        for number, first_match in enumerate(range(0, matches, base_config.matches))
    ]
    local_store, cloud_store = STORES
    stores = [store] if store else [*[local_store] * 9, cloud_store]
    outcomes = list[FaultSimulationResult]()
    with ProcessPoolExecutor(os.cpu_count(), initializer=logging.disable) as pool:
        if replay:
            results = iter([run_chaos(configs[0], stores[0], replay)])
        else:
            results = pool.map(run_chaos, configs, cycle(stores))
        for config, outcome in zip(configs, results, strict=False):
            outcomes.append(outcome)
            print_line = partial(print, flush=True)
            print_line(
                f"seed {config.seed}: {outcome.finished_count} matches, replay "
                f"{outcome.trace_digest[:16]}"
            )
            for fault in outcome.violations:
                print_line(f"  {fault[:300]}")
    print(report_text(outcomes))  # noqa: T201 - a command
    return 1 if any(outcome.violations for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
