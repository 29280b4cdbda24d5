"""Several teams behind one address, at an arena that also limits requests by address.

python -m fault_simulation.shared_address [--teams 7] [--matches 40] [--turn-seconds 7] [--seed 7]

Each of our teams has a machine and plays two matches at once. The opponent in each match
is a plain client: the starter, which waits for each response before its next request.
Together they exceed the limit of their address. No response reports that limit; responses
only become slow. Nothing else fails. The exit code is 1 if a turn of ours was ended by
force, if an action was refused, doubled or unintended, or if a log differs from the
arena's history.
"""

import json
import logging
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from support.arena_server import ADMIN

from cardsharp.core.credentials import Credentials
from cardsharp.games.deadmansdraw.arena.access.throttling import MAX_PER_ADDRESS
from cardsharp.games.deadmansdraw.arena.access.users import User
from fault_simulation.arena_network import ArenaNetwork
from fault_simulation.checker import player_turns
from fault_simulation.entrants import ENTRANT_KINDS, SimulatedTeam
from fault_simulation.machines import Machine, MachineSetup
from fault_simulation.scheduler import Process
from fault_simulation.simulation import (
    FaultSimulation,
    FaultSimulationConfig,
    FaultSimulationResult,
    run_folder,
)
from fault_simulation.stores import Stores, local_stores

MATCHES_PER_TEAM = 2  # at once, each against a plain client of its own
PLAIN_CLIENT = ENTRANT_KINDS[0]
STALL_SECONDS = 600  # so many seconds a match may stand still before it is given up as stuck


@dataclass(frozen=True)
class SharedAddressConfig(FaultSimulationConfig):
    """Configuration of the teams behind one address; `matches` counts all matches."""

    matches: int = 40
    concurrency: int = 0
    address_limit: Annotated[int | None, Parameter("--address-limit")] = MAX_PER_ADDRESS
    max_decision_seconds: Annotated[float, Parameter("--deciding")] = 0.1
    teams: int = 7


