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
from fault_simulation.faults import Crash, FaultKind, FaultPlan, Intent, IntentRecorder, faults_for
from fault_simulation.scheduler import Process
from fault_simulation.simulation import FaultSimulation
from fault_simulation.transport import DelayedRequest, FaultyTransport, RecordingProxy, response_of

LONG_POLL_SECONDS = 30.0  # seconds that a long poll of the arena lasts
MIN_DELAY_SECONDS = 0.001
RARE_FAULT_DIVISOR = 5  # so many times more seldom a step at a store fails: there are more of them


def request_kind(method: str, target: str) -> str:
    """Return the kind of a request, from its method and its path with query."""
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


class RandomFaultPlan(FaultPlan):
    """The plan of a process: by chance, at the rate that is wished; `whom` it befalls is noted."""

    def __init__(
        self,
        simulation: FaultSimulation,
        process: Process,
        affects: str = "",
        rate: float | None = None,
    ) -> None:
        super().__init__(simulation.scheduler, pause=lambda: simulation.pause(process))
        self._world, self._process, self._whom = simulation, process, affects
        self._rate = simulation.config.fault_rate if rate is None else rate

    def next_fault(self, step: str) -> FaultKind | None:
        if self._rate:
            return super().next_fault(step)
        self._world.record(self._process.name, step)
        if self._process.thaw_time > self._world.scheduler.monotonic():
            self._world.sleep(0)
        return None

    def choose_fault(self, step_index: int, step: str) -> FaultKind | None:
        del step_index
        world, kinds = self._world, faults_for(step)
        asks = step in {"act", "view", "wait", "list"}
        fault = None
        if world.rng.random() < self._rate / (1 if asks else RARE_FAULT_DIVISOR):
            fault = world.rng.choice(kinds)
            world.record_incident(f"{fault} ({step})", self._whom)
        world.record(self._process.name, step, fault or "")
        return fault

    def delay(self, deliver: Callable[[], object]) -> None:
        self._world.scheduler.start_thread(deliver, seconds=20)

    @property
    def store_is_down(self) -> bool:
        return super().store_is_down or self._world.scheduler.monotonic() < self._world.locked_until


