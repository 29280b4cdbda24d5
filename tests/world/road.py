"""The way from our machines to the arena: what may go wrong on it, and the arena's limiter."""

import base64
import re
from collections.abc import Callable
from datetime import timedelta
from typing import cast
from urllib.parse import parse_qsl, urlsplit

import requests
from urllib3.response import HTTPResponse
from urllib3.util import Timeout

from cardsharp.errors import Unreachable
from world.faults import Crash, FaultPlan, Intent, Kind, Mindful, kinds_for
from world.network import FaultyWire, Gate, Late, response_of
from world.schedule import Process
from world.world import World

POLL = 30.0  # seconds that a long poll of the arena lasts
INSTANT = 0.001
RARER = 5  # so many times more seldom a step at a store fails: there are more of them


def kind_of(method: str, target: str) -> str:
    """What a request asks for, by its method and its path with query."""
    path, _, query = target.partition("?")
    match path.strip("/").split("/"):
        case ["api", "matches"] if method == "POST":
            return "create"
        case ["api", "matches"]:
            return "list_wait" if "wait=true" in query else "list"
        case ["api", "matches", _] if method == "POST":
            return "act"
        case ["api", "matches", _]:
            return "view_wait" if "waitactive=true" in query else "view"
    return "other"


class Chances(FaultPlan):
    """The plan of a process: by chance, at the rate that is wished; `whom` it befalls is noted."""

    def __init__(
        self, world: World, process: Process, whom: str = "", rate: float | None = None
    ) -> None:
        super().__init__(world.time, pause=lambda: world.pause(process))
        self._world, self._process, self._whom = world, process, whom
        self._rate = world.wish.rate if rate is None else rate

    def next(self, step: str) -> Kind | None:
        if self._rate:
            return super().next(step)
        self._world.tell(self._process.name, step)
        if self._process.thaws > self._world.time.monotonic():
            self._world.sleep(0)
        return None

    def chosen(self, number: int, step: str) -> Kind | None:
        del number
        world, kinds = self._world, kinds_for(step)
        asks = step in {"act", "view", "wait", "list"}
        fault = None
        if world.chance.random() < self._rate / (1 if asks else RARER):
            fault = world.chance.choice(kinds)
            world.suffer(f"{fault} ({step})", self._whom)
        world.tell(self._process.name, step, fault or "")
        return fault

    def put_off(self, work: Callable[[], object]) -> None:
        self._world.time.spawn(work, seconds=20)

    @property
    def store_is_down(self) -> bool:
        return super().store_is_down or self._world.time.monotonic() < self._world.locked_until