class SharedAddressScenario(FaultSimulation):
    """Scenario of our teams and plain clients, who play each other behind one address."""

    config: SharedAddressConfig

    def __init__(
        self, config: SharedAddressConfig, folder: Path, log_line: Callable[[str], object]
    ) -> None:
        teams = [f"{number:024x}" for number in range(1, config.teams + 1)]
        self.pairs = [
            (team, f"{1000 + MATCHES_PER_TEAM * number + seat:024x}")
            for number, team in enumerate(teams)
            for seat in range(MATCHES_PER_TEAM)
        ]
        plain_ids = [plain for _, plain in self.pairs]
        players = [
            {"_id": player, "name": f"P{player[-4:]}", "password": f"word-{player}"}
            for player in (*teams, *plain_ids)
        ]
        (folder / "players.json").write_text(json.dumps(players))
        super().__init__(config, folder, log_line)
        self.bot_users = {*teams}
        self.referee, network = self.arena.arena.referee, ArenaNetwork(self)
        self.stores: dict[str, Stores] = {}
        for team in teams:
            (folder / team).mkdir()
            self.stores[team] = local_stores(folder / team, self.scheduler)
            credentials = Credentials(team, f"word-{team}")
            setup = MachineSetup(self, network, self.stores[team], credentials, config.strategy)
            Machine(f"machine-{team[-1]}", setup)
        self.plain_processes = [Process(plain) for plain in plain_ids]
        for plain, process in zip(plain_ids, self.plain_processes, strict=True):
            team = SimulatedTeam(
                plain, plain, PLAIN_CLIENT, f"word-{plain}", self, network, "", process
            )
            assert PLAIN_CLIENT.run is not None
            self.scheduler.start_thread(partial(PLAIN_CLIENT.run, team), process)
        self.plain_turns = Counter[bool]()  # those of the plain clients, by whether forced

    def play(self) -> FaultSimulationResult:
        """Play all matches, as many at once as there are plain clients."""
        self.scheduler.start_thread(self._run_watchdog)
        self.scheduler.start_thread(self._manage_matches)
        try:
            self.run_to_end()
        finally:
            for stores in self.stores.values():
                stores.close()
        return self.outcome

    def _run_watchdog(self) -> None:
        """End overdue turns once a second, as the organisers' watchdog does."""
        while not self.is_done:
            self.scheduler.change_count += bool(self.referee.end_overdue_turns())
            self.sleep(1)

    def _manage_matches(self) -> None:
        """Begin a match for each pair without one, and check those that have finished."""
        running: dict[tuple[str, str], str] = {}
        finished_at = self.scheduler.monotonic()
        while len(self.match_numbers) < self.config.matches or running:
            for pair in self.pairs:
                if pair not in running and len(self.match_numbers) < self.config.matches:
                    running[pair] = self._begin_match(*pair)
            self.sleep(1)
            self.outcome.match_minutes += len(running) / 60
            for pair, match_id in [*running.items()]:
                if self.referee.get_match(match_id).is_finished and self._is_closed(
                    pair[0], match_id
                ):
                    del running[pair]
                    finished_at = self.scheduler.monotonic()
                    self._check_finished_match(match_id, *pair)
            if self.scheduler.monotonic() - finished_at > STALL_SECONDS:
                self.outcome.stalled_matches += map(self.match_number, running.values())
                break
        self.is_done = True
        self.scheduler.change_count += 1
        for process in self.plain_processes:
            self.scheduler.kill(process)

    def _begin_match(self, team: str, plain: str) -> str:
        number = len(self.match_numbers) + 1
        match_params = {
            "playerids": [team, plain] if number % 2 else [plain, team],
            "timeout": self.config.turn_seconds,
            "randomSeed": f"{self.config.seed}/{number}",
        }
        match_id = self.referee.create_match(User(ADMIN, None, ADMIN), match_params, None).id
        self.match_numbers[match_id] = number
        self.scheduler.change_count += 1
        return match_id

    def _is_closed(self, team: str, match_id: str) -> bool:
        record = self.stores[team].log.match(match_id)
        return record is not None and record.outcome is not None

    def _check_finished_match(self, match_id: str, team: str, plain: str) -> None:
        self.check_match(match_id, team, self.stores[team].log)
        self.plain_turns.update(
            turn.was_forced for turn in player_turns(self.arena.match_json(), plain)
        )


def run_shared_address(
    config: SharedAddressConfig, replay: Path | None = None
) -> SharedAddressScenario:
    with run_folder(replay) as (folder, log_line):
        scenario = SharedAddressScenario(config, folder, log_line)
        scenario.play()
    return scenario


def report_text(scenario: SharedAddressScenario) -> str:
    outcome, plain = scenario.outcome, scenario.plain_turns
    checks = outcome.match_checks
    action_count = outcome.request_counts["act"]
    request_rate = outcome.request_counts.total() / max(outcome.minutes, 1)
    return f"""\
{len(checks)} matches of {scenario.config.teams} teams and {len(scenario.pairs)} plain clients \
behind one address, in {outcome.minutes:.1f} minutes
turns of ours ended by force: {sum(len(check.forced_turns) for check in checks)} of \
{sum(len(check.turns) for check in checks)}; of the plain clients: {plain[True]} of {plain.total()}
our actions given up while the arena held them: {outcome.abandoned_counts["act"]}, our looks: \
{outcome.abandoned_counts.total() - outcome.abandoned_counts["act"]}
actions refused: {sum(len(check.refused) for check in checks)}; not meant, or a wrong log: \
{sum(bool(check.violations) for check in checks)}
requests: {request_rate:.0f} a minute, {action_count} actions; \
held back for {outcome.max_address_seconds:.1f} s at most by the limit of the address"""


def main(
    config: Annotated[SharedAddressConfig, Parameter(name="*")] = SharedAddressConfig(),
    *,
    replay: Path | None = None,
) -> int:
    """Play what the command line says, and print what became of it."""
    logging.disable()
    scenario = run_shared_address(config, replay)
    print(report_text(scenario), *scenario.outcome.violations, sep="\n")  # noqa: T201 - a command
    return 1 if scenario.outcome.violations else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
