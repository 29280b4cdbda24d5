"""Simulation of a contest on virtual time: practice and a cup, under faults of every kind.

python -m fault_simulation.contest_simulation [--teams 20] [--matches 3] [--turn 5] [--seed 7]
[--replay FILE]

The entrants practise and then play a double elimination. They are teams that the director
plays, our own bot, the starter, third-party clients, a slow team, one that never pauses,
one with a wrong password, one that never comes and one that freezes. The contest's
process (director, arena and the teams that it plays) and the teams' programs are killed
and frozen. Our bot's network fails. The organiser pauses the contest, decides pairings,
withdraws and renames teams, and undoes that. A second director is started, a submission
attacks, and a spectator views the pages. The exit code is 0 only if every pairing was
decided, every team had two lives, no match was lost or counted twice, our bot's logs
equal the arena's history, every forced turn has a known reason, each kind of attack was
reported, and every page was served.
"""

import json
import logging
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from secrets import randbelow
from types import SimpleNamespace
from typing import Annotated
from unittest import mock

import cyclopts
import requests
from cyclopts import Parameter
from support.arena_server import ADMIN, ADMIN_PASSWORD
from urllib3.util import Timeout

from cardsharp.client.session_state import ClientSessionState
from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.contest_file import create_contest_in, open_contest_in
from cardsharp.contest.director import ContestRunner
from cardsharp.contest.models import ContestSettings, ContestStage, TeamEntry
from cardsharp.contest.practice import practice_ladder
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.core.credentials import Credentials, digest_ha1
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games.deadmansdraw.arena.access.throttling import MAX_PER_ADDRESS
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.contest.page_routes import ContestPages
from cardsharp.play.catalog import get_game
from cardsharp_tools.contest.contest_lock import lock_contest
from cardsharp_tools.contest.contest_process import ContestLoop
from cardsharp_tools.contest.local_match_host import STEP_INTERVAL_SECONDS
from cardsharp_tools.contest.local_players import RETRY_INTERVAL
from cardsharp_tools.contest.logging_match_host import LoggingMatchHost
from cardsharp_tools.contest.open_contest import OpenContest
from cardsharp_tools.contest.team_failures import TeamFailureReporter
from cardsharp_tools.executors.strategy_reference import parse_strategy
from cardsharp_tools.executors.submission import (
    resolve_team_strategy,
    team_submissions,
)
from cardsharp_tools.local_play.opponent import OpponentClient, OpponentConfig
from fault_simulation import contest_checker
from fault_simulation.arena_network import ArenaNetwork
from fault_simulation.checker import incidents_during
from fault_simulation.entrants import ATTACKER, SimulatedTeam, choose_entrants, has_sandbox
from fault_simulation.machines import LIMITS, Machine, MachineSetup
from fault_simulation.scheduler import Process
from fault_simulation.simulated_arena import URL
from fault_simulation.simulation import FaultSimulation, FaultSimulationConfig, run_folder
from fault_simulation.stores import Stores, local_stores
from fault_simulation.virtual_clock import START

RESTART_SECONDS = 1.0  # seconds until a contest that was killed answers again
PAGE_VIEW_SECONDS = 10.0  # seconds between two looks of a spectator
STALL_SECONDS = 300.0  # seconds without a move after which a contest is given up
HOUR = timedelta(hours=1)
LOG_DRAIN_SECONDS = 60  # seconds at most that our bots have for their logs when the contest is over

MALICIOUS_BOT = Path(__file__).with_name("malicious_bot.py")
EXPECTED_ERRORS = (
    "FileNotFoundError",
    "ConnectionRefusedError",
    "BlockingIOError",
    "ended the process",
)
"""What is told of each of its attacks."""

ALL_TEAMS = "all"  # whom it befalls that is no team
PAGES = ("/contest", "/contest/running", "/matches/statistics?tag=cup", "/api/matches?condensed=1")


@dataclass(frozen=True)
class ContestConfig(FaultSimulationConfig):
    """Configuration of the simulated contest; times are in seconds."""

    matches: int = 3
    concurrency: int = 0
    turn_seconds: float = 5
    rate_limit: Annotated[int | None, Parameter("--limit")] = MAX_PER_ADDRESS
    fault_rate: Annotated[float, Parameter("--rate")] = 0.01
    trouble_interval: Annotated[float | None, Parameter("--every")] = 8
    seed: int = field(default_factory=partial(randbelow, 10**6))
    teams: int = 20
    practice_seconds: Annotated[float, Parameter("--practice")] = 60


