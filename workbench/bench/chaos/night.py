"""Matches under everything that can go wrong at once, and whether a promise was broken.

`python -m workbench.bench.chaos.night --matches 1000 --cloud embedded --seed 7` plays them against
a local arena. Machines of ours, each poller, queue and workers in one process, share a match log;
they are killed, frozen, and started anew with clocks that are wrong. A gateway cuts, delays, loses
and forges answers. The match log is locked, or DynamoDB and SQS of the emulator fail as well.

Exits with 1 when an action was missing, doubled or not meant, when a log differs from the arena's
history, when a match stands still, or when a turn was lost to a single fault. What the requests of
a match suffer is the same for the same seed; at which moment a machine dies is not.
"""

import os
import resource
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from rich.console import Console

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MatchLog
from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.deadmansdraw.arena.creation import DEFAULT_DRAW_DECK
from cardsharp.deadmansdraw.arena.dto import cards_json
from workbench.arena.server import ArenaServer
from workbench.bench.chaos.faults import FaultPlan
from workbench.bench.chaos.gateway import Gateway, Heard
from workbench.bench.chaos.judging import Evidence, Verdict, judge
from workbench.bench.chaos.machine import MEANT, Machine, Orders
from workbench.bench.chaos.nemesis import (
    SKEWS,
    CutOff,
    Fleet,
    Nemesis,
    Rhythm,
    SqliteStore,
    Store,
    Troubles,
)
from workbench.stage.clouds import Cloud, CloudKind, opened
from workbench.stage.following import has_ended
from workbench.stage.opponent_process import OpponentProcess
from workbench.stage.stage import Teams, order_of, variables_of
from workbench.stage.surroundings import environment

GLANCE = timedelta(milliseconds=200)
STALL = timedelta(minutes=2)
"""For so long a match may stand still before it is given up as stuck."""

WARM = 50
"""Matches after which everything is loaded; with fewer, sizes are compared with those after one."""

SAY = timedelta(seconds=30)
"""How often progress is told."""

ENDPOINT = "AWS_ENDPOINT_URL"

console = Console(highlight=False, soft_wrap=True)
app = cyclopts.App(help=__doc__, help_format="plaintext")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is played, and how hard it is made; `night` says what each means."""

    matches: int
    cloud: CloudKind
    seed: str
    rate: float
    every: float
    cards: int
    at_once: int
    machines: int
    strategy: str
    opponent: str
    turn_limit: float
    limit: int
    skew: bool

    @property
    def rhythm(self) -> Rhythm:
        """How the nemesis goes about it."""
        return Rhythm(self.every, SKEWS if self.skew else (0,), Random(self.seed))


@dataclass(frozen=True, slots=True)
class Size:
    """What a process holds: memory in MiB, and open handles."""

    memory: float
    handles: int

    @classmethod
    def of(cls, pid: int) -> "Size":
        """The size of a living process; Linux only."""
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        handles = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        return cls(pages * resource.getpagesize() / 2**20, handles)

    def __str__(self) -> str:
        return f"{self.memory:.0f} MiB and {self.handles} handles"


@dataclass
class Meant:
    """For which moves the accepted actions of each match were meant, as the gateway saw them."""

    moves: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def observe(self, asked: Heard, answer: Heard) -> None:
        """Note an action that the arena has carried out; a turn that it ended instead is none."""
        if asked.method == "POST" and answer.status == 200 and b'"Comment"' not in answer.body:  # noqa: PLR2004
            self.moves[asked.path.rpartition("/")[2]].append(asked.headers[MEANT.lower()])


@dataclass
class Report:
    """The verdicts on all matches, and what each long-lived process held after how many of them."""

    verdicts: list[Verdict] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    sizes: dict[str, dict[int, Size]] = field(default_factory=lambda: defaultdict(dict))
    seconds: float = 0

    @property
    def kept(self) -> bool:
        """Whether every promise was kept."""
        return not self.stuck and all(verdict.well for verdict in self.verdicts)

    def __str__(self) -> str:
        """A short line for progress."""
        wrong = sum(not verdict.well for verdict in self.verdicts) + len(self.stuck)
        pace = 60 * len(self.verdicts) / max(self.seconds, 1)
        lost = sum(len(verdict.lost) for verdict in self.verdicts)
        return (
            f"{len(self.verdicts)} matches, {pace:.0f} a minute, {lost} turns lost, {wrong} wrong"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What is at play: processes, the log that our machines share, the faults, what was seen."""

    arena: ArenaServer
    opponent: OpponentProcess
    log: MatchLog
    fleet: Fleet
    nemesis: Nemesis
    plan: FaultPlan
    meant: Meant

    def check(self) -> None:
        """Raise `CardsharpError` if a process has ended although nobody killed it."""
        self.opponent.check()
        self.fleet.check()


