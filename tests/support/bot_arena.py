"""The real arena in this process, without sockets: its own application, asked by a real client.

Every accepted action is recorded with the state it met and with what its worker had decided.
"""

import asyncio
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.response import HTTPResponse

from cardsharp.deadmansdraw.arena import ArenaClient, Credentials, Limits
from cardsharp.deadmansdraw.reading import rebuild
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.wire import action_body, parse_view
from support.arena import ADMIN_PASSWORD, ALICE, DUMMY, PASSWORDS, write_players
from support.bot_clock import StillClock
from support.bot_faults import Crash, FaultPlan, Intent, Kind, Meant
from workbench.arena.app import Arena
from workbench.arena.config import ArenaConfig
from workbench.arena.match import Match
from workbench.arena.players import User
from workbench.arena.views import Look, full_view

ALICE_USER = User(ALICE, "Alice", "player")
DUMMY_USER = User(DUMMY, "Dummy", "player")
URL = "http://127.0.0.1:9"
RETRY_AFTER = timedelta(seconds=2)
ACT = timedelta(milliseconds=2500)
LATENESS = ACT * 0.98
"""An action that is under way arrives before its limit, and hardly before."""


@dataclass(frozen=True)
class Accepted:
    """An action that the arena carried out: on which state, and what its sender had meant."""

    player: str
    body: Mapping[str, Any]
    before: Match
    at: datetime
    meant: Intent | None


@dataclass
class Late:
    """An action that is still on its way."""

    due: datetime
    due_step: int
    request: requests.PreparedRequest
    meant: Intent | None


@dataclass
class BenchArena:
    """An arena with one match between Alice, who is ours, and the dummy, who plays by himself."""

    folder: Path
    clock: StillClock
    opponent: str = "draw-2"
    accepted: list[Accepted] = field(default_factory=list)
    late: list[Late] = field(default_factory=list)

    def __post_init__(self) -> None:
        players = self.folder / "players.json"
        if not players.exists():
            write_players(self.folder)
        self.arena = Arena(
            ArenaConfig(
                players=players,
                poll_timeout=timedelta(0),
                admin_password=ADMIN_PASSWORD,
                clock=self.clock.now,
            )
        )
        self._loop = asyncio.new_event_loop()
        self._dummy = build(self.opponent, Random(1))

    def close(self) -> None:
        self.arena.close()
        self._loop.close()

    def create(self, body: dict[str, Any]) -> str:
        """The id of a new practice match of Alice's, who is shown all that a creator is shown."""
        wish = {"playerids": [ALICE, DUMMY], **body}
        return self.arena.referee.create(ALICE_USER, wish, None)[0].id

    def match(self, match_id: str) -> Match:
        return self.arena.referee.find(match_id)

    def look(self, match_id: str, *, admin: bool = True) -> Any:  # noqa: ANN401 - JSON
        """The match with all its moves as JSON, as the admin or as Alice sees it."""
        user = User("admin", None, "admin") if admin else ALICE_USER
        look = Look(user, debug=admin, events=True)
        history = self.arena.lobby.history(match_id)
        return json.loads(
            json.dumps(full_view(self.match(match_id), look, history, self.arena.book))
        )

    def waits_for(self, player: str, match_id: str) -> bool:
        return self.match(match_id).active_player == player

    def play_dummy(self, match_id: str) -> None:
        """The dummy's whole turn, if it is his."""
        while self.waits_for(DUMMY, match_id):
            view = parse_view(self.look(match_id, admin=False))
            decision = self._dummy.decide(rebuild(view, 1))
            self.arena.referee.act(DUMMY_USER, match_id, action_body(decision.action), None)

    def act_as_alice(self, match_id: str, body: dict[str, Any]) -> None:
        """An action of Alice's that passes no worker."""
        self.arena.referee.act(ALICE_USER, match_id, body, None)

    def deliver(self, step: int) -> None:
        """Let those late actions arrive whose time has come."""
        due = [one for one in self.late if self.clock.now() >= one.due or step >= one.due_step]
        self.late = [one for one in self.late if one not in due]
        for one in due:
            self.ask(one.request, one.meant)

    def ask(self, request: requests.PreparedRequest, meant: Intent | None = None) -> HTTPResponse:
        """The application's answer; an accepted action is recorded."""
        parts = urlsplit(str(request.url))
        match_id = parts.path.rpartition("/")[2]
        before = self.arena.lobby.find(match_id) if request.method == "POST" else None
        status, headers, body = self._loop.run_until_complete(self._asgi(request))
        if before is not None and status == requests.codes.ok:
            sent = json.loads(request.body or b"{}")
            self.accepted.append(
                Accepted(str(before.active_player), sent, before, self.clock.now(), meant)
            )
        return HTTPResponse(io.BytesIO(body), headers=headers, status=status, preload_content=False)

    async def _asgi(self, request: requests.PreparedRequest) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(str(request.url))
        raw = request.body or b""
        pending = [raw.encode() if isinstance(raw, str) else raw]
        answer: dict[str, Any] = {"body": b""}

        async def receive() -> dict[str, Any]:
            if pending:
                return {"type": "http.request", "body": pending.pop(), "more_body": False}
            await asyncio.Event().wait()
            raise AssertionError("nobody sets this event")

        async def send(message: Any) -> None:  # noqa: ANN401 - ASGI's own
            if message["type"] == "http.response.start":
                answer.update(message)
            else:
                answer["body"] += message.get("body", b"")

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(k.lower().encode(), _bytes(v)) for k, v in request.headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 9),
        }
        await self.arena.app(scope, receive, send)
        headers = {k.decode(): v.decode() for k, v in answer.get("headers", ())}
        return answer["status"], headers, answer["body"]


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


