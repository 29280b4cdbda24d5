"""Matches under everything that can go wrong at once, and whether a promise was broken.

python -m fault_simulation.chaos [--matches 200] [--seed 7] [--store SQLite]
  [--without-faults] [--replay FILE]

Machines of ours share a match log; they are killed, frozen, and started anew with clocks that are
wrong. The network and the stores cut, delay, lose and forge answers, and the arena counts our
requests. Exits with 1 when an action was missing, doubled, not meant or refused, when a log differs
from the arena's history, when a match stands still, or when a turn was lost to a single fault. The
same seed at the same commit does the same to the last byte: `--replay` writes every step down.
With `--without-faults` nothing fails, and one machine plays at the arena's limit of requests.
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
CARDS = 2  # after so many an opponent ends its turn
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
REPEAT = 5  # seconds from one message that comes again to the next


class ChaosScenario(FaultSimulation):
    """Our machines, an opponent in each match, and whoever brings about troubles."""

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
        self.machines = [self._station(number) for number in range(config.machines)]

    def play(self) -> FaultSimulationResult:
        """Play what was wished for."""
        self.scheduler.start_thread(self._watch)
        self.scheduler.start_thread(self._organise)
        if self.config.trouble_interval is not None:
            self.scheduler.start_thread(self._trouble)
            self.scheduler.start_thread(self._repeat)
        try:
            self.run_to_end()
        finally:
            self.stores.close()
        return self.outcome

    def _station(self, number: int, skew: float = 0) -> Machine:
        return Machine(f"machine-{number}", self.machine_setup, skew)

    def _watch(self) -> None:
        """End late turns, once a second, as the organisers' watchdog does; start what has died."""
        while not self.is_done:
            for number, station in enumerate(self.machines):
                if station.is_dead:
                    self.scheduler.kill(station)
                    self.machines[number] = self._station(number, station.skew)
            self.scheduler.change_count += bool(self.referee.end_overdue_turns())
            self.sleep(1)

    def _organise(self) -> None:
        """Begin matches and judge those that have ended; who stops is noticed."""
        running: dict[str, tuple[int, float]] = {}
        while len(self.match_numbers) < self.config.matches or running:
            while (
                len(self.match_numbers) < self.config.matches
                and len(running) < self.config.concurrency
            ):
                running[self._begin()] = (-1, self.scheduler.monotonic())
            self.sleep(1)
            self.outcome.match_minutes += len(running) / 60
            for match_id, (moves, since) in [*running.items()]:
                match = self.referee.get_match(match_id)
                if match.is_finished and self._is_closed(match_id):
                    del running[match_id]
                    suffered = [*self.incidents[""], *self.incidents.pop(match_id, [])]
                    self.check_match(match_id, ALICE, self.stores.log, suffered)
                    del self.incidents[""][:-200]  # what befell so long ago is no reason any more
                elif match.moves != moves:
                    running[match_id] = match.moves, self.scheduler.monotonic()
                elif self.scheduler.monotonic() - since > STALL_SECONDS:
                    del running[match_id]
                    self.outcome.stalled_matches.append(self.match_numbers[match_id])
        self.is_done = True
        self.scheduler.change_count += 1

    def _is_closed(self, match_id: str) -> bool:
        record = self.stores.log.match(match_id)
        return record is not None and record.outcome is not None

    def _begin(self) -> str:
        number = len(self.match_numbers) + 1
        wish = {
            "playerids": [ALICE, BOB] if number % 2 else [BOB, ALICE],
            "timeout": self.config.turn_seconds,
            "randomSeed": f"{self.config.seed}/{number}",
        }
        match_id = self.referee.create_match(User(ADMIN, None, ADMIN), wish, None).id
        self.match_numbers[match_id] = number
        self.scheduler.change_count += 1
        self.scheduler.start_thread(lambda: self._oppose(match_id))
        return match_id

    def _oppose(self, match_id: str) -> None:
        """Play the opponent's side of a match: two cards a turn, effects as the arena likes."""
        bob, lobby = User(BOB, "Bob", "player"), self.arena.arena.lobby

        def is_his() -> bool:
            match = lobby.get(match_id)
            return self.is_done or match is None or match.active_player in {BOB, None}

        while True:
            self.scheduler.wait_until(is_his)
            if self.is_done or self.referee.get_match(match_id).is_finished:
                return
            self.sleep(self.rng.uniform(*self.config.opponent_seconds))
            match = self.referee.get_match(match_id)
            if match.active_player == BOB:
                play_area = () if match.state.is_between_turns else match.state.play_area
                enough = len(play_area) >= CARDS
                wish = {"etype": "EndTurn" if enough else "Draw", "autopick": True}
                self.referee.act(bob, match_id, wish, None)
                self.scheduler.change_count += 1

    def _trouble(self) -> None:
        """Do one thing after the other, so that any one thing may fail, but never two at once."""
        lock = partial(self._cut, MachineFault.STORE_LOCKED, "locked_until")
        deeds = (self._kill, self._kill, self._freeze, self._cut, lock)
        while not self.is_done:
            self.sleep(self.rng.expovariate(1 / self.config.trouble_interval))
            self.sleep(self.rng.choice(deeds)())

    def _kill(self) -> float:
        """The first machine lives as long as all."""
        number = self.rng.randrange(1, self.config.machines)
        skew = self.rng.choice(CLOCK_SKEWS_SECONDS)
        self.inject(MachineFault.KILLED)
        if skew:
            self.inject(MachineFault.SKEWED)
        self.scheduler.kill(self.machines[number])
        self.machines[number] = self._station(number, skew)
        return 0

    def _freeze(self) -> float:
        self.inject(MachineFault.FROZEN)
        return self.freeze(self.rng.choice(self.machines))

    def _cut(
        self, trouble: MachineFault = MachineFault.PARTITIONED, until: str = "cut_until"
    ) -> float:
        self.inject(trouble)
        lasts = self.rng.uniform(0.5, OUTAGE_SHARE * self.config.turn_seconds)
        setattr(self, until, self.scheduler.monotonic() + lasts)
        return lasts

    def _repeat(self) -> None:
        """Put the message of some running match on the queue again, as a standard queue may."""
        while not self.is_done:
            self.sleep(REPEAT)
            running = self.stores.log.running_matches()
            if running:
                self.outcome.fault_counts[MachineFault.MESSAGE_REDELIVERED] += 1
                match_id = self.rng.choice(running).match_id
                self.stores.queue.send(MatchMessage(match_id=match_id, game=GAME.name).to_json)