class Night:
    """Plays the matches of a setting on a stage."""

    def __init__(self, setting: Setting, stage: Stage) -> None:
        self.setting, self.stage, self.report = setting, stage, Report()
        self.teams = Teams.of_arena()
        self._moved: dict[str, tuple[int, float]] = {}

    def play(self) -> Iterator[Report]:
        """The report after each match that has ended; raises `CardsharpError` if all is in vain."""
        stage = self.stage
        begun, running, began = 0, list[str](), time.monotonic()
        while begun < self.setting.matches or running:
            while begun < self.setting.matches and len(running) < self.setting.at_once:
                running.append(self._begin(begun := begun + 1))
            time.sleep(GLANCE.total_seconds())
            stage.nemesis.act()
            stage.check()
            stage.arena.end_overdue_turns()
            for match_id in [i for i in running if self._is_over(i)]:
                running.remove(match_id)
                self._judge(match_id)
                self.report.seconds = time.monotonic() - began
                yield self.report
        stage.nemesis.rest()

    def _begin(self, number: int) -> str:
        """The id of a new match, of which the deck depends on the seed and its number."""
        chance = Random(f"{self.setting.seed}/{number}")
        pile = chance.sample(DEFAULT_DRAW_DECK, min(self.setting.cards, len(DEFAULT_DRAW_DECK)))
        match_id = self.stage.arena.create_match(
            (self.teams.us.id, self.teams.them.id),
            timeout=timedelta(seconds=self.setting.turn_limit),
            drawPile=cards_json(pile),
            randomSeed=f"{self.setting.seed}/{number}",
        )
        self.stage.plan.numbers[match_id] = number
        return match_id

    def _is_over(self, match_id: str) -> bool:
        """Whether a match is closed in the log, or stands still for too long."""
        if has_ended(self.stage.log, match_id):
            return True
        moves, since = self._moved.get(match_id, (-1, 0.0))
        now = time.monotonic()
        if now - since > STALL.total_seconds() / 4:
            count = self.stage.arena.look(match_id)["moveCount"]
            if count != moves:
                self._moved[match_id] = count, now
            elif now - since > STALL.total_seconds():
                self.report.stuck.append(match_id)
                return True
        return False

    def _judge(self, match_id: str) -> None:
        suffered = self.stage.plan.suffered(match_id)
        meant = self.stage.meant.moves.pop(match_id, [])
        self._moved.pop(match_id, None)
        if match_id in self.report.stuck:
            return
        evidence = Evidence(
            whole=self.stage.arena.look(match_id),
            meant=meant,
            suffered=suffered,
            us=self.teams.us.id,
        )
        self.report.verdicts.append(judge(evidence, self.stage.log))
        if len(self.report.verdicts) in {1, WARM}:
            self.weigh()

    def weigh(self) -> None:
        """Note what the bench, with its arena, and the machine that is never killed hold now."""
        sizes, matches = self.report.sizes, len(self.report.verdicts)
        sizes["arena and bench"][matches] = Size.of(os.getpid())
        sizes["first machine"][matches] = Size.of(self.stage.fleet.machines[0].pid)