class _SimulatedLoop(ContestLoop):
    """Loop of a director in simulated time."""

    def __init__(
        self, records: ContestRecords, runner: ContestRunner, sleep: Callable[[float], object]
    ) -> None:
        super().__init__(records)
        self._runner, self._sleep = runner, sleep

    def take_step(self) -> None:
        """Let the director take a step."""
        self._runner.step()

    def pause(self) -> None:
        """Wait in simulated time."""
        self._sleep(STEP_INTERVAL_SECONDS)


class ContestScenario(FaultSimulation):
    """Scenario of a contest with its teams, and threads that inject faults."""

    config: ContestConfig

    def __init__(
        self, config: ContestConfig, folder: Path, log_line: Callable[[str], object]
    ) -> None:
        self.folder, self.faults = folder / "cup", list[str]()
        settings = ContestSettings(
            "cup", matches=config.matches, timeout=config.turn_seconds, seed=str(config.seed)
        )
        self.records = create_contest_in(self.folder, settings)
        entrants = [
            (f"{n:024x}", *entrant) for n, entrant in enumerate(choose_entrants(config.teams), 1)
        ]
        passwords = {team: f"word-{team}" for team, *_ in entrants}
        players = [
            {"_id": team, "name": name, "password": passwords[team]} for team, name, _ in entrants
        ]
        (folder / "players.json").write_text(json.dumps(players))
        pages = ContestPages(lambda: ContestRepository(self.records.documents))
        super().__init__(config, folder, log_line, data=folder / "arena.db", pages=pages)
        self.rng.shuffle(entrants)
        for team, name, kind in entrants:
            self.records.append_team(
                TeamEntry(team, name, digest_ha1(team, passwords[team]), kind.strategy)
            )
            if kind is ATTACKER:
                self._submit_malicious_bot(team, folder / "players.json")
        self.contest_process, self.is_over, self.stopped_teams = (
            Process("contest"),
            False,
            set[str](),
        )
        self.champion, self.blocked_attacks, self.attacks = "nobody", list[str](), Counter[str]()
        self.late_turns = Counter[str]()
        self.result: contest_checker.ContestRecord
        self.stores: dict[str, Stores] = {
            team: local_stores(folder / team, self.scheduler)
            for team, _, kind in entrants
            if kind.bot
        }
        self.bot_users = {*self.stores}
        self.network = ArenaNetwork(self)
        tags = f"{settings.name},{settings.practice_tag}"
        self.teams = [
            SimulatedTeam(
                team, name, kind, passwords[team], self, self.network, tags, Process(name)
            )
            for team, name, kind in entrants
        ]

    def play(self) -> None:
        """Play practice and the cup, and check the contest at its end."""
        for team in self.teams:
            self._start_team(team)
            self._log_incident("had just started", team, seconds=5)
        self._start_contest_process()
        for work in (self._monitor_contest, self._inject_faults, self._spectate):
            self.scheduler.start_thread(work)
        fake_time = SimpleNamespace(sleep=self.sleep)
        with mock.patch("support.third_party_clients.time", fake_time), ExitStack() as stack:
            stack.callback(self.records.close)
            for stores in self.stores.values():
                stack.callback(stores.close)
            self.run_to_end()

    def _start_contest_process(self) -> None:
        """Start or restart the contest's process."""
        self.contest_process = Process("contest")
        works = [self._run_director, self._end_late_turns]
        works += [
            partial(self._play_in_director, team) for team in self.teams if team.kind.strategy
        ]
        for work in works:
            self.scheduler.start_thread(work, self.contest_process)

    def _client(self, player: Credentials) -> ArenaClient:
        client = ArenaClient(URL, player, LIMITS, session_state=ClientSessionState(self.scheduler))
        client._transport._session.mount(
            "http://", self.network.plain_transport(self.contest_process)
        )
        return client

    def _run_director(self) -> None:
        """Run the director: `contest practice`, and then `contest run --seed-by-practice`."""
        with (
            lock_contest(self.folder, "run"),
            open_contest_in(self.folder) as records,
            self._client(Credentials(ADMIN, ADMIN_PASSWORD)) as client,
        ):
            match_host = LoggingMatchHost(client, OpenContest(self.folder, records))
            runner = ContestRunner(records, match_host, self.scheduler.now)
            loop = _SimulatedLoop(records, runner, self.sleep)
            if records.stage is ContestStage.OPEN:
                remaining_time = timedelta(
                    seconds=self.config.practice_seconds - self.scheduler.monotonic()
                )
                records.set_practice_until(self.scheduler.now() + remaining_time)
            loop.finish_practice()
            if records.stage is ContestStage.OPEN and records.practice_matches():
                records.set_seeding([row.team for row in practice_ladder(records)])
            for team in self.teams:
                if team.kind.is_freezing:
                    team.process.frozen_until = float("inf")
            records.start_contest()
            for _ in loop.contest_steps():
                pass
        self.is_over = True

    def _end_late_turns(self) -> None:
        while True:
            overdue_turns = self.arena.arena.referee.end_overdue_turns(grace=timedelta(seconds=1))
            self.scheduler.change_count += bool(overdue_turns)
            self.sleep(1)

    def _play_in_director(self, team: SimulatedTeam) -> None:
        strategy_name = resolve_team_strategy(
            parse_strategy(team.kind.strategy), self.folder, team.id
        )
        opponent_config = OpponentConfig(
            URL, team.id, team.password, strategy_name, str(self.config.seed)
        )
        while True:
            try:
                with self._client(team.credentials) as client:
                    OpponentClient(client, opponent_config).play_forever()
            except CardsharpError as error:
                if team.kind is ATTACKER:
                    TeamFailureReporter(OpenContest(self.folder, self.records))(team.id, error)
                    self.blocked_attacks.append(str(error))
                self.sleep(RETRY_INTERVAL.total_seconds())

    def _submit_malicious_bot(self, team: str, password_file: Path) -> None:
        """Submit a bot that attacks the password file and a listening port."""
        self.listening_socket = socket.create_server(("127.0.0.1", 0))
        target = f"{password_file}\n{self.listening_socket.getsockname()[1]}".encode()
        files = {"bot.py": MALICIOUS_BOT.read_bytes(), "target": target}
        team_submissions(self.folder, team).add_version(files, get_game(None))

    def _start_team(self, team: SimulatedTeam) -> None:
        kind = team.kind
        if kind.bot:
            stores = self.stores[team.id]
            setup = MachineSetup(self, self.network, stores, team.credentials, kind.bot)
            team.process = Machine(team.name, setup)
        elif kind.run is not None:
            team.process = Process(team.name)
            self.scheduler.start_thread(partial(kind.run, team), team.process)

    def _monitor_contest(self) -> None:
        """Watch the contest's progress; stop and check it when it is over or stands still."""
        moves, moved_at = -1, self.scheduler.monotonic()
        while not self.is_over:
            self.sleep(1)
            self._restart_dead_machines()
            move_count = sum(match.moves for match in self.arena.arena.lobby.all_matches())
            if move_count != moves:
                moves, moved_at = move_count, self.scheduler.monotonic()
            if self.scheduler.monotonic() - moved_at > STALL_SECONDS:
                self.faults.append(f"No move was made for {STALL_SECONDS:.0f} s.")
                break
        for _ in range(LOG_DRAIN_SECONDS):
            if any(stores.log.running_matches() for stores in self.stores.values()):
                self.sleep(1)
        self.is_done = True
        self.scheduler.change_count += 1
        for process in (self.contest_process, *(team.process for team in self.teams)):
            process.frozen_until = 0
            self.scheduler.kill(process)
        self._check_contest()

    def _restart_dead_machines(self) -> None:
        """Restart our machines that a fault on their network has killed."""
        for team in self.teams:
            if team.kind.bot and team.process.is_dead and team.id not in self.stopped_teams:
                self.scheduler.kill(team.process)
                self._log_incident("died", team, seconds=1)
                self._start_team(team)

    def _spectate(self) -> None:
        """View the pages regularly, as a spectator does."""
        while not self.is_over:
            self.sleep(PAGE_VIEW_SECONDS)
            for page in PAGES:
                request, restart_count = (
                    requests.Request("GET", URL + page).prepare(),
                    self.arena_restarts,
                )
                try:
                    status = self.network.forward(
                        request, None, Timeout(total=PAGE_VIEW_SECONDS), 0
                    ).status
                except requests.RequestException:
                    self.outcome.fault_counts["page missed"] += 1
                    continue
                if status != requests.codes.ok and restart_count == self.arena_restarts:
                    self.faults.append(f"{page} was answered by {status}.")

    def _inject_faults(self) -> None:
        """Inject one fault at a time, never two at once; the first is a kill."""
        injectors = [
            self._kill_contest_process,
            self._freeze_contest_process,
            self._pause_contest,
            self._act_as_organiser,
            self._start_second_director,
        ]
        if any(self._punctual_teams()):
            injectors += [self._kill_team, self._freeze_team]
        inject = self._kill_contest_process
        while True:
            self.sleep(self.rng.expovariate(1 / (self.config.trouble_interval or 1)))
            if self.is_over or self.config.trouble_interval is None:
                return
            inject()
            inject = self.rng.choice(injectors)

    def _punctual_teams(self) -> Iterator[SimulatedTeam]:
        """Return the teams with a program that is expected to be on time."""
        teams_with_program = (team for team in self.teams if team.kind.run or team.kind.bot)
        return (team for team in teams_with_program if team.kind.expected_lateness is None)

    def _kill_contest_process(self) -> None:
        self._log_incident("the contest was killed")
        self.scheduler.kill(self.contest_process)
        self.arena_restarts += 1
        self.down_until = self.scheduler.monotonic() + RESTART_SECONDS
        self.scheduler.change_count += 1
        self.sleep(RESTART_SECONDS)
        self.arena.restart()  # from when on every turn has all its time again
        self.scheduler.change_count += 1
        if not self.is_over:
            self._start_contest_process()

    def _freeze_contest_process(self) -> None:
        seconds = self.rng.uniform(0.2, self.config.turn_seconds * 2)
        self._log_incident("the contest was frozen", seconds=seconds)
        self.contest_process.frozen_until = self.partition_end = (
            self.scheduler.monotonic() + seconds
        )
        self.sleep(seconds)

    def _pause_contest(self) -> None:
        seconds = self.rng.uniform(0.2, self.config.turn_seconds)
        self.records.set_paused(paused=True)
        self._log_incident(contest_checker.PAUSED, seconds=seconds)
        self.sleep(seconds)
        self.records.set_paused(paused=False)

    def _act_as_organiser(self) -> None:
        """Do what an organiser may do during the cup, even to pairings already decided."""
        results, admin = self.records.results(), ContestAdmin(self.records, self.scheduler.now)
        if not results:
            return
        result = self.rng.choice(results)
        name = self.records.team_names_with_removed()[self.rng.choice(result.teams)]
        actions: dict[str, Callable[[], object]] = {
            "decided a pairing": lambda: admin.rule_pairing(result.pairing, name, "appeal"),
            "let a team withdraw": lambda: admin.withdraw_team(name, "ill"),
            "renamed a team": lambda: admin.rename_team(name, f"{name}*"),
            "took something back": admin.undo,
        }
        action_name = self.rng.choice([*actions])
        with suppress(ConfigError):  # there is nothing to take back, or it has withdrawn
            actions[action_name]()
            self._log_incident(f"the organiser {action_name}")

    def _start_second_director(self) -> None:
        """Start a second director, which must be refused."""
        try:
            with lock_contest(self.folder, "run"):
                self.faults.append("A second director could begin.")
        except ConfigError:
            self._log_incident("a second director was refused")

    def _kill_team(self) -> None:
        team, seconds = self._disturb_random_team("killed")
        self.stopped_teams.add(team.id)
        self.scheduler.kill(team.process)
        self.sleep(seconds)
        self.stopped_teams.discard(team.id)
        if not self.is_done:
            self._start_team(team)

    def _freeze_team(self) -> None:
        team, seconds = self._disturb_random_team("frozen")
        team.process.frozen_until = self.scheduler.monotonic() + seconds
        self.sleep(seconds)

    def _disturb_random_team(self, incident_name: str) -> tuple[SimulatedTeam, float]:
        team = self.rng.choice([*self._punctual_teams()])
        seconds = self.rng.uniform(0.2, self.config.turn_seconds * 2)
        self._log_incident(incident_name, team, seconds)
        return team, seconds

    def _log_incident(
        self, incident_name: str, team: SimulatedTeam | None = None, seconds: float = 0
    ) -> None:
        self.record_incident(incident_name, ALL_TEAMS if team is None else team.id, seconds)
        self.record("world", incident_name, "" if team is None else team.name)

    def _check_contest(self) -> None:
        """Compare the contest's results and our bots' logs with the arena's matches."""
        records, lobby = self.records, self.arena.arena.lobby
        self.result = contest_checker.contest_record(
            records, ((match, lobby.move_history(match.id)) for match in lobby.all_matches())
        )
        self.faults += contest_checker.violations(self.result, self.incidents[ALL_TEAMS])
        for match, _ in self.result.matches:
            for team in {*match.pairing.players} & self.bot_users:
                check = self.check_match(match.id, team, self.stores[team].log)
                for violation in (*check.violations, *check.refused):
                    self.faults.append(f"match {check.match} of {self._name(team)}: {violation}")
        self._check_forced_turns()
        for team in self.teams:
            if team.kind is ATTACKER:
                self._check_attacks(team)
        standings, names = records.standings(), records.team_names_with_removed()
        self.champion = ", ".join(names[team] for team in standings[0]) if standings else "nobody"

    def _check_attacks(self, team: SimulatedTeam) -> None:
        """Check that no attack succeeded and that each was reported to the organiser."""
        self.listening_socket.close()
        self.attacks = Counter(
            kind for message in self.blocked_attacks for kind in EXPECTED_ERRORS if kind in message
        )
        if any("ESCAPED" in message for message in self.blocked_attacks):
            self.faults.append("The submission that attacks has escaped from its sandbox.")
        if unreported := [kind for kind in EXPECTED_ERRORS if kind not in self.attacks]:
            self.faults.append(f"Nothing was told of attacks: {', '.join(unreported)}.")
        reported_counts = {
            team_id: failure.count for team_id, failure in self.records.faults_by_team().items()
        }
        if reported_counts != {team.id: len(self.blocked_attacks)}:
            self.faults.append(
                f"The organiser was told of {reported_counts}, not "
                f"{len(self.blocked_attacks)} times."
            )

    def _check_forced_turns(self) -> None:
        """Count forced turns by their reason; a forced turn without a reason is a fault."""
        expected_lateness = {
            team.id: team.kind.expected_lateness
            for team in self.teams
            if team.kind.expected_lateness is not None
        }
        for forced in contest_checker.forced_turns(self.result):
            reason = contest_checker.excuse_for(forced, expected_lateness, self.incidents)
            if reason is None and forced.team in self.bot_users:
                incidents = [*self.incidents[""], *self.incidents[forced.match]]
                reason = next(iter(incidents_during(incidents, forced.begin, forced.end)), None)
            self.late_turns[reason or "without a reason"] += 1
            if reason is None:
                number = self.match_number(forced.match)
                self.faults.append(
                    f"A turn of {self._name(forced.team)} was ended by force in match {number} at "
                    f"{(forced.end - START).total_seconds():.1f} s, and nothing had happened to it."
                )

    def _name(self, team: str) -> str:
        return next(candidate.name for candidate in self.teams if candidate.id == team)