def run_chaos(
    config: FaultSimulationConfig, store: str, replay: Path | None = None
) -> FaultSimulationResult:
    with run_folder(replay) as (folder, say), STORES[store]() as stores:
        return ChaosScenario(config, folder, stores, say).play()


def report_text(outcomes: list[FaultSimulationResult]) -> str:
    verdicts = [verdict for outcome in outcomes for verdict in outcome.match_checks]
    lost = [turn for verdict in verdicts for turn in verdict.forced_turns]
    befell: Counter[str] = sum((outcome.fault_counts for outcome in outcomes), Counter())
    hours = sum(outcome.match_minutes for outcome in outcomes) / 60
    pace = hours / max(sum(outcome.cpu_seconds for outcome in outcomes), 1) * 3600
    longest = max((t.duration.total_seconds() for v in verdicts for t in v.turns), default=0)
    wrong = sum(bool(v.violations) for v in verdicts)
    alone = sum(not turn.is_excused for turn in lost)
    throttled_count = sum(outcome.throttled_counts.total() for outcome in outcomes)
    max_throttle_seconds = max(outcome.max_throttle_seconds for outcome in outcomes)
    request_counts: Counter[str] = sum((outcome.request_counts for outcome in outcomes), Counter())
    a_match = {
        kind: number / max(len(verdicts), 1) for kind, number in request_counts.most_common()
    }
    return f"""\
{len(verdicts)} matches, {sum(v.action_count for v in verdicts)} actions of ours
{hours:.1f} match-hours, {pace:.0f} for an hour of a processor
what happened: {", ".join(f"{n} {name}" for name, n in sorted(befell.items()))}
matches with actions missing, doubled or not meant, or another log than history: {wrong}
actions refused: {sum(len(v.refused) for v in verdicts)}
matches that stood still: {sum(len(outcome.stalled_matches) for outcome in outcomes)}
turns lost: {len(lost)} of {sum(len(v.turns) for v in verdicts)}, {alone} to fewer than two faults
longest turn of ours: {longest:.1f} s
requests a match: {", ".join(f"{number:.1f} {kind}" for kind, number in a_match.items())}
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
    night, seed = (
        RATE_LIMIT_RUN if without_faults else CHAOS_RUN,
        randbelow(10**6) if seed is None else seed,
    )
    limit, (min_delay, max_delay) = turn_seconds or night.turn_seconds, night.opponent_seconds
    night = replace(
        night,
        turn_seconds=limit,
        opponent_seconds=(min_delay, max_delay * limit / night.turn_seconds),
    )
    night = replace(night, concurrency=concurrency or night.concurrency, strategy=strategy)
    wishes = [  # each night has its own seed
        replace(night, matches=min(night.matches, matches - begun), seed=seed + number)
        for number, begun in enumerate(range(0, matches, night.matches))
    ]
    at_home, in_the_cloud = STORES
    homes = [store] if store else [*[at_home] * 9, in_the_cloud]
    outcomes = list[FaultSimulationResult]()
    with ProcessPoolExecutor(os.cpu_count(), initializer=logging.disable) as pool:
        if replay:
            runs = iter([run_chaos(wishes[0], homes[0], replay)])
        else:
            runs = pool.map(run_chaos, wishes, cycle(homes))
        for wish, outcome in zip(wishes, runs, strict=False):
            outcomes.append(outcome)
            say = partial(print, flush=True)
            say(
                f"seed {wish.seed}: {outcome.finished_count} matches, replay "
                f"{outcome.trace_digest[:16]}"
            )
            for fault in outcome.violations:
                say(f"  {fault[:300]}")
    print(report_text(outcomes))  # noqa: T201 - a command
    return 1 if any(outcome.violations for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