class Road(Gate):
    """The network between all who ask and the arena, whose limiter it passes."""

    def __init__(self, world: World) -> None:
        super().__init__(world.arena, None, world.time)
        self.obeyed = min(self.obeyed, timedelta(seconds=world.wish.turn) / 4)
        self._world = world

    def go_on(self) -> None:
        """Everybody plays in a thread of their own."""

    def wire(self, process: Process) -> FaultyWire:
        """For who is none of ours: of its steps none fails by chance."""
        return FaultyWire(self, Chances(self._world, process, rate=0), Mindful())

    def put_off(self, late: Late) -> None:
        world, looks = self._world, self._world.looks
        match_id = match_of(late.request)
        before, seconds = looks[match_id], (late.due - world.time.now()).total_seconds()

        def arrive() -> None:
            looked = (lambda: looks[match_id] > before) if late.due_look is not None else None
            world.time.until(looked, seconds)
            self.ask(late.request, late.meant, is_late=True)

        world.time.spawn(arrive)

    def carry(
        self,
        request: requests.PreparedRequest,
        meant: Intent | None,
        timeout: Timeout,
        began: float,
    ) -> HTTPResponse:
        world, wish, limit = self._world, self._world.wish, cast("float", timeout.total)
        kind, sender = kind_of(str(request.method), str(request.path_url)), world.time.process
        if kind == "act":
            world.sleep(wish.deciding * world.chance.random())
            if world.time.monotonic() - began > cast("float", timeout.connect_timeout):
                raise Unreachable("not sent, for it took too long")  # as `Prompt` does
            limit -= world.time.monotonic() - began
        world.outcome.asked[kind] += 1
        with world.time.beyond_us():
            told = self._arrive(request, kind, limit)
            if sender.dead:  # what is held is dropped with its connection
                raise Crash(sender.name)
            answer = self.ask(request, meant)
            held, world.arena.held = world.arena.held, 0
            world.sleep(wish.way + held)
        answer.headers.update(told)
        return answer

    def _arrive(self, request: requests.PreparedRequest, kind: str, limit: float) -> dict[str, str]:
        """Let a request come before the arena and wait there; what its limiter tells."""
        world, starts, user = self._world, self._world.starts, user_of(request)
        world.sleep(world.wish.way)
        gives_up = world.time.monotonic() + limit
        world.sleep(min(limit, world.cut_until - world.time.monotonic() + INSTANT))
        told = self._slow_down(user, kind, gives_up - world.time.monotonic()) if user else {}
        if user and WAITS.search(str(request.url)):
            answers = self._answers(request, user)
            if match_of(request) == "matches" and not answers():
                self.place.ask(request)  # it is heard of at once, and answered later
            world.time.until(answers, min(POLL, limit))
        if world.time.monotonic() < world.cut_until:
            raise requests.ReadTimeout("the arena is cut off")
        if world.time.monotonic() < world.down_until or world.starts != starts:
            raise requests.ConnectionError("the arena was killed")
        return told

    def _answers(self, request: requests.PreparedRequest, user: str) -> Callable[[], bool]:
        """What says whether a long poll is answered."""
        arena, match_id = self._world.arena, match_of(request)
        query = dict(parse_qsl(urlsplit(str(request.url)).query, keep_blank_values=True))

        def of_match() -> bool:
            match = arena.arena.lobby.find(match_id)
            assert match is not None, "nobody waits for what is not there"
            return match.finished or match.active_player == user

        def of_list() -> bool:
            lobby = arena.arena.lobby
            matches = lobby.at_turn(user) if "active" in query else lobby.of_player(user)
            return any(match.id > query.get("offset", "") for match in matches)

        return of_list if match_id == "matches" else of_match

    def _slow_down(self, user: str, kind: str, limit: float) -> dict[str, str]:
        """Have the limiter hold a request back; the headers of its answer."""
        world, outcome = self._world, self._world.outcome
        if world.limiter is None:
            return {}
        pace = world.limiter.count(user)
        delay = pace.delay.total_seconds()
        if delay:
            outcome.slowed[kind] += 1
            outcome.longest = max(outcome.longest, delay)
        if delay > limit:  # nobody waits for the answer any more: it is dropped, as by the real one
            world.sleep(limit)
            raise requests.ReadTimeout("slowed down for too long")
        world.sleep(delay)
        return dict(pace.headers) if world.wish.tells else {}

    def ask(
        self, request: requests.PreparedRequest, meant: Intent | None, *, is_late: bool = False
    ) -> HTTPResponse:
        world, match_id, user = self._world, match_of(request), user_of(request)
        world.looks[match_id] += "active" not in str(request.url) and request.method == "GET"
        is_match = ID.fullmatch(match_id) is not None
        if is_match and user in world.ours:
            world.arena.match_id = match_id
            answer = super().ask(request, meant, is_late=is_late)
            world.accepted[match_id, user] += self.accepted
            world.refused[match_id, user] += self.refused
            del self.accepted[:], self.refused[:]
        else:
            answer = response_of(self.place.ask(request))
        world.time.news += 1
        about = world.number_of(match_id) if is_match else match_id
        world.tell("arena", f"{request.method} {about}", answer.status)
        return answer


WAITS = re.compile(r"[?&](wait|waitactive)=")
ID = re.compile(r"[0-9a-f]{24}")
_DIGEST = re.compile(r'username="(\w+)"')


def match_of(request: requests.PreparedRequest) -> str:
    """The match that a request is about, "matches" for all."""
    return urlsplit(str(request.url)).path.rpartition("/")[2].lower()


def user_of(request: requests.PreparedRequest) -> str:
    """Who says to be asking, "" for nobody."""
    said = request.headers.get("Authorization", "")
    digest = _DIGEST.search(said)
    if digest is not None:
        return digest[1]
    return base64.b64decode(said.removeprefix("Basic ")).decode().partition(":")[0]