def report_text(contest: ContestScenario) -> str:
    config, record, outcome = contest.config, contest.result, contest.outcome
    cup, practice = (
        record.matches_with_tag(tag) for tag in (record.settings.name, record.settings.practice_tag)
    )
    director_count = sum(team.kind.strategy is not None for team in contest.teams)
    hours = sum((moves[-1].at - match.started_at) / HOUR for match, moves in record.matches)
    attacks = f"as it was told of: {counts_text(contest.attacks)}"
    action_count = sum(match.action_count for match in outcome.match_checks)
    return f"""\
teams: {len(contest.teams)}, {director_count} played by the director; \
{config.matches} matches a pairing, {config.turn_seconds:g} s a turn, seed {config.seed}
practice: {len(practice)} matches; cup: {len(record.results)} pairings, {len(cup)} matches, \
{sum(len(moves) for _, moves in cup)} moves, won by {contest.champion}
{outcome.minutes:.1f} minutes, {outcome.request_counts.total()} requests; {hours:.1f} match-hours, \
{hours * 3600 / max(outcome.cpu_seconds, 1):.0f} for an hour of a processor
our bot: {outcome.finished_count} matches, {action_count} actions
turns ended by force: {counts_text(contest.late_turns)}
what happened: {counts_text(outcome.fault_counts)}
the submission that attacks, {attacks if has_sandbox() else "is none: no bubblewrap is here"}
longest time without any move: {contest_checker.longest_standstill(record):.1f} s
replay {outcome.trace_digest[:16]}"""


def counts_text(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"


def run_contest(config: ContestConfig, replay: Path | None = None) -> ContestScenario:
    with run_folder(replay) as (folder, log_line):
        contest = ContestScenario(config, folder, log_line)
        contest.play()
    return contest


def main(
    config: Annotated[ContestConfig, Parameter(name="*")] = ContestConfig(),
    *,
    replay: Path | None = None,
) -> int:
    """Rehearse a contest, and write every step down; a seed is told where none is given."""
    logging.disable()
    contest = run_contest(config, replay)
    verdict = "The result is not whole." if contest.faults else "The result is whole."
    print(report_text(contest), *contest.faults, verdict, sep="\n")  # noqa: T201 - a command
    return 1 if contest.faults else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