class FaultyWire(HTTPAdapter):
    """Carries a worker's requests to the arena, or does to them what the plan says."""

    def __init__(self, arena: BenchArena, plan: FaultPlan, meant: Meant) -> None:
        super().__init__()
        self._arena = arena
        self._plan = plan
        self._meant = meant
        self._not_before = arena.clock.now()

    def send(  # type: ignore[override]  # of all that requests passes, only the limit matters
        self, request: requests.PreparedRequest, timeout: tuple[float, float], **_rest: object
    ) -> requests.Response:
        step = step_of(request)
        fault = self._plan.next(step)
        self._arena.deliver(len(self._plan.steps))
        assert self._arena.clock.now() >= self._not_before, "asked before Retry-After was over"
        if step == "wait":
            self._arena.play_dummy(urlsplit(str(request.url)).path.rpartition("/")[2])
        if fault in {None, Kind.PAUSE_AFTER}:
            answer = self._arena.ask(request, self._meant.intended)
            if fault is Kind.PAUSE_AFTER:
                self._plan.pause()
            return self.build_response(request, answer)
        assert fault is not None
        return self._fail(request, fault, timeout[1])

    def _fail(
        self, request: requests.PreparedRequest, fault: Kind, limit: float
    ) -> requests.Response:
        arena, meant = self._arena, self._meant.intended
        if fault in DONE:
            arena.ask(request, meant)
        if fault in LATE:
            due, step = arena.clock.now() + LATENESS, len(self._plan.steps) + LATE[fault]
            arena.late.append(Late(due, step, request, meant))
        if fault in {Kind.CRASH_AFTER, Kind.CRASH_LATE, Kind.CRASH_LATE_BY_CALLS}:
            raise Crash(f"during {step_of(request)}")
        if fault is Kind.TIMED_OUT:
            arena.clock.advance(timedelta(seconds=limit))
            raise requests.ReadTimeout(f"no answer within {limit}")
        if fault in ANSWERS:
            status, headers, body = ANSWERS[fault]
            if "Retry-After" in headers:
                self._not_before = arena.clock.now() + RETRY_AFTER
            response = HTTPResponse(
                io.BytesIO(body), headers=headers, status=status, preload_content=False
            )
            return self.build_response(request, response)
        raise requests.ConnectionError("connection reset by peer")


DONE = {
    Kind.CRASH_AFTER,
    Kind.RESPONSE_LOST,
    Kind.HTTP_500_DONE,
    Kind.GARBAGE,
    Kind.CUT,
    Kind.TIMED_OUT,
}
"""The faults after which the arena has done what was asked."""

LATE: Mapping[Kind, int] = {
    Kind.LATE: 1_000_000,
    Kind.LATE_BY_CALLS: 3,
    Kind.CRASH_LATE: 1_000_000,
    Kind.CRASH_LATE_BY_CALLS: 4,
}
"""After how many steps an action arrives, if its time has not come before."""

_SECONDS = {"Retry-After": str(int(RETRY_AFTER.total_seconds()))}
ANSWERS: Mapping[Kind, tuple[int, dict[str, str], bytes]] = {
    Kind.HTTP_500: (500, {}, b'{"error":"Internal Server Error."}'),
    Kind.HTTP_500_DONE: (500, {}, b'{"error":"Internal Server Error."}'),
    Kind.HTTP_409: (409, {}, b'{"error":"Authenticated user is not the current player."}'),
    Kind.HTTP_429: (429, _SECONDS, b"slow down"),
    Kind.HTTP_503: (503, _SECONDS, b"busy"),
    Kind.GARBAGE: (200, {}, b"<!DOCTYPE html><html><body>Welcome to our hotel</body></html>"),
    Kind.CUT: (200, {}, b'[{"eventType":"Dra'),
}


def step_of(request: requests.PreparedRequest) -> str:
    if request.method == "POST":
        return "act"
    if urlsplit(str(request.url)).path == "/api/matches":
        return "list"
    return "wait" if "waitactive" in str(request.url) else "view"


def client_of(arena: BenchArena, plan: FaultPlan, meant: Meant) -> ArenaClient:
    """Alice's client, whose every request passes the plan; one attempt a request."""
    session = requests.Session()
    session.trust_env = False
    limits = Limits(attempts=1, act=ACT, body=200_000)
    client = ArenaClient(URL, Credentials(ALICE, PASSWORDS[ALICE]), limits, session=session)
    session.mount("http://", FaultyWire(arena, plan, meant))
    return client
