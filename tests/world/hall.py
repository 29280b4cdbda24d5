"""Many matches at once on a clock of their own: poller, workers, opponents and the limiter.

Each is a thread, of which one runs at a time; when all sleep, time jumps to whoever wakes first. So
hours of matches take minutes, and a minute's limit is a minute. The arena, its slow-down, the
client, scout and bot are the real ones; the network between them is a number of milliseconds.
"""

import base64
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from math import inf
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from support.arena import ADMIN, ALICE, BOB, PASSWORDS

from cardsharp.access import Credentials
from cardsharp.cloud.attend import Bot
from cardsharp.cloud.line import Line
from cardsharp.cloud.memory import MemoryQueue
from cardsharp.cloud.messages import parse_message
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Signal
from cardsharp.cloud.settings import Workplace
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.timing import Timing, limits_of
from cardsharp.contact import Contact
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.deadmansdraw.arena.slowdown import PER_USER, SlowDown
from cardsharp.deadmansdraw.bot import meeting
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.reading import rebuild
from cardsharp.deadmansdraw.scout import Scout, ScoutTiming
from cardsharp.deadmansdraw.seats import Players, Seat
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.wire import action_body, parse_view
from workbench.stage.tally import kind_of
from world.arena import URL, BenchArena
from world.clock import StillClock
from world.network import body_of, response_of

POLL = 30.0
"""Seconds that a long poll of the arena lasts."""


@dataclass
class Sleeper:
    """A thread that sleeps until `due`, or until `ready` where that is earlier."""

    due: float
    ready: Callable[[], bool] = lambda: False
    called: threading.Event = field(default_factory=threading.Event)


