"""A whole contest, rehearsed on virtual time: practice, a cup, and all that goes wrong in one.

python -m fault_simulation.contest_simulation [--teams 20] [--matches 3] [--turn 5] [--seed 7]
[--replay FILE]

Teams that the director plays, our own bot, the starter, clients unlike ours, a slow team, one that
hurries, one with a wrong password, one that never comes and one that freezes practise, then play a
double elimination. The contest's process (director, arena and the teams played there) and the
teams' programs are killed and frozen, our bot's network fails, the organiser pauses the contest,
decides pairings, lets teams withdraw, renames them and takes that back, a second director is
started, a submission attacks, and a spectator looks at its pages. Exits with 0 only if the result
is whole: every pairing decided, every team with its two lives, no match lost or counted twice, our
bot's logs equal to the arena's history, turns ended by force only of who was late, dead, killed or
frozen, the organiser told of each kind of attack, and every page answered.
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
from cardsharp.core.credentials import Credentials, digest_ha1
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games.deadmansdraw.arena.access.throttling import MAX_PER_ADDRESS
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.contest.page_routes import ContestPages
from cardsharp.play.catalog import get_game
from cardsharp_tools.contest.contest_arena import RETRY_INTERVAL, LoggingMatchHost
from cardsharp_tools.contest.contest_lock import lock_contest
from cardsharp_tools.contest.contest_process import run_steps
from cardsharp_tools.contest.local_match_host import STEP_INTERVAL_SECONDS
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

STARTING = 1.0  # seconds until a contest that was killed answers again
POLL_SECONDS = 10.0  # seconds between two looks of a spectator
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

ALL = "all"  # whom it befalls that is no team
PAGES = ("/contest", "/contest/running", "/matches/statistics?tag=cup", "/api/matches?condensed=1")


@dataclass(frozen=True)
class ContestConfig(FaultSimulationConfig):
    """Which contest is held; times in seconds."""

    matches: int = 3
    concurrency: int = 0
    turn_seconds: float = 5
    rate_limit: Annotated[int | None, Parameter("--limit")] = MAX_PER_ADDRESS
    fault_rate: Annotated[float, Parameter("--rate")] = 0.01
    trouble_interval: Annotated[float | None, Parameter("--every")] = 8
    seed: int = field(default_factory=partial(randbelow, 10**6))
    teams: int = 20
    practice_seconds: Annotated[float, Parameter("--practice")] = 60


class ContestScenario(FaultSimulation):
    """A founded contest with its teams, and whoever brings about troubles."""

    config: ContestConfig

    def __init__(
        self, config: ContestConfig, folder: Path, log_line: Callable[[str], object]
    ) -> None:
        self.folder, self.faults = folder / "cup", list[str]()
        settings = ContestSettings(
            "cup", matches=config.matches, timeout=config.turn_seconds, seed=str(config.seed)
        )
        self.records = create_contest_in(self.folder, settings)
        entered = [
            (f"{n:024x}", *entrant) for n, entrant in enumerate(choose_entrants(config.teams), 1)
        ]
        words = {team: f"word-{team}" for team, *_ in entered}
        players = [
            {"_id": team, "name": name, "password": words[team]} for team, name, _ in entered
        ]
        (folder / "players.json").write_text(json.dumps(players))
        pages = ContestPages(lambda: ContestRepository(self.records.documents))
        super().__init__(config, folder, log_line, data=folder / "arena.db", pages=pages)
        self.rng.shuffle(entered)
        for team, name, kind in entered:
            self.records.append_team(
                TeamEntry(team, name, digest_ha1(team, words[team]), kind.strategy)
            )
            if kind is ATTACKER:
                self._submit(team, folder / "players.json")
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
            for team, _, kind in entered
            if kind.bot
        }
        self.bot_users = {*self.stores}
        self.network = ArenaNetwork(self)
        tags = f"{settings.name},{settings.practice_tag}"
        self.teams = [
            SimulatedTeam(team, name, kind, words[team], self, self.network, tags, Process(name))
            for team, name, kind in entered
        ]

    def play(self) -> None:
        """Practice, then the cup; judged at its end."""
        for team in self.teams:
            self._start(team)
            self._befall("had just started", team, lasts=5)
        self._open()
        for work in (self._organise, self._trouble, self._spectate):
            self.scheduler.start_thread(work)
        sleeping = SimpleNamespace(sleep=self.sleep)
        with mock.patch("support.third_party_clients.time", sleeping), ExitStack() as stack:
            stack.callback(self.records.close)
            for stores in self.stores.values():
                stack.callback(stores.close)
            self.run_to_end()

    def _open(self) -> None:
        """Start the contest's process, or start it again."""
        self.contest_process = Process("contest")
        works = [self._direct, self._end_late_turns]
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

    def _direct(self) -> None:
        """Run the director: `contest practice`, and then `contest run --seed-by-practice`."""
        pause = partial(self.sleep, STEP_INTERVAL_SECONDS)
        with (
            lock_contest(self.folder, "run"),
            open_contest_in(self.folder) as records,
            self._client(Credentials(ADMIN, ADMIN_PASSWORD)) as at,
        ):
            tables = LoggingMatchHost(at, OpenContest(self.folder, records))
            course = ContestRunner(records, tables, self.scheduler.now)
            if records.stage is ContestStage.OPEN:
                remaining_time = timedelta(
                    seconds=self.config.practice_seconds - self.scheduler.monotonic()
                )
                records.set_practice_until(self.scheduler.now() + remaining_time)
            for _ in run_steps(course.step, lambda: records.practice_until is None, pause):
                pass
            if records.stage is ContestStage.OPEN and records.practice_matches():
                records.set_seeding([row.team for row in practice_ladder(records)])
            for team in self.teams:
                if team.kind.freezes:
                    team.process.frozen_until = float("inf")
            records.start_contest()
            for _ in run_steps(course.step, lambda: records.stage is ContestStage.OVER, pause):
                pass
        self.is_over = True

    def _end_late_turns(self) -> None:
        while True:
            late = self.arena.arena.referee.end_overdue_turns(grace=timedelta(seconds=1))
            self.scheduler.change_count += bool(late)
            self.sleep(1)

    def _play_in_director(self, team: SimulatedTeam) -> None:
        played = resolve_team_strategy(parse_strategy(team.kind.strategy), self.folder, team.id)
        order = OpponentConfig(URL, team.id, team.password, played, str(self.config.seed))
        while True:
            try:
                with self._client(team.credentials) as client:
                    OpponentClient(client, order).play_forever()
            except CardsharpError as error:
                if team.kind is ATTACKER:
                    TeamFailureReporter(OpenContest(self.folder, self.records))(team.id, error)
                    self.blocked_attacks.append(str(error))
                self.sleep(RETRY_INTERVAL.total_seconds())

    def _submit(self, team: str, secret: Path) -> None:
        """Submit what attacks the file of passwords, and a port that listens."""
        self.listening = socket.create_server(("127.0.0.1", 0))
        target = f"{secret}\n{self.listening.getsockname()[1]}".encode()
        files = {"bot.py": MALICIOUS_BOT.read_bytes(), "target": target}
        team_submissions(self.folder, team).add_version(files, get_game(None))

    def _start(self, team: SimulatedTeam) -> None:
        kind = team.kind
        if kind.bot:
            stores = self.stores[team.id]
            bench = MachineSetup(self, self.network, stores, team.credentials, kind.bot)
            team.process = Machine(team.name, bench)
        elif kind.run is not None:
            team.process = Process(team.name)
            self.scheduler.start_thread(partial(kind.run, team), team.process)

    def _organise(self) -> None:
        """See that it goes on, and end everything when it is over."""
        moves, since = -1, self.scheduler.monotonic()
        while not self.is_over:
            self.sleep(1)
            self._restart_dead_machines()
            move_count = sum(match.moves for match in self.arena.arena.lobby.all_matches())
            if move_count != moves:
                moves, since = move_count, self.scheduler.monotonic()
            if self.scheduler.monotonic() - since > STALL_SECONDS:
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
        self._judge()

    def _restart_dead_machines(self) -> None:
        """A machine of ours dies of a fault on its way, too."""
        for team in self.teams:
            if team.kind.bot and team.process.is_dead and team.id not in self.stopped_teams:
                self.scheduler.kill(team.process)
                self._befall("died", team, lasts=1)
                self._start(team)

    def _spectate(self) -> None:
        """Look at the pages, as anybody may."""
        while not self.is_over:
            self.sleep(POLL_SECONDS)
            for page in PAGES:
                request, starts = requests.Request("GET", URL + page).prepare(), self.arena_restarts
                try:
                    status = self.network.forward(
                        request, None, Timeout(total=POLL_SECONDS), 0
                    ).status
                except requests.RequestException:
                    self.outcome.fault_counts["page missed"] += 1
                    continue
                if status != requests.codes.ok and starts == self.arena_restarts:
                    self.faults.append(f"{page} was answered by {status}.")

    def _trouble(self) -> None:
        """Do one thing after the other, never two at once; the first is a death."""
        deeds = [self._kill, self._freeze, self._pause, self._decide, self._direct_twice]
        if any(self._healthy()):
            deeds += [self._kill_team, self._freeze_team]
        deed = self._kill
        while True:
            self.sleep(self.rng.expovariate(1 / (self.config.trouble_interval or 1)))
            if self.is_over or self.config.trouble_interval is None:
                return
            deed()
            deed = self.rng.choice(deeds)

    def _healthy(self) -> Iterator[SimulatedTeam]:
        """Programs that are neither late nor frozen anyway."""
        outside = (team for team in self.teams if team.kind.run or team.kind.bot)
        return (team for team in outside if team.kind.expected_lateness is None)

    def _kill(self) -> None:
        self._befall("the contest was killed")
        self.scheduler.kill(self.contest_process)
        self.arena_restarts += 1
        self.down_until = self.scheduler.monotonic() + STARTING
        self.scheduler.change_count += 1
        self.sleep(STARTING)
        self.arena.restart()  # from when on every turn has all its time again
        self.scheduler.change_count += 1
        if not self.is_over:
            self._open()

    def _freeze(self) -> None:
        lasts = self.rng.uniform(0.2, self.config.turn_seconds * 2)
        self._befall("the contest was frozen", lasts=lasts)
        self.contest_process.frozen_until = self.cut_until = self.scheduler.monotonic() + lasts
        self.sleep(lasts)

    def _pause(self) -> None:
        lasts = self.rng.uniform(0.2, self.config.turn_seconds)
        self.records.set_paused(paused=True)
        self._befall(contest_checker.PAUSED, lasts=lasts)
        self.sleep(lasts)
        self.records.set_paused(paused=False)

    def _decide(self) -> None:
        """Do what an organiser may do in mid-cup, also to pairings that are already decided."""
        results, desk = self.records.results(), ContestAdmin(self.records, self.scheduler.now)
        if not results:
            return
        result = self.rng.choice(results)
        name = self.records.team_names_with_removed()[self.rng.choice(result.teams)]
        deeds: dict[str, Callable[[], object]] = {
            "decided a pairing": lambda: desk.rule_pairing(result.pairing, name, "appeal"),
            "let a team withdraw": lambda: desk.withdraw_team(name, "ill"),
            "renamed a team": lambda: desk.rename_team(name, f"{name}*"),
            "took something back": desk.undo,
        }
        deed = self.rng.choice([*deeds])
        with suppress(ConfigError):  # there is nothing to take back, or it has withdrawn
            deeds[deed]()
            self._befall(f"the organiser {deed}")

    def _direct_twice(self) -> None:
        """Start a second director, which must be refused."""
        try:
            with lock_contest(self.folder, "run"):
                self.faults.append("A second director could begin.")
        except ConfigError:
            self._befall("a second director was refused")

    def _kill_team(self) -> None:
        team, lasts = self._befallen("killed")
        self.stopped_teams.add(team.id)
        self.scheduler.kill(team.process)
        self.sleep(lasts)
        self.stopped_teams.discard(team.id)
        if not self.is_done:
            self._start(team)

    def _freeze_team(self) -> None:
        team, lasts = self._befallen("frozen")
        team.process.frozen_until = self.scheduler.monotonic() + lasts
        self.sleep(lasts)

    def _befallen(self, incident_name: str) -> tuple[SimulatedTeam, float]:
        team = self.rng.choice([*self._healthy()])
        lasts = self.rng.uniform(0.2, self.config.turn_seconds * 2)
        self._befall(incident_name, team, lasts)
        return team, lasts

    def _befall(
        self, incident_name: str, team: SimulatedTeam | None = None, lasts: float = 0
    ) -> None:
        self.record_incident(incident_name, ALL if team is None else team.id, lasts)
        self.record("world", incident_name, "" if team is None else team.name)

    def _judge(self) -> None:
        """Hold the contest's results and our bots' logs against the arena's own matches."""
        records, lobby = self.records, self.arena.arena.lobby
        self.result = contest_checker.contest_record(
            records, ((match, lobby.move_history(match.id)) for match in lobby.all_matches())
        )
        self.faults += contest_checker.violations(self.result, self.incidents[ALL])
        for match, _ in self.result.matches:
            for team in {*match.pairing.players} & self.bot_users:
                verdict = self.check_match(match.id, team, self.stores[team].log)
                for broken in (*verdict.violations, *verdict.refused):
                    self.faults.append(f"match {verdict.match} of {self._name(team)}: {broken}")
        self._judge_late()
        for team in self.teams:
            if team.kind is ATTACKER:
                self._judge_attacks(team)
        places, names = records.standings(), records.team_names_with_removed()
        self.champion = ", ".join(names[team] for team in places[0]) if places else "nobody"

    def _judge_attacks(self, team: SimulatedTeam) -> None:
        """No attack may succeed, and of each the organiser must have been told."""
        self.listening.close()
        self.attacks = Counter(
            kind for message in self.blocked_attacks for kind in EXPECTED_ERRORS if kind in message
        )
        if any("ESCAPED" in message for message in self.blocked_attacks):
            self.faults.append("The submission that attacks has escaped from its sandbox.")
        if silent := [kind for kind in EXPECTED_ERRORS if kind not in self.attacks]:
            self.faults.append(f"Nothing was told of attacks: {', '.join(silent)}.")
        reported_counts = {
            team_id: failure.count for team_id, failure in self.records.faults_by_team().items()
        }
        if reported_counts != {team.id: len(self.blocked_attacks)}:
            self.faults.append(
                f"The organiser was told of {reported_counts}, not "
                f"{len(self.blocked_attacks)} times."
            )

    def _judge_late(self) -> None:
        """Say why turns were ended by force; those without a reason are faults."""
        always = {
            team.id: team.kind.expected_lateness
            for team in self.teams
            if team.kind.expected_lateness is not None
        }
        for forced in contest_checker.forced_turns(self.result):
            reason = contest_checker.excuse_for(forced, always, self.incidents)
            if reason is None and forced.team in self.bot_users:
                befell = [*self.incidents[""], *self.incidents[forced.match]]
                reason = next(iter(incidents_during(befell, forced.begin, forced.end)), None)
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
    wish, played, outcome = contest.config, contest.result, contest.outcome
    cup, practice = (
        played.matches_with_tag(tag) for tag in (played.settings.name, played.settings.practice_tag)
    )
    director_count = sum(team.kind.strategy is not None for team in contest.teams)
    hours = sum((moves[-1].at - match.started_at) / HOUR for match, moves in played.matches)
    attacks = f"as it was told of: {counts_text(contest.attacks)}"
    action_count = sum(match.action_count for match in outcome.match_checks)
    return f"""\
teams: {len(contest.teams)}, {director_count} played by the director; \
{wish.matches} matches a pairing, {wish.turn_seconds:g} s a turn, seed {wish.seed}
practice: {len(practice)} matches; cup: {len(played.results)} pairings, {len(cup)} matches, \
{sum(len(moves) for _, moves in cup)} moves, won by {contest.champion}
{outcome.minutes:.1f} minutes, {outcome.request_counts.total()} requests; {hours:.1f} match-hours, \
{hours * 3600 / max(outcome.cpu_seconds, 1):.0f} for an hour of a processor
our bot: {outcome.finished_count} matches, {action_count} actions
turns ended by force: {counts_text(contest.late_turns)}
what happened: {counts_text(outcome.fault_counts)}
the submission that attacks, {attacks if has_sandbox() else "is none: no bubblewrap is here"}
longest time without any move: {contest_checker.longest_standstill(played):.1f} s
replay {outcome.trace_digest[:16]}"""


def counts_text(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"


def run_contest(config: ContestConfig, replay: Path | None = None) -> ContestScenario:
    with run_folder(replay) as (folder, say):
        contest = ContestScenario(config, folder, say)
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