class ArenaNetwork(RecordingProxy):
    """The network between all who ask and the arena, whose limiter it passes."""

    def __init__(self, simulation: FaultSimulation) -> None:
        super().__init__(simulation.arena, None, simulation.scheduler)
        self.max_retry_after = min(
            self.max_retry_after, timedelta(seconds=simulation.config.turn_seconds) / 4
        )
        self._world = simulation

    def play_opponent(self) -> None:
        """Everybody plays in a thread of their own."""

    def plain_transport(self, process: Process) -> FaultyTransport:
        """For who is none of ours: of its steps none fails by chance."""
        return FaultyTransport(
            self, RandomFaultPlan(self._world, process, rate=0), IntentRecorder()
        )

    def delay(self, late: DelayedRequest) -> None:
        world, looks = self._world, self._world.view_counts
        match_id = request_match(late.request)
        view_count, seconds = looks[match_id], (late.due_at - world.scheduler.now()).total_seconds()

        def arrive() -> None:
            looked = (
                (lambda: looks[match_id] > view_count) if late.due_view_count is not None else None
            )
            world.scheduler.wait_until(looked, seconds)
            self.forward_immediately(late.request, late.intent, is_late=True)

        world.scheduler.start_thread(arrive)

    def forward(
        self,
        request: requests.PreparedRequest,
        intent: Intent | None,
        timeout: Timeout,
        sent_at: float,
    ) -> HTTPResponse:
        world, wish, limit = self._world, self._world.config, cast("float", timeout.total)
        kind, sender = (
            request_kind(str(request.method), str(request.path_url)),
            world.scheduler.process,
        )
        if kind == "act":
            world.sleep(wish.max_decision_seconds * world.rng.random())
            if world.scheduler.monotonic() - sent_at > cast("float", timeout.connect_timeout):
                raise Unreachable("not sent, for it took too long")  # as `Prompt` does
            limit -= world.scheduler.monotonic() - sent_at
        world.outcome.request_counts[kind] += 1
        with world.scheduler.as_network():
            headers = self._arrive(request, kind, limit)
            if sender.is_dead:  # what is held is dropped with its connection
                raise Crash(sender.name)
            answer = self.forward_immediately(request, intent)
            hold_seconds, world.arena.throttle_seconds = world.arena.throttle_seconds, 0
            world.sleep(wish.network_delay + hold_seconds)
        answer.headers.update(headers)
        return answer

    def _arrive(self, request: requests.PreparedRequest, kind: str, limit: float) -> dict[str, str]:
        """Let a request come before the arena and wait there; what its limiter tells."""
        world, starts, user = self._world, self._world.arena_restarts, request_user(request)
        world.sleep(world.config.network_delay)
        gives_up = world.scheduler.monotonic() + limit
        world.sleep(min(limit, world.cut_until - world.scheduler.monotonic() + MIN_DELAY_SECONDS))
        headers = (
            self._slow_down(user, kind, gives_up - world.scheduler.monotonic()) if user else {}
        )
        if user and LONG_POLL_PATTERN.search(str(request.url)):
            answers = self._answers(request, user)
            if request_match(request) == "matches" and not answers():
                self.server.handle_request(request)  # it is heard of at once, and answered later
            world.scheduler.wait_until(answers, min(LONG_POLL_SECONDS, limit))
        if world.scheduler.monotonic() < world.cut_until:
            raise requests.ReadTimeout("the arena is cut off")
        if world.scheduler.monotonic() < world.down_until or world.arena_restarts != starts:
            raise requests.ConnectionError("the arena was killed")
        return headers

    def _answers(self, request: requests.PreparedRequest, user: str) -> Callable[[], bool]:
        """Return a function that is true once a long poll can be answered."""
        arena, match_id = self._world.arena, request_match(request)
        query = dict(parse_qsl(urlsplit(str(request.url)).query, keep_blank_values=True))

        def of_match() -> bool:
            match = arena.arena.lobby.get(match_id)
            assert match is not None, "nobody waits for what is not there"
            return match.is_finished or match.active_player == user

        def of_list() -> bool:
            lobby = arena.arena.lobby
            matches = (
                lobby.matches_waiting_for(user) if "active" in query else lobby.matches_of(user)
            )
            return any(match.id > query.get("offset", "") for match in matches)

        return of_list if match_id == "matches" else of_match

    def _slow_down(self, user: str, kind: str, limit: float) -> dict[str, str]:
        """Have the limiters hold a request back; the headers of its answer.

        Everybody has one address. Its limit is in no header, as at the original.
        """
        world, outcome, headers = self._world, self._world.outcome, dict[str, str]()
        delay = 0.0
        if world.address_limiter is not None:
            delay += world.address_limiter.count_request("address").delay.total_seconds()
            outcome.max_address_seconds = max(outcome.max_address_seconds, delay)
        if world.limiter is not None:
            pace = world.limiter.count_request(user)
            delay += pace.delay.total_seconds()
            headers = dict(pace.headers) if world.config.reports_rate_limit else {}
        if delay:
            outcome.throttled_counts[kind] += 1
            world.record("held", user, kind, f"{delay:.1f}")
            outcome.max_throttle_seconds = max(outcome.max_throttle_seconds, delay)
        if delay > limit:  # nobody waits for the answer any more: it is dropped, as by the real one
            outcome.abandoned_counts[kind] += user in world.bot_users
            world.sleep(limit)
            raise requests.ReadTimeout("slowed down for too long")
        world.sleep(delay)
        return headers

    def forward_immediately(
        self, request: requests.PreparedRequest, intent: Intent | None, *, is_late: bool = False
    ) -> HTTPResponse:
        world, match_id, user = self._world, request_match(request), request_user(request)
        world.view_counts[match_id] += "active" not in str(request.url) and request.method == "GET"
        is_match = ID.fullmatch(match_id) is not None
        if is_match and user in world.bot_users:
            world.arena.match_id = match_id
            answer = super().forward_immediately(request, intent, is_late=is_late)
            world.accepted[match_id, user] += self.accepted
            world.refused[match_id, user] += self.refused
            del self.accepted[:], self.refused[:]
        else:
            answer = response_of(self.server.handle_request(request))
        world.scheduler.change_count += 1
        about = world.match_number(match_id) if is_match else match_id
        world.record("arena", f"{request.method} {about}", answer.status)
        return answer


LONG_POLL_PATTERN = re.compile(r"[?&](wait|waitactive)=")
ID = re.compile(r"[0-9a-f]{24}")
_DIGEST = re.compile(r'username="(\w+)"')


def request_match(request: requests.PreparedRequest) -> str:
    """The match that a request is about, "matches" for all."""
    return urlsplit(str(request.url)).path.rpartition("/")[2].lower()


def request_user(request: requests.PreparedRequest) -> str:
    """Return the user named in a request's credentials, or an empty string."""
    authorization = request.headers.get("Authorization", "")
    digest = _DIGEST.search(authorization)
    if digest is not None:
        return digest[1]
    return base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")[0]