class Schedule(StillClock):
    """A clock by which threads sleep, of which one at a time is awake."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[Sleeper] = []
        self.failed: list[BaseException] = []
        self.over = threading.Event()
        self._live = 0

    def spawn(self, work: Callable[[], object]) -> None:
        """Have a thread do that, from its next turn on."""
        sleeper = Sleeper(self.monotonic())
        self._sleepers.append(sleeper)
        self._live += 1

        def whole() -> None:
            sleeper.called.wait()
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - told by whoever runs the schedule
                self.failed.append(error)
            self._live -= 1
            if self._live:
                self._pass_on()
            else:
                self.over.set()

        threading.Thread(target=whole, daemon=True).start()

    def run(self) -> None:
        """Let all do what they were spawned for, to the last."""
        self._pass_on()
        self.over.wait()
        if self.failed:
            raise self.failed[0]

    def until(self, ready: Callable[[], bool], seconds: float = inf) -> bool:
        """Sleep until that is so, for so long at most; whether it is."""
        sleeper = Sleeper(self.monotonic() + max(seconds, 0), ready)
        self._sleepers.append(sleeper)
        self._pass_on()
        sleeper.called.wait()
        return ready()

    def sleep(self, duration: timedelta) -> None:
        self.until(lambda: False, duration.total_seconds())

    def wait(self, signal: Signal, timeout: timedelta) -> bool:
        """Of the keepers of leases alone, which are no threads of ours: they only wait to end."""
        del timeout
        return signal.wait()

    def _pass_on(self) -> None:
        """Wake who is next."""
        ready = next((one for one in self._sleepers if one.ready()), None)
        chosen = ready or min(self._sleepers, key=lambda one: one.due, default=None)
        if chosen is None:
            return
        if ready is None:
            self.advance(timedelta(seconds=chosen.due - self.monotonic()))
        self._sleepers.remove(chosen)
        chosen.called.set()


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


@dataclass
class Outcome:
    """What became of it."""

    forced: int = 0
    refused: list[str] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    slowed: Counter[str] = field(default_factory=Counter)
    longest: float = 0
    """The longest that the arena held a request back."""

    turns: list[float] = field(default_factory=list)
    """How long our turns took, in seconds."""

    minutes: float = 0
    most_at_once: int = 0
    ended: int = 0

    def __str__(self) -> str:
        turns = sorted(self.turns)
        matches = max(self.ended, 1)
        return (
            f"{self.ended} matches in {self.minutes:.0f} minutes, {self.most_at_once} at once at "
            f"most; {self.forced} turns forced, {len(self.refused)} actions refused; "
            f"{sum(self.asked.values()) / matches:.1f} requests a match "
            f"({', '.join(f'{k} {n / matches:.1f}' for k, n in self.asked.most_common())}), "
            f"{sum(self.slowed.values())} slowed, by {self.longest:.1f} s at most; a turn of ours "
            f"took {sum(turns) / len(turns):.1f} s, {turns[-1]:.1f} at most"
        )


class Wire(HTTPAdapter):
    """Carries requests to the arena in this process, past its limiter."""

    def __init__(self, hall: "Hall") -> None:
        super().__init__()
        self._hall = hall

    def send(  # type: ignore[override]  # of all that requests passes, only the limit matters
        self, request: requests.PreparedRequest, **_rest: object
    ) -> requests.Response:
        hall, wish = self._hall, self._hall.wish
        request.body = body_of(request)
        kind = kind_of(str(request.method), str(request.path_url))
        thinking = wish.deciding * hall.chance.random() if kind == "act" else 0
        hall.time.sleep(timedelta(seconds=wish.way + thinking))
        hall.outcome.asked[kind] += 1
        headers = hall.slow_down(request, kind)
        if kind in {"view_wait", "list_wait"}:
            hall.time.until(lambda: hall.is_ready(request), POLL)
        answer = hall.arena.ask(request)
        if kind == "act" and answer.status not in {200, 410}:
            hall.outcome.refused.append(answer.body.decode())
        hall.time.sleep(timedelta(seconds=wish.way))
        told = {**dict(answer.headers), **(headers if wish.tells else {})}
        return self.build_response(request, response_of(answer.status, told, answer.body))


class Hall:
    """An arena with a limiter, our poller and workers, and an opponent in each match."""

    def __init__(self, wish: Wish, folder: Path) -> None:
        self.wish, self.chance = wish, Random(wish.seed)
        self.time, self.outcome = Schedule(), Outcome()
        self.arena = BenchArena(folder, self.time, table={})
        self.arena.arena.referee.terminate(User(ADMIN, None, ADMIN), self.arena.match_id, {}, None)
        self.limiter = None if wish.limit is None else SlowDown(wish.limit, self.time.now)
        self.contact = Contact(self.time)
        self.queue = MemoryQueue(self.time)
        self.log = SqliteLog(folder / "log.db", self.time)
        self.offering = Offering(self.log, self.queue, self.time)
        self.done = False
        self.line = Line(self.time, places=1000)
        self.attended = 0

    # --- the arena ---------------------------------------------------------------------------

    def slow_down(self, request: requests.PreparedRequest, kind: str) -> Mapping[str, str]:
        """Have the limiter hold a request back; the headers of its answer."""
        if self.limiter is None:
            return {}
        said = str(request.headers["Authorization"]).removeprefix("Basic ")
        user = base64.b64decode(said).decode().partition(":")[0]
        pace = self.limiter.count(user)
        if pace.delay:
            self.outcome.slowed[kind] += 1
            self.outcome.longest = max(self.outcome.longest, pace.delay.total_seconds())
            self.time.sleep(pace.delay)
        return pace.headers

    def is_ready(self, request: requests.PreparedRequest) -> bool:
        """Whether a long poll is answered."""
        parts = urlsplit(str(request.url))
        match_id = parts.path.rpartition("/")[2]
        if match_id == "matches":
            query = dict(one.partition("=")[::2] for one in parts.query.split("&"))
            after = query.get("offset", "")
            lobby = self.arena.arena.lobby
            matches = lobby.at_turn(ALICE) if "active" in query else lobby.of_player(ALICE)
            return any(match.id > after for match in matches)
        match = self.arena.arena.referee.find(match_id)
        return match.finished or match.active_player == ALICE

    def watch(self) -> None:
        """End late turns, once a second, as the organisers' watchdog does."""
        while not self.done:
            self.arena.arena.referee.end_overdue_turns(None, None)
            self.time.sleep(timedelta(seconds=1))

    # --- the matches -------------------------------------------------------------------------

    def play(self) -> Outcome:
        """Play what was wished for."""
        for work in (self.watch, self._listen, self._feed, self._organise):
            self.time.spawn(work)
        try:
            self.time.run()
        finally:
            self.log.close()
            self.arena.close()
        return self.outcome

    def _organise(self) -> None:
        running: dict[str, None] = {}
        begun = 0
        admin = User(ADMIN, None, ADMIN)
        while (begun < self.wish.matches or running) and not self.time.failed:
            while begun < self.wish.matches and len(running) < self.wish.at_once:
                begun += 1
                players = [ALICE, BOB] if begun % 2 else [BOB, ALICE]
                wish = {
                    "playerids": players,
                    "timeout": self.wish.turn,
                    "randomSeed": f"{self.wish.seed}/{begun}",
                }
                match_id = self.arena.arena.referee.create(admin, wish, None)[0].id
                running[match_id] = None
                self.time.spawn(lambda match_id=match_id: self._oppose(match_id))
            self.time.sleep(timedelta(seconds=0.5))
            for match_id in [i for i in running if self.arena.arena.referee.find(i).finished]:
                record = self.log.match(match_id)
                if record is None or record.outcome is not None:
                    del running[match_id]
                    self._judge(match_id)
        self.done = True
        self.outcome.minutes = self.time.monotonic() / 60

    def _judge(self, match_id: str) -> None:
        """Add a match that has ended to the outcome."""
        self.outcome.ended += 1
        self.arena.match_id = match_id
        whole = self.arena.look()
        me = whole["playerids"].index(ALICE)
        began = None
        for entry in whole["moves"]:
            mine = any(event.get("playerIndex") == me for event in entry["events"])
            kinds = {event["eventType"] for event in entry["events"]}
            at = datetime.fromisoformat(entry["at"])
            if mine and kinds & {"TurnEnded", "MatchEnded"} and began is not None:
                self.outcome.turns.append((at - began).total_seconds())
            if mine and "Comment" in kinds:
                self.outcome.forced += 1
            if kinds & {"TurnEnded", "MatchStarted"}:
                began = at

    def _oppose(self, match_id: str) -> None:
        """Play the opponent's side of a match."""
        referee, strategy = self.arena.arena.referee, build("draw-2", Random(match_id))
        while True:
            self.time.until(lambda: self.done or self._is_his(match_id))
            if self.done or referee.find(match_id).finished:
                return
            self.time.sleep(timedelta(seconds=self.chance.uniform(*self.wish.opponent)))
            if referee.find(match_id).active_player != BOB:
                continue
            self.arena.match_id = match_id
            view = parse_view(self.arena.look())
            decision = strategy.decide(rebuild(view, view.player_ids.index(BOB)))
            user = User(BOB, "Bob", "player")
            referee.act(user, match_id, action_body(decision.action), None)

    def _is_his(self, match_id: str) -> bool:
        match = self.arena.arena.referee.find(match_id)
        return match.finished or match.active_player == BOB

    # --- our side ----------------------------------------------------------------------------

    def _remaining(self) -> timedelta:
        return timedelta(0) if self.done else timedelta(hours=1)

    def _client(self) -> ArenaClient:
        limits = limits_of(Workplace(store="sqlite:none"))
        mine = Credentials(ALICE, PASSWORDS[ALICE])
        client = ArenaClient(URL, mine, limits, contact=self.contact)
        for scheme in ("http://", "https://"):
            client._exchange._session.mount(scheme, Wire(self))
        return client

    def _listen(self) -> None:
        with self._client() as client:
            Scout(client, self.offering, timing=ScoutTiming()).listen(self._remaining)

    def _feed(self) -> None:
        names = count(1)
        while not self.done:
            message = self.queue.receive(timedelta(0))
            if message is None:
                self.time.sleep(timedelta(seconds=0.1))
                continue
            self.queue.delete(message)
            match_id = parse_message(message.body).match_id
            name = f"worker-{next(names)}"
            self.time.spawn(lambda match_id=match_id, name=name: self._attend(match_id, name))

    def _attend(self, match_id: str, name: str) -> None:
        self.attended += 1
        self.outcome.most_at_once = max(self.outcome.most_at_once, self.attended)
        try:
            self._play_on(match_id, name)
        finally:
            self.attended -= 1

    def _play_on(self, match_id: str, name: str) -> None:
        with self._client() as client:
            seat = Seat(ALICE, client, build(self.wish.strategy, Random(1)), self.wish.strategy)
            meet = meeting(Players(seat), self.log, self.time)
            timing = Timing(lease=timedelta(hours=1))
            bot: Any = Bot(GAME.name, meet, self.offering, name, timing, self.line)
            bot.attend(match_id, self._remaining)
