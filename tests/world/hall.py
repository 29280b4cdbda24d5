"""An arena with its limiter, our machines and many matches, on virtual time, under faults or none.

The arena, its slow-down, match log, client, scout and bot are the real ones; the network between
them is a number of milliseconds, and by a seed any of it goes wrong (`Wish.rate`, `Wish.every`).
"""

import base64
import hashlib
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from math import inf
from pathlib import Path
from random import Random
from typing import Any, cast
from urllib.parse import urlsplit

import requests
from support.arena import ADMIN, ALICE, BOB, PASSWORDS
from urllib3.response import HTTPResponse
from urllib3.util import Timeout

from cardsharp.access import Credentials
from cardsharp.cloud.attend import Bot
from cardsharp.cloud.line import Line
from cardsharp.cloud.messages import MatchMessage, parse_message
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import MatchLog
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.timing import Timing, limits_of
from cardsharp.contact import Contact
from cardsharp.deadmansdraw.actions import action_body
from cardsharp.deadmansdraw.arena.limits import PER_USER, SlowDown
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.deadmansdraw.bot import meeting
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.reading import rebuild
from cardsharp.deadmansdraw.scout import Scout, ScoutTiming
from cardsharp.deadmansdraw.seats import Players, Seat
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.wire import parse_view
from cardsharp.errors import ArenaError, StoreError, Unreachable
from workbench.stage.tally import kind_of
from world.arena import URL, BenchArena
from world.faults import Certain, Crash, FaultPlan, Kind, Meant, Trouble, kinds_for
from world.judge import Evidence, Suffered, Verdict, judge
from world.network import FaultyWire, Gate, Intent, Late, Tools
from world.schedule import WORLD, Process, Schedule
from world.stores import Home, at_home

_log = logging.getLogger("world")

POLL = 30.0
"""Seconds that a long poll of the arena lasts."""

STALL = 600
"""So many seconds a match may stand still before it is given up as stuck."""

RARER = 5
"""So many times more seldom a step at a store fails: there are more of them."""

FREEZE, OUTAGE = (0.5, 12), (0.5, 6)
"""How long a freeze and all else may last, in seconds."""

SKEWS = (0, 0, 0.4, -0.4, 5, -5, 3600, -3600)
"""Seconds by which the clock of a new machine may be ahead."""

REPEAT = 5
"""Seconds from one message that comes again to the next."""

ADMINISTRATOR = User(ADMIN, None, ADMIN)


@dataclass(frozen=True)
class Wish:
    """What is played: so many matches, at so many at once are begun; times in seconds."""

    matches: int
    at_once: int
    turn: float = 7
    limit: int | None = PER_USER
    tells: bool = True
    """Whether the arena's answers tell the limit."""

    way: float = 0.02
    deciding: float = 0.3
    """The longest that a decision of ours takes."""

    opponent: tuple[float, float] = (0.3, 2.0)
    """How long an opponent takes for an action."""

    strategy: str = "draw-3"
    seed: int = 1
    machines: int = 1
    rate: float = 0
    """The share of requests to which something happens."""

    every: float | None = None
    """The mean time from a trouble's end to the next, None for no troubles."""


@dataclass
class Outcome:
    """What became of it."""

    verdicts: list[Verdict] = field(default_factory=list)
    stuck: list[int] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    slowed: Counter[str] = field(default_factory=Counter)
    befell: Counter[str] = field(default_factory=Counter)
    longest: float = 0
    """The longest that the arena held a request back."""

    minutes: float = 0
    match_minutes: float = 0
    most_at_once: int = 0
    replay: str = ""
    """What tells two runs apart: a digest of every step and every answer, each with its moment."""

    @property
    def ended(self) -> int:
        """How many matches have."""
        return len(self.verdicts)

    @property
    def forced(self) -> int:
        """How many turns of ours were ended by force."""
        return sum(len(one.lost) for one in self.verdicts)

    @property
    def refused(self) -> list[str]:
        """The actions of ours that the arena would not take."""
        return [str(refused) for one in self.verdicts for refused in one.refused]

    @property
    def faults(self) -> list[str]:
        """Every promise that was broken, with the number of its match."""
        found = [f"match {one.match}: {fault}" for one in self.verdicts for fault in one.faults]
        return [*found, *(f"match {number} stands still" for number in self.stuck)]

    def __str__(self) -> str:
        turns = sorted(turn.took.total_seconds() for one in self.verdicts for turn in one.turns)
        matches = max(self.ended, 1)
        return (
            f"{self.ended} matches in {self.minutes:.0f} minutes, {self.most_at_once} at once at "
            f"most; {self.forced} turns forced, {len(self.refused)} actions refused; "
            f"{sum(self.asked.values()) / matches:.1f} requests a match "
            f"({', '.join(f'{k} {n / matches:.1f}' for k, n in self.asked.most_common())}), "
            f"{sum(self.slowed.values())} slowed, by {self.longest:.1f} s at most; a turn of ours "
            f"took {sum(turns) / max(len(turns), 1):.1f} s, {max(turns, default=0):.1f} at most"
        )


