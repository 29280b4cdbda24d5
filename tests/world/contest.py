"""A whole contest, rehearsed on virtual time: practice, a cup, and all that goes wrong in one.

python -m world.contest [--teams 20] [--matches 3] [--turn 5] [--seed 7] [--replay FILE]

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
from support.arena import ADMIN, ADMIN_PASSWORD
from urllib3.util import Timeout

from cardsharp.access import Credentials, ha1
from cardsharp.contact import Contact
from cardsharp.contest.acts import Desk
from cardsharp.contest.director import Course
from cardsharp.contest.entries import Entrant, Settings, Stage
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.practice import ladder
from cardsharp.contest.sqlite import found_in, kept_in
from cardsharp.deadmansdraw.arena.limits import PER_ADDRESS
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.contest.page_routes import ContestPages
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games import game
from workbench.contest.hall import directed, steps
from workbench.contest.home import AGAIN, KeptTables
from workbench.contest.tables import PAUSE, Reporter
from workbench.stage.opponent import Opponent, Order
from workbench.submission import SANDBOXED, played_as, submitted
from world import contest_judge
from world.arena import URL
from world.clock import START
from world.judge import why
from world.machines import LIMITS, Bench, Station
from world.road import Road
from world.schedule import Process
from world.stores import Stores, at_home
from world.teams import ATTACKER, Team, entering, has_sandbox
from world.world import Wish, World, stage

STARTING = 1.0  # seconds until a contest that was killed answers again
LOOK = 10.0  # seconds between two looks of a spectator
STALL = 300.0  # seconds without a move after which a contest is given up
HOUR = timedelta(hours=1)
AFTER = 60  # seconds at most that our bots have for their logs when the contest is over

ATTACK = Path(__file__).with_name("attacker.py")
REPELLED = "FileNotFoundError", "ConnectionRefusedError", "BlockingIOError", "ended the process"
"""What is told of each of its attacks."""

ALL = "all"  # whom it befalls that is no team
PAGES = ("/contest", "/contest/running", "/matches/statistics?tag=cup", "/api/matches?condensed=1")


@dataclass(frozen=True)
class Rehearsal(Wish):
    """Which contest is held; times in seconds."""

    matches: int = 3
    at_once: int = 0
    turn: float = 5
    limit: int | None = PER_ADDRESS
    rate: float = 0.01
    every: float | None = 8
    seed: int = field(default_factory=partial(randbelow, 10**6))
    teams: int = 20
    practice: float = 60


class Contest(World):
    """A founded contest with its teams, and whoever brings about troubles."""

    wish: Rehearsal

    def __init__(self, wish: Rehearsal, folder: Path, say: Callable[[str], object]) -> None:
        self.folder, self.faults = folder / "cup", list[str]()
        settings = Settings("cup", matches=wish.matches, timeout=wish.turn, seed=str(wish.seed))
        self.records = found_in(self.folder, settings)
        entered = [(f"{n:024x}", *one) for n, one in enumerate(entering(wish.teams), 1)]
        words = {team: f"word-{team}" for team, *_ in entered}
        players = [
            {"_id": team, "name": name, "password": words[team]} for team, name, _ in entered
        ]
        (folder / "players.json").write_text(json.dumps(players))
        pages = ContestPages(lambda: ContestsKept(self.records.documents))
        super().__init__(wish, folder, say, data=folder / "arena.db", pages=pages)
        self.chance.shuffle(entered)
        for team, name, kind in entered:
            self.records.add(Entrant(team, name, ha1(team, words[team]), kind.strategy))
            if kind is ATTACKER:
                self._submit(team, folder / "players.json")
        self.hall, self.over, self.down = Process("contest"), False, set[str]()
        self.champion, self.repelled, self.attacks = "nobody", list[str](), Counter[str]()
        self.late = Counter[str]()
        self.played: contest_judge.Played
        self.stores: dict[str, Stores] = {
            team: at_home(folder / team, self.time) for team, _, kind in entered if kind.bot
        }
        self.ours = {*self.stores}
        self.road = Road(self)
        tags = f"{settings.name},{settings.practice}"
        self.teams = [
            Team(team, name, kind, words[team], self, self.road, tags, Process(name))
            for team, name, kind in entered
        ]

    def play(self) -> None:
        """Practice, then the cup; judged at its end."""
        for team in self.teams:
            self._start(team)
            self._befall("had just started", team, lasts=5)
        self._open()
        for work in (self._organise, self._trouble, self._spectate):
            self.time.spawn(work)
        sleeping = SimpleNamespace(sleep=self.sleep)
        with mock.patch("support.strangers.time", sleeping), ExitStack() as stack:
            stack.callback(self.records.close)
            for stores in self.stores.values():
                stack.callback(stores.close)
            self.run()

    def _open(self) -> None:
        """Start the contest's process, or start it again."""
        self.hall = Process("contest")
        works = [self._direct, self._end_late_turns]
        works += [partial(self._play_here, team) for team in self.teams if team.kind.strategy]
        for work in works:
            self.time.spawn(work, self.hall)

    def _client(self, player: Credentials) -> ArenaClient:
        client = ArenaClient(URL, player, LIMITS, contact=Contact(self.time))
        client._exchange._session.mount("http://", self.road.wire(self.hall))
        return client

    def _direct(self) -> None:
        """What `contest practice` does, and then `contest run --seed-by-practice`."""
        pause = partial(self.sleep, PAUSE)
        with (
            directed(self.folder, "run"),
            kept_in(self.folder) as records,
            self._client(Credentials(ADMIN, ADMIN_PASSWORD)) as at,
        ):
            tables = KeptTables(at, self.folder)
            course = Course(records, tables, self.time.now)
            if records.stage is Stage.OPEN:
                left = timedelta(seconds=self.wish.practice - self.time.monotonic())
                records.practise(self.time.now() + left)
            for _ in steps(course.step, lambda: records.practises_until is None, pause):
                pass
            if records.stage is Stage.OPEN and records.meetings():
                records.seed([row.team for row in ladder(records)])
            for team in self.teams:
                if team.kind.freezes:
                    team.process.frozen = float("inf")
            records.begin()
            for _ in steps(course.step, lambda: records.stage is Stage.OVER, pause):
                pass
        self.over = True

    def _end_late_turns(self) -> None:
        while True:
            late = self.arena.arena.referee.end_overdue_turns(grace=timedelta(seconds=1))
            self.time.news += bool(late)
            self.sleep(1)

    def _play_here(self, team: Team) -> None:
        played = played_as(team.kind.strategy, self.folder, team.id)
        order = Order(URL, team.id, team.password, played, str(self.wish.seed))
        while True:
            try:
                with self._client(team.credentials) as client:
                    Opponent(client, order).play_on()
            except CardsharpError as error:
                if team.kind is ATTACKER:
                    Reporter(self.records)(team.id, error)
                    self.repelled.append(str(error))
                self.sleep(AGAIN.total_seconds())

    def _submit(self, team: str, secret: Path) -> None:
        """Submit what attacks the file of passwords, and a port that listens."""
        self.listening = socket.create_server(("127.0.0.1", 0))
        target = f"{secret}\n{self.listening.getsockname()[1]}".encode()
        files = {"bot.py": ATTACK.read_bytes(), "target": target}
        submitted(self.folder, team, SANDBOXED).submit(files, game(None))

    def _start(self, team: Team) -> None:
        kind = team.kind
        if kind.bot:
            stores = self.stores[team.id]
            bench = Bench(self, self.road, stores, team.credentials, kind.bot)
            team.process = Station(team.name, bench)
        elif kind.plays is not None:
            team.process = Process(team.name)
            self.time.spawn(partial(kind.plays, team), team.process)

    def _organise(self) -> None:
        """See that it goes on, and end everything when it is over."""
        moves, since = -1, self.time.monotonic()
        while not self.over:
            self.sleep(1)
            self._start_what_has_died()
            made = sum(match.moves for match in self.arena.arena.lobby.all())
            if made != moves:
                moves, since = made, self.time.monotonic()
            if self.time.monotonic() - since > STALL:
                self.faults.append(f"No move was made for {STALL:.0f} s.")
                break
        for _ in range(AFTER):
            if any(stores.log.running() for stores in self.stores.values()):
                self.sleep(1)
        self.done = True
        self.time.news += 1
        for process in (self.hall, *(team.process for team in self.teams)):
            process.frozen = 0
            self.time.kill(process)
        self._judge()

    def _start_what_has_died(self) -> None:
        """A machine of ours dies of a fault on its way, too."""
        for team in self.teams:
            if team.kind.bot and team.process.dead and team.id not in self.down:
                self.time.kill(team.process)
                self._befall("died", team, lasts=1)
                self._start(team)

    def _spectate(self) -> None:
        """Look at the pages, as anybody may."""
        while not self.over:
            self.sleep(LOOK)
            for page in PAGES:
                asked, starts = requests.Request("GET", URL + page).prepare(), self.starts
                try:
                    status = self.road.carry(asked, None, Timeout(total=LOOK), 0).status
                except requests.RequestException:
                    self.outcome.befell["page missed"] += 1
                    continue
                if status != requests.codes.ok and starts == self.starts:
                    self.faults.append(f"{page} was answered by {status}.")

    def _trouble(self) -> None:
        """Do one thing after the other, never two at once; the first is a death."""
        deeds = [self._kill, self._freeze, self._pause, self._decide, self._direct_twice]
        if any(self._healthy()):
            deeds += [self._kill_team, self._freeze_team]
        deed = self._kill
        while True:
            self.sleep(self.chance.expovariate(1 / (self.wish.every or 1)))
            if self.over or self.wish.every is None:
                return
            deed()
            deed = self.chance.choice(deeds)

    def _healthy(self) -> Iterator[Team]:
        """Programs that are neither late nor frozen anyway."""
        outside = (team for team in self.teams if team.kind.plays or team.kind.bot)
        return (team for team in outside if team.kind.late is None)

    def _kill(self) -> None:
        self._befall("the contest was killed")
        self.time.kill(self.hall)
        self.starts += 1
        self.down_until = self.time.monotonic() + STARTING
        self.time.news += 1
        self.sleep(STARTING)
        self.arena.restart()  # from when on every turn has all its time again
        self.time.news += 1
        if not self.over:
            self._open()

    def _freeze(self) -> None:
        lasts = self.chance.uniform(0.2, self.wish.turn * 2)
        self._befall("the contest was frozen", lasts=lasts)
        self.hall.frozen = self.cut_until = self.time.monotonic() + lasts
        self.sleep(lasts)

    def _pause(self) -> None:
        lasts = self.chance.uniform(0.2, self.wish.turn)
        self.records.pause(on=True)
        self._befall(contest_judge.PAUSED, lasts=lasts)
        self.sleep(lasts)
        self.records.pause(on=False)

    def _decide(self) -> None:
        """What an organiser does in mid-cup, to pairings that are decided as well."""
        results, desk = self.records.results(), Desk(self.records, self.time.now)
        if not results:
            return
        one = self.chance.choice(results)
        name = self.records.names()[self.chance.choice(one.teams)]
        deeds: dict[str, Callable[[], object]] = {
            "decided a pairing": lambda: desk.rule(one.pairing, name, "appeal"),
            "let a team withdraw": lambda: desk.withdraw(name, "ill"),
            "renamed a team": lambda: desk.rename(name, f"{name}*"),
            "took something back": desk.undo,
        }
        what = self.chance.choice([*deeds])
        with suppress(ConfigError):  # there is nothing to take back, or it has withdrawn
            deeds[what]()
            self._befall(f"the organiser {what}")

    def _direct_twice(self) -> None:
        """Start a second director, which must be refused."""
        try:
            with directed(self.folder, "run"):
                self.faults.append("A second director could begin.")
        except ConfigError:
            self._befall("a second director was refused")

    def _kill_team(self) -> None:
        team, lasts = self._befallen("killed")
        self.down.add(team.id)
        self.time.kill(team.process)
        self.sleep(lasts)
        self.down.discard(team.id)
        if not self.done:
            self._start(team)

    def _freeze_team(self) -> None:
        team, lasts = self._befallen("frozen")
        team.process.frozen = self.time.monotonic() + lasts
        self.sleep(lasts)

    def _befallen(self, what: str) -> tuple[Team, float]:
        team = self.chance.choice([*self._healthy()])
        lasts = self.chance.uniform(0.2, self.wish.turn * 2)
        self._befall(what, team, lasts)
        return team, lasts

    def _befall(self, what: str, team: Team | None = None, lasts: float = 0) -> None:
        self.suffer(what, ALL if team is None else team.id, lasts)
        self.tell("world", what, "" if team is None else team.name)

    def _judge(self) -> None:
        """Hold the contest's results and our bots' logs against the arena's own matches."""
        records, lobby = self.records, self.arena.arena.lobby
        self.played = contest_judge.played_in(
            records, ((match, lobby.history(match.id)) for match in lobby.all())
        )
        self.faults += contest_judge.faults_of(self.played, self.suffered[ALL])
        for match, _ in self.played.matches:
            for team in {*match.pairing.players} & self.ours:
                verdict = self.judged(match.id, team, self.stores[team].log)
                for broken in (*verdict.wrong, *verdict.refused):
                    self.faults.append(f"match {verdict.match} of {self._name(team)}: {broken}")
        self._judge_late()
        for team in self.teams:
            if team.kind is ATTACKER:
                self._judge_attacks(team)
        places, names = records.table(), records.names()
        self.champion = ", ".join(names[team] for team in places[0]) if places else "nobody"

    def _judge_attacks(self, team: Team) -> None:
        """No attack may succeed, and of each the organiser must have been told."""
        self.listening.close()
        self.attacks = Counter(kind for what in self.repelled for kind in REPELLED if kind in what)
        if any("ESCAPED" in what for what in self.repelled):
            self.faults.append("The submission that attacks has escaped from its sandbox.")
        if silent := [kind for kind in REPELLED if kind not in self.attacks]:
            self.faults.append(f"Nothing was told of attacks: {', '.join(silent)}.")
        told = {one: found.count for one, found in self.records.faults().items()}
        if told != {team.id: len(self.repelled)}:
            self.faults.append(f"The organiser was told of {told}, not {len(self.repelled)} times.")

    def _judge_late(self) -> None:
        """Say why turns were ended by force; those without a reason are faults."""
        always = {team.id: team.kind.late for team in self.teams if team.kind.late is not None}
        for forced in contest_judge.forced_turns(self.played):
            reason = contest_judge.excuse_of(forced, always, self.suffered)
            if reason is None and forced.team in self.ours:
                befell = [*self.suffered[""], *self.suffered[forced.match]]
                reason = next(iter(why(befell, forced.begin, forced.end)), None)
            self.late[reason or "without a reason"] += 1
            if reason is None:
                number = self.number_of(forced.match)
                self.faults.append(
                    f"A turn of {self._name(forced.team)} was ended by force in match {number} at "
                    f"{(forced.end - START).total_seconds():.1f} s, and nothing had happened to it."
                )

    def _name(self, team: str) -> str:
        return next(one.name for one in self.teams if one.id == team)