@contextmanager
def prepared(setting: Setting, folder: Path) -> Iterator[Stage]:
    """The stage of a setting, until the end of the `with`; `folder` takes the files."""
    teams, password = Teams.of_arena(), secrets.token_urlsafe()
    plan, meant = FaultPlan(setting.seed, setting.rate), Meant()
    with ExitStack() as stack:
        arena = stack.enter_context(
            ArenaServer(
                ArenaConfig(
                    admin_password=password,
                    slow_down=setting.limit > 0,
                    per_user=setting.limit,
                    per_address=2 * setting.limit,
                    free=frozenset({teams.them.id}),
                )
            )
        )
        opponent = OpponentProcess(
            order_of(setting.opponent, arena.url, teams.them, setting.seed), folder / "opponent.log"
        )
        stack.callback(opponent.end)
        cloud = stack.enter_context(opened(setting.cloud, folder))
        stack.enter_context(environment(cloud.environment))
        log = build_log(cloud.store, SystemClock())
        stack.callback(log.close)
        gateway = stack.enter_context(Gateway(arena.url, plan.of_arena, meant.observe))
        store, cloud = _store(stack, plan, cloud)
        variables = _variables(setting, gateway.url, cloud)

        def start(number: int, skew: float) -> Machine:
            orders = Orders(
                log=str(folder / f"machine-{number}.log"),
                at_once=setting.at_once,
                breath=cloud.breath.total_seconds(),
                skew=skew,
            )
            return Machine(orders, variables)

        fleet = Fleet([start(number, 0) for number in range(setting.machines)], start)
        stack.callback(fleet.end)
        for machine in fleet.machines:
            machine.await_ready()
        opponent.await_ready()
        yield Stage(
            arena=arena,
            opponent=opponent,
            log=log,
            fleet=fleet,
            nemesis=Troubles(fleet, store, plan, setting.rhythm).nemesis(),
            plan=plan,
            meant=meant,
        )


def _store(stack: ExitStack, plan: FaultPlan, cloud: Cloud) -> tuple[Store, Cloud]:
    """What can be locked of a cloud, and the cloud as the machines reach it."""
    endpoint = cloud.environment.get(ENDPOINT)
    if endpoint is None:
        return SqliteStore(Path(cloud.store.partition(":")[2])), cloud
    gateway = stack.enter_context(Gateway(endpoint, plan.of_store))
    there = {**cloud.environment, ENDPOINT: gateway.url}
    queue = cloud.queue.replace(endpoint, gateway.url)
    return CutOff(plan), replace(cloud, queue=queue, environment=there)


def _variables(setting: Setting, url: str, cloud: Cloud) -> dict[str, str]:
    """The settings of our machines, with the pace of production."""
    variables = variables_of(setting.strategy, url, Teams.of_arena().us, cloud)
    del variables["CARDSHARP_PACE_SECONDS"], variables["CARDSHARP_WATCH_SECONDS"]
    return variables