class Chances(FaultPlan):
    """The plan of a process: by chance, at the rate that is wished."""

    def __init__(self, hall: "Hall", process: Process, match_id: str = "") -> None:
        super().__init__(hall.time, pause=lambda: hall.freeze(process, pauses=True))
        self._hall, self._process, self._match_id = hall, process, match_id

    def next(self, step: str) -> Kind | None:
        if self._hall.wish.rate:
            return super().next(step)
        self._hall.tell(self._process.name, step)
        return None

    def chosen(self, number: int, step: str) -> Kind | None:
        del number
        hall, kinds = self._hall, kinds_for(step)
        asks = step in {"act", "view", "wait", "list"}
        fault = None
        if hall.chance.random() < hall.wish.rate / (1 if asks else RARER):
            fault = hall.chance.choice(kinds)
            hall.suffer(f"{fault} ({step})", self._match_id)
        hall.tell(self._process.name, step, fault or "")
        return fault

    def put_off(self, work: Callable[[], object]) -> None:
        self._hall.time.spawn(work, seconds=20)

    @property
    def store_is_down(self) -> bool:
        return super().store_is_down or self._hall.time.monotonic() < self._hall.locked_until


class Road(Gate):
    """The network between our machines and the arena, whose limiter it passes."""

    reads_log = False

    def __init__(self, hall: "Hall") -> None:
        super().__init__(hall.arena, hall.stores.log, hall.time)
        self._hall = hall

    def put_off(self, late: Late) -> None:
        hall, looks = self._hall, self._hall.looks
        match_id = match_of(late.request)
        before, seconds = looks[match_id], (late.due - hall.time.now()).total_seconds()

        def arrive() -> None:
            looked = (lambda: looks[match_id] > before) if late.due_look is not None else None
            hall.time.until(looked, seconds)
            self.ask(late.request, late.meant, is_late=True)

        hall.time.spawn(arrive)

    def carry(
        self,
        request: requests.PreparedRequest,
        meant: Intent | None,
        timeout: Timeout,
        began: float,
    ) -> HTTPResponse:
        hall, wish, limit = self._hall, self._hall.wish, cast("float", timeout.total)
        kind = kind_of(str(request.method), str(request.path_url))
        if kind == "act":
            hall.sleep(wish.deciding * hall.chance.random())
            if hall.time.monotonic() - began > timeout.connect_timeout:
                raise Unreachable("not sent, for it took too long")  # as `Prompt` does
        hall.outcome.asked[kind] += 1
        sender = hall.time.process
        with hall.time.beyond_us():
            hall.sleep(wish.way)
            gives_up = hall.time.monotonic() + limit
            hall.time.until(lambda: not hall.is_cut, limit)
            told = self._slow_down(request, kind, gives_up - hall.time.monotonic())
            if kind in {"view_wait", "list_wait"}:
                hall.when(lambda: hall.is_ready(request), min(POLL, limit))
            if hall.is_cut:
                raise requests.ReadTimeout("the arena is cut off")
            if sender.dead:  # what is held is dropped with its connection
                raise Crash(sender.name)
            answer = self.ask(request, meant)
            hall.sleep(wish.way)
        answer.headers.update(told)
        return answer

    def _slow_down(
        self, request: requests.PreparedRequest, kind: str, limit: float
    ) -> dict[str, str]:
        """Have the limiter hold a request back; the headers of its answer."""
        hall, outcome = self._hall, self._hall.outcome
        if hall.limiter is None:
            return {}
        said = str(request.headers["Authorization"]).removeprefix("Basic ")
        pace = hall.limiter.count(base64.b64decode(said).decode().partition(":")[0])
        delay = pace.delay.total_seconds()
        if delay:
            outcome.slowed[kind] += 1
            outcome.longest = max(outcome.longest, delay)
        if delay > limit:  # nobody waits for the answer any more: it is dropped, as by the real one
            hall.sleep(limit)
            raise requests.ReadTimeout("slowed down for too long")
        hall.sleep(delay)
        return dict(pace.headers) if hall.wish.tells else {}

    def ask(
        self, request: requests.PreparedRequest, meant: Intent | None, *, is_late: bool = False
    ) -> HTTPResponse:
        hall, match_id = self._hall, match_of(request)
        hall.looks[match_id] += "active" not in str(request.url) and request.method == "GET"
        if match_id not in hall.numbers:
            return super().ask(request, meant, is_late=is_late)
        hall.arena.match_id = match_id
        seen = len(self.accepted), len(self.refused)
        answer = super().ask(request, meant, is_late=is_late)
        hall.version += request.method == "POST"
        hall.accepted[match_id] += self.accepted[seen[0] :]
        hall.refused[match_id] += self.refused[seen[1] :]
        del self.accepted[:], self.refused[:]
        hall.tell("arena", f"{request.method} {hall.numbers[match_id]}", answer.status)
        return answer