def told(contest: Contest) -> str:
    wish, played, outcome = contest.wish, contest.played, contest.outcome
    cup, practice = (played.tagged(tag) for tag in (played.settings.name, played.settings.practice))
    here = sum(team.kind.strategy is not None for team in contest.teams)
    hours = sum((moves[-1].at - match.started_at) / HOUR for match, moves in played.matches)
    attacks = f"as it was told of: {listed(contest.attacks)}"
    return f"""\
teams: {len(contest.teams)}, {here} played by the director; {wish.matches} matches a pairing, \
{wish.turn:g} s a turn, seed {wish.seed}
practice: {len(practice)} matches; cup: {len(played.results)} pairings, {len(cup)} matches, \
{sum(len(moves) for _, moves in cup)} moves, won by {contest.champion}
{outcome.minutes:.1f} minutes, {outcome.asked.total()} requests; {hours:.1f} match-hours, \
{hours * 3600 / max(outcome.seconds, 1):.0f} for an hour of a processor
our bot: {outcome.ended} matches, {sum(one.actions for one in outcome.verdicts)} actions
turns ended by force: {listed(contest.late)}
what happened: {listed(outcome.befell)}
the submission that attacks, {attacks if has_sandbox() else "is none: no bubblewrap is here"}
longest time without any move: {contest_judge.longest_standstill(played):.1f} s
replay {outcome.replay[:16]}"""


def listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"


def rehearsed(wish: Rehearsal, replay: Path | None = None) -> Contest:
    with stage(replay) as (folder, say):
        contest = Contest(wish, folder, say)
        contest.play()
    return contest


def main(
    wish: Annotated[Rehearsal, cyclopts.Parameter(name="*")] = Rehearsal(),
    *,
    replay: Path | None = None,
) -> int:
    """Rehearse a contest, and write every step down; a seed is told where none is given."""
    logging.disable()
    contest = rehearsed(wish, replay)
    whole = "The result is not whole." if contest.faults else "The result is whole."
    print(told(contest), *contest.faults, whole, sep="\n")  # noqa: T201 - a command
    return 1 if contest.faults else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