@app.default
def night(  # noqa: PLR0913 - a command's options
    *,
    matches: int = 200,
    cloud: Annotated[CloudKind | None, Parameter(help="One of both homes; else both.")] = None,
    seed: str | None = None,
    rate: float = 0.05,
    every: float = 10,
    cards: int = 50,
    at_once: int = 16,
    machines: int = 3,
    strategy: str = "draw-3",
    opponent: str = "draw-3",
    turn_limit: float = 20,
    limit: int = 2000,
    skew: bool = True,
) -> int:
    """Play matches under everything that can go wrong at once.

    Args:
        matches: how many; where both homes are meant, a tenth of them in the emulator.
        cloud: where queue and match log live.
        seed: of decks, opponents and faults; printed where none is given.
        rate: the share of requests to which something happens.
        every: mean seconds between a machine's or store's recovery and the next one's failure.
        cards: in the draw pile; fewer make shorter matches.
        at_once: matches at the same time, and so many a machine can take.
        machines: of ours.
        strategy: what we play.
        opponent: what the other side plays.
        turn_limit: of the arena, in seconds.
        limit: requests a minute after which the arena slows us down, as the real one does at 100;
            0 for none.
        skew: let clocks of new machines be wrong, by up to an hour.
    """
    seed = seed or str(secrets.randbelow(10**6))
    emulated = matches // 10
    shares = {CloudKind.EMBEDDED: matches - emulated, CloudKind.EMULATOR: emulated}
    kept = True
    for kind, count in shares.items() if cloud is None else [(cloud, matches)]:
        if not count:
            continue
        setting = Setting(
            matches=count,
            cloud=kind,
            seed=seed,
            rate=rate,
            every=every,
            cards=cards,
            at_once=at_once,
            machines=machines,
            strategy=strategy,
            opponent=opponent,
            turn_limit=turn_limit,
            limit=limit,
            skew=skew,
        )
        kept &= play(setting)
    return 0 if kept else 1


def play(setting: Setting) -> bool:
    """Play what the setting says and print what became of it; whether every promise was kept.

    Ctrl-C ends it early.
    """
    console.print(f"{setting.cloud.value}: {setting.matches} matches, seed {setting.seed}")
    folder = Path(tempfile.mkdtemp(prefix="cardsharp-chaos-"))
    with prepared(setting, folder) as stage:
        said, playing = time.monotonic(), Night(setting, stage)
        report = playing.report
        with suppress(KeyboardInterrupt):
            for _ in playing.play():
                _complain(report.verdicts[-1:])
                if time.monotonic() - said > SAY.total_seconds():
                    said = time.monotonic()
                    console.print(f"{setting.cloud.value}: {report}")
        playing.weigh()
    _tell(report, stage.plan.counts)
    if report.kept:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        console.print(f"A promise was broken; the logs are in {folder}.")
    return report.kept


def _complain(verdicts: Sequence[Verdict]) -> None:
    """Print at once which promises were broken."""
    for verdict in verdicts:
        for sentence in verdict.wrong:
            console.print(f"match {verdict.match_id}: {sentence[:500]}")
        for turn in verdict.lost:
            if not turn.excused:
                why = ", ".join(turn.why) or "nothing"
                seconds = turn.took.total_seconds()
                console.print(
                    f"match {turn.match_id}: move {turn.number} lost ({seconds:.1f} s): {why}"
                )


def _tell(report: Report, faults: Mapping[str, int]) -> None:
    """Print all that is to be said of a night."""
    verdicts = report.verdicts
    console.print(f"{report}; {sum(v.actions for v in verdicts)} actions of ours")
    console.print(f"what happened: {_listed(faults)}")
    for name in ("missing", "doubled", "unintended"):
        console.print(f"actions {name}: {sum(getattr(v, name) for v in verdicts)}")
    console.print(f"logs that differ: {sum(bool(v.wrong) for v in verdicts)}")
    console.print(f"matches that stood still: {len(report.stuck)} {' '.join(report.stuck)}")
    lost = [turn for verdict in verdicts for turn in verdict.lost]
    causes = Counter(why.split(" for ")[0] for turn in lost for why in set(turn.why))
    console.print(f"turns lost: {len(lost)}; in them: {_listed(causes)}")
    longest = max((v.longest for v in verdicts), default=timedelta(0)).total_seconds()
    console.print(f"longest time that a turn of ours waited: {longest:.1f} s")
    for name, sizes in report.sizes.items():
        first, last = WARM if WARM in sizes else min(sizes), max(sizes)
        console.print(f"{name}: {sizes[first]} after {first}, {sizes[last]} after {last} matches")


def _listed(faults: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(faults.items()))


if __name__ == "__main__":
    sys.exit(app(result_action="return_value"))