def match_of(request: requests.PreparedRequest) -> str:
    """The match that a request is about, "matches" for all."""
    return urlsplit(str(request.url)).path.rpartition("/")[2]


class Station(Process):
    """A machine of ours: a poller, and workers for what it takes from the queue."""

    def __init__(self, hall: "Hall", number: int, skew: float) -> None:
        super().__init__(f"machine-{number}")
        self.hall, self.number, self.skew = hall, number, skew
        self.clock = hall.time.as_seen_by(timedelta(seconds=skew))
        self.contact = Contact(self.clock)
        self.line = Line(self.clock, places=1000)
        for work in (self._listen, self._feed):
            hall.time.spawn(work, self)

    def _tools(self, process: Process, match_id: str = "") -> Tools:
        """What a process is given, every step of which can go wrong."""
        hall = self.hall
        plan, meant = Chances(hall, process, match_id), Meant()
        log, vault, queue = hall.stores.faulty(plan, self.clock)
        wire, minds = FaultyWire(hall.road, plan, meant), cast("MatchLog", Certain(log, meant))
        return Tools(wire, minds, vault, queue, process.name, meant, self.clock)

    @contextmanager
    def _client(self, tools: Tools) -> Iterator[ArenaClient]:
        limits = replace(limits_of(Workplace(store="sqlite:none")), attempts=1)
        mine = Credentials(ALICE, PASSWORDS[ALICE])
        with tools.through(ArenaClient(URL, mine, limits, contact=self.contact)) as client:
            yield client

    def _remaining(self) -> timedelta:
        return timedelta(0) if self.hall.done else timedelta(hours=1)

    def _listen(self) -> None:
        """Poll; a poller that fails is started again within a second."""
        while not self.hall.done:
            tools = self._tools(self)
            offering = Offering(tools.log, tools.queue, tools.clock)
            with self._client(tools) as client, suppress(ArenaError, StoreError):
                Scout(client, offering, timing=ScoutTiming()).listen(self._remaining)
            self.hall.sleep(1)

    def _feed(self) -> None:
        """Take messages from the queue, each to a worker of its own."""
        names, queue = count(1), self.hall.stores.queue
        while not self.hall.done:
            message = queue.receive(timedelta(0))
            if message is None:
                self.hall.sleep(0.25)
                continue
            queue.delete(message)
            worker = Process(f"{self.name}-{next(names)}", self)
            match_id = parse_message(message.body).match_id
            attend = _Attending(self, worker, match_id)
            self.hall.time.spawn(attend, worker)

    def attend(self, worker: Process, match_id: str) -> None:
        """A worker's whole life."""
        tools, hall = self._tools(worker, match_id), self.hall
        with self._client(tools) as client, suppress(ArenaError, StoreError):
            seat = Seat(ALICE, client, build(hall.wish.strategy, Random(1)), hall.wish.strategy)
            meet = meeting(Players(seat), tools.log, tools.clock)
            offering = Offering(tools.log, tools.queue, tools.clock)
            bot: Any = Bot(GAME.name, meet, offering, worker.name, Timing(), self.line)
            bot.attend(match_id, self._remaining)


@dataclass
class _Attending:
    station: Station
    worker: Process
    match_id: str

    def __call__(self) -> None:
        hall = self.station.hall
        hall.attended.append(self.match_id)
        most = len(set(hall.attended))
        hall.outcome.most_at_once = max(hall.outcome.most_at_once, most)
        try:
            self.station.attend(self.worker, self.match_id)
        finally:
            hall.attended.remove(self.match_id)


class Hall:
    """The arena, our machines, an opponent in each match, and whoever brings about troubles."""

    def __init__(
        self,
        wish: Wish,
        folder: Path,
        home: Home = at_home,
        say: Callable[[str], object] = lambda _line: None,
    ) -> None:
        self.wish, self.chance, self.say = wish, Random(wish.seed), say
        self.time, self.outcome = Schedule(), Outcome()
        self.arena = BenchArena(folder, self.time, table={})
        self.referee = self.arena.arena.referee
        self.referee.terminate(ADMINISTRATOR, self.arena.match_id, {}, None)
        self.limiter = None if wish.limit is None else SlowDown(wish.limit, self.time.now)
        self.stores = home(folder, self.time)
        self.road = Road(self)
        self.numbers: dict[str, int] = {}
        self.accepted: defaultdict[str, list[Any]] = defaultdict(list)
        self.refused: defaultdict[str, list[Any]] = defaultdict(list)
        self.suffered: defaultdict[str, list[Suffered]] = defaultdict(list)
        self.looks: Counter[str] = Counter()
        self.attended: list[str] = []
        self.done = False
        self.version = 0
        """Of all that whoever waits for the arena waits for."""

        self.cut_until = self.locked_until = 0.0
        self.stations: list[Station] = []
        self._told = hashlib.sha256()

    def play(self) -> Outcome:
        """Play what was wished for."""
        self.stations = [Station(self, number, 0) for number in range(self.wish.machines)]
        self.time.spawn(self._watch)
        self.time.spawn(self._organise)
        if self.wish.every is not None:
            self.time.spawn(self._trouble)
            self.time.spawn(self._repeat)
        try:
            self.time.run()
        finally:
            self.stores.close()
            self.arena.close()
        self.outcome.minutes = self.time.monotonic() / 60
        self.outcome.replay = self._told.hexdigest()
        return self.outcome

    def sleep(self, seconds: float) -> None:
        """Let so much time pass for this thread."""
        self.time.sleep(timedelta(seconds=seconds))

    def tell(self, *what: object) -> None:
        """Write down what happened, and when."""
        line = f"{self.time.monotonic():.3f} {' '.join(map(str, what))}"
        self._told.update(line.encode())
        self.say(line)

    def when(self, ready: Callable[[], bool], seconds: float = inf) -> None:
        """Sleep until that is so at the arena, which is asked when something has happened there."""
        seen, told = -1, False

        def asked() -> bool:
            nonlocal seen, told
            if seen != self.version:
                seen, told = self.version, ready()
            return told

        self.time.until(asked, seconds)

    # --- the arena ---------------------------------------------------------------------------

    @property
    def is_cut(self) -> bool:
        """Whether nothing reaches the arena."""
        return self.time.monotonic() < self.cut_until

    def is_ready(self, request: requests.PreparedRequest) -> bool:
        """Whether a long poll is answered."""
        match_id = match_of(request)
        if match_id != "matches":
            match = self.referee.find(match_id)
            return match.finished or match.active_player == ALICE
        query = dict(one.partition("=")[::2] for one in urlsplit(str(request.url)).query.split("&"))
        lobby = self.arena.arena.lobby
        matches = lobby.at_turn(ALICE) if "active" in query else lobby.of_player(ALICE)
        return any(match.id > query.get("offset", "") for match in matches)

    def _watch(self) -> None:
        """End late turns, once a second, as the organisers' watchdog does; start what has died."""
        while not self.done:
            for number, station in enumerate(self.stations):
                if station.dead:
                    self.time.kill(station)
                    self.stations[number] = Station(self, number, station.skew)
            self.version += bool(self.referee.end_overdue_turns(None, None))
            self.sleep(1)

    def _organise(self) -> None:
        """Begin matches and judge those that have ended; who stops is noticed."""
        running: dict[str, tuple[int, float]] = {}
        while (len(self.numbers) < self.wish.matches or running) and not self.time.failed:
            while len(self.numbers) < self.wish.matches and len(running) < self.wish.at_once:
                running[self._begin()] = (-1, self.time.monotonic())
            self.sleep(1)
            self.outcome.match_minutes += len(running) / 60
            for match_id, (moves, since) in [*running.items()]:
                match, record = self.referee.find(match_id), self.stores.log.match(match_id)
                if match.finished and record is not None and record.outcome is not None:
                    del running[match_id]
                    self._judge(match_id)
                elif match.moves != moves:
                    running[match_id] = match.moves, self.time.monotonic()
                elif self.time.monotonic() - since > STALL:
                    del running[match_id]
                    self.outcome.stuck.append(self.numbers[match_id])
        self.done, self.version = True, self.version + 1

    def _begin(self) -> str:
        number = len(self.numbers) + 1
        wish = {
            "playerids": [ALICE, BOB] if number % 2 else [BOB, ALICE],
            "timeout": self.wish.turn,
            "randomSeed": f"{self.wish.seed}/{number}",
        }
        match_id = self.referee.create(ADMINISTRATOR, wish, None)[0].id
        self.numbers[match_id] = number
        self.version += 1
        self.time.spawn(lambda: self._oppose(match_id))
        return match_id

    def _judge(self, match_id: str) -> None:
        self.arena.match_id = match_id
        evidence = Evidence(
            whole=self.arena.look(),
            us=ALICE,
            accepted=self.accepted.pop(match_id, []),
            refused=self.refused.pop(match_id, []),
            suffered=[*self.suffered[""], *self.suffered.pop(match_id, [])],
        )
        verdict = judge(self.numbers[match_id], evidence, self.stores.log)
        self.outcome.verdicts.append(verdict)
        del self.suffered[""][:-200]  # what befell so long ago is no reason any more

    def _oppose(self, match_id: str) -> None:
        """Play the opponent's side of a match."""
        strategy = build("draw-2", Random(self.numbers[match_id]))

        def is_his() -> bool:
            match = self.referee.find(match_id)
            return self.done or match.finished or match.active_player == BOB

        while True:
            self.when(is_his)
            if self.done or self.referee.find(match_id).finished:
                return
            self.sleep(self.chance.uniform(*self.wish.opponent))
            if self.referee.find(match_id).active_player != BOB:
                continue
            self.arena.match_id = match_id
            view = parse_view(self.arena.look())
            decision = strategy.decide(rebuild(view, view.player_ids.index(BOB)))
            user = User(BOB, "Bob", "player")
            self.referee.act(user, match_id, action_body(decision.action), None)
            self.version += 1

    # --- what goes wrong ---------------------------------------------------------------------

    def suffer(self, name: str, match_id: str = "") -> None:
        """Note what befalls a match, or all of them."""
        self.outcome.befell[name.partition(" (")[0]] += 1
        self.suffered[match_id].append(Suffered(self.time.now(), name))

    def freeze(self, process: Process, *, pauses: bool = False) -> float:
        """Have a process stand still from now on; for how many seconds."""
        lasts = self.chance.uniform(*FREEZE)
        process.frozen = self.time.monotonic() + lasts
        if pauses:
            self.sleep(0)
        return lasts

    def _trouble(self) -> None:
        """Do one thing after the other, so that any one thing may fail, but never two at once."""
        assert self.wish.every is not None
        deeds = (self._kill, self._kill, self._freeze, self._cut, self._lock)
        while not self.done:
            self.sleep(self.chance.expovariate(1 / self.wish.every))
            self.sleep(self.chance.choice(deeds)())

    def _kill(self) -> float:
        """The first machine lives as long as all."""
        number = self.chance.randrange(1, self.wish.machines)
        skew = self.chance.choice(SKEWS)
        self._befall(Trouble.KILLED)
        if skew:
            self._befall(Trouble.SKEWED)
        self.time.kill(self.stations[number])
        self.stations[number] = Station(self, number, skew)
        return 0

    def _freeze(self) -> float:
        self._befall(Trouble.FROZEN)
        return self.freeze(self.chance.choice(self.stations))

    def _cut(self) -> float:
        self._befall(Trouble.CUT)
        lasts = self.chance.uniform(*OUTAGE)
        self.cut_until = self.time.monotonic() + lasts
        return lasts

    def _lock(self) -> float:
        self._befall(Trouble.LOCKED)
        lasts = self.chance.uniform(*OUTAGE)
        self.locked_until = self.time.monotonic() + lasts
        return lasts

    def _befall(self, trouble: Trouble) -> None:
        self.suffer(trouble)
        self.tell(WORLD.name, trouble)

    def _repeat(self) -> None:
        """Put the message of some running match on the queue again, as a standard queue may."""
        while not self.done:
            self.sleep(REPEAT)
            running = self.stores.log.running()
            if running:
                self.outcome.befell[Trouble.AGAIN] += 1
                match_id = self.chance.choice(running).match_id
                self.stores.queue.send(MatchMessage(match_id=match_id, game=GAME.name).body)
