"""Network between our machines and the arena: its faults, and the arena's rate limiters."""

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
from fault_simulation.transport import (
    DelayedRequest,
    FaultyTransport,
    RecordingProxy,
    to_urllib3_response,
)

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
    """Fault plan of a process that injects faults at random, at a given rate.

    `affects` is the match to which its incidents are attributed, "" for all matches.
    """

    def __init__(
        self,
        simulation: FaultSimulation,
        process: Process,
        affects: str = "",
        rate: float | None = None,
    ) -> None:
        super().__init__(simulation.scheduler, pause=lambda: simulation.pause(process))
        self._simulation, self._process, self._affected = simulation, process, affects
        self._rate = simulation.config.fault_rate if rate is None else rate

    def next_fault(self, step: str) -> FaultKind | None:
        if self._rate:
            return super().next_fault(step)
        self._simulation.record(self._process.name, step)
        if self._process.thaw_time > self._simulation.scheduler.monotonic():
            self._simulation.sleep(0)
        return None

    def choose_fault(self, step_index: int, step: str) -> FaultKind | None:
        del step_index
        simulation, kinds = self._simulation, faults_for(step)
        is_arena_request = step in {"act", "view", "wait", "list"}
        fault = None
        if simulation.rng.random() < self._rate / (1 if is_arena_request else RARE_FAULT_DIVISOR):
            fault = simulation.rng.choice(kinds)
            simulation.record_incident(f"{fault} ({step})", self._affected)
        simulation.record(self._process.name, step, fault or "")
        return fault

    def delay(self, deliver: Callable[[], object]) -> None:
        self._simulation.scheduler.start_thread(deliver, seconds=20)

    @property
    def store_is_down(self) -> bool:
        return (
            super().store_is_down
            or self._simulation.scheduler.monotonic() < self._simulation.locked_until
        )


class ArenaNetwork(RecordingProxy):
    """Network between all clients and the arena; requests pass the arena's rate limiters."""

    def __init__(self, simulation: FaultSimulation) -> None:
        super().__init__(simulation.arena, None, simulation.scheduler)
        self.max_retry_after = min(
            self.max_retry_after, timedelta(seconds=simulation.config.turn_seconds) / 4
        )
        self._simulation = simulation

    def play_opponent(self) -> None:
        """Do nothing: every opponent plays in its own thread."""

    def plain_transport(self, process: Process) -> FaultyTransport:
        """Return a transport for a process that is not ours; it meets no random fault."""
        return FaultyTransport(
            self, RandomFaultPlan(self._simulation, process, rate=0), IntentRecorder()
        )

    def delay(self, delayed_request: DelayedRequest) -> None:
        simulation, view_counts = self._simulation, self._simulation.view_counts
        match_id = request_match_id(delayed_request.request)
        view_count, seconds = (
            view_counts[match_id],
            (delayed_request.due_at - simulation.scheduler.now()).total_seconds(),
        )

        def arrive() -> None:
            is_viewed = (
                (lambda: view_counts[match_id] > view_count)
                if delayed_request.due_view_count is not None
                else None
            )
            simulation.scheduler.wait_until(is_viewed, seconds)
            self.forward_immediately(delayed_request.request, delayed_request.intent, is_late=True)

        simulation.scheduler.start_thread(arrive)

    def forward(
        self,
        request: requests.PreparedRequest,
        intent: Intent | None,
        timeout: Timeout,
        sent_at: float,
    ) -> HTTPResponse:
        simulation, config, limit = (
            self._simulation,
            self._simulation.config,
            cast("float", timeout.total),
        )
        kind, sender = (
            request_kind(str(request.method), str(request.path_url)),
            simulation.scheduler.process,
        )
        if kind == "act":
            simulation.sleep(config.max_decision_seconds * simulation.rng.random())
            if simulation.scheduler.monotonic() - sent_at > cast("float", timeout.connect_timeout):
                raise Unreachable("not sent, for it took too long")  # as `Prompt` does
            limit -= simulation.scheduler.monotonic() - sent_at
        simulation.outcome.request_counts[kind] += 1
        with simulation.scheduler.as_network():
            headers = self._deliver_to_arena(request, kind, limit)
            if sender.is_dead:  # what is held is dropped with its connection
                raise Crash(sender.name)
            response = self.forward_immediately(request, intent)
            throttle_seconds, simulation.arena.throttle_seconds = (
                simulation.arena.throttle_seconds,
                0,
            )
            simulation.sleep(config.network_delay + throttle_seconds)
        response.headers.update(headers)
        return response

    def _deliver_to_arena(
        self, request: requests.PreparedRequest, kind: str, limit: float
    ) -> dict[str, str]:
        """Deliver a request to the arena, and wait as its limiters and its long poll require.

        Return the headers of the rate limiter.
        """
        simulation, restart_count, user = (
            self._simulation,
            self._simulation.arena_restarts,
            request_user(request),
        )
        simulation.sleep(simulation.config.network_delay)
        deadline = simulation.scheduler.monotonic() + limit
        simulation.sleep(
            min(
                limit,
                simulation.partition_end - simulation.scheduler.monotonic() + MIN_DELAY_SECONDS,
            )
        )
        headers = (
            self._throttle(user, kind, deadline - simulation.scheduler.monotonic()) if user else {}
        )
        if user and LONG_POLL_PATTERN.search(str(request.url)):
            can_respond = self._long_poll_condition(request, user)
            if request_match_id(request) == "matches" and not can_respond():
                self.server.handle_request(request)  # it is heard of at once, and answered later
            simulation.scheduler.wait_until(can_respond, min(LONG_POLL_SECONDS, limit))
        if simulation.scheduler.monotonic() < simulation.partition_end:
            raise requests.ReadTimeout("the arena is cut off")
        if (
            simulation.scheduler.monotonic() < simulation.down_until
            or simulation.arena_restarts != restart_count
        ):
            raise requests.ConnectionError("the arena was killed")
        return headers

    def _long_poll_condition(
        self, request: requests.PreparedRequest, user: str
    ) -> Callable[[], bool]:
        """Return a function that is true once a long poll can be answered."""
        arena, match_id = self._simulation.arena, request_match_id(request)
        query = dict(parse_qsl(urlsplit(str(request.url)).query, keep_blank_values=True))

        def is_match_ready() -> bool:
            match = arena.arena.lobby.get(match_id)
            assert match is not None, "nobody waits for what is not there"
            return match.is_finished or match.active_player == user

        def is_list_ready() -> bool:
            lobby = arena.arena.lobby
            matches = (
                lobby.matches_waiting_for(user) if "active" in query else lobby.matches_of(user)
            )
            return any(match.id > query.get("offset", "") for match in matches)

        return is_list_ready if match_id == "matches" else is_match_ready

    def _throttle(self, user: str, kind: str, limit: float) -> dict[str, str]:
        """Delay a request as the rate limiters do, and return the headers of its response.

        All clients share one address. As at the original, no header reports that address's limit.
        """
        simulation, outcome, headers = self._simulation, self._simulation.outcome, dict[str, str]()
        delay = 0.0
        if simulation.address_limiter is not None:
            delay += simulation.address_limiter.count_request("address").delay.total_seconds()
            outcome.max_address_seconds = max(outcome.max_address_seconds, delay)
        if simulation.limiter is not None:
            throttling = simulation.limiter.count_request(user)
            delay += throttling.delay.total_seconds()
            headers = dict(throttling.headers) if simulation.config.reports_rate_limit else {}
        if delay:
            outcome.throttled_counts[kind] += 1
            simulation.record("held", user, kind, f"{delay:.1f}")
            outcome.max_throttle_seconds = max(outcome.max_throttle_seconds, delay)
        if delay > limit:  # nobody waits for the answer any more: it is dropped, as by the real one
            outcome.abandoned_counts[kind] += user in simulation.bot_users
            simulation.sleep(limit)
            raise requests.ReadTimeout("slowed down for too long")
        simulation.sleep(delay)
        return headers

    def forward_immediately(
        self, request: requests.PreparedRequest, intent: Intent | None, *, is_late: bool = False
    ) -> HTTPResponse:
        simulation, match_id, user = (
            self._simulation,
            request_match_id(request),
            request_user(request),
        )
        simulation.view_counts[match_id] += (
            "active" not in str(request.url) and request.method == "GET"
        )
        is_match = MATCH_ID_PATTERN.fullmatch(match_id) is not None
        if is_match and user in simulation.bot_users:
            simulation.arena.match_id = match_id
            response = super().forward_immediately(request, intent, is_late=is_late)
            simulation.accepted[match_id, user] += self.accepted
            simulation.refused[match_id, user] += self.refused
            del self.accepted[:], self.refused[:]
        else:
            response = to_urllib3_response(self.server.handle_request(request))
        simulation.scheduler.change_count += 1
        target = simulation.match_number(match_id) if is_match else match_id
        simulation.record("arena", f"{request.method} {target}", response.status)
        return response


LONG_POLL_PATTERN = re.compile(r"[?&](wait|waitactive)=")
MATCH_ID_PATTERN = re.compile(r"[0-9a-f]{24}")
_DIGEST = re.compile(r'username="(\w+)"')


def request_match_id(request: requests.PreparedRequest) -> str:
    """Return the id of the match that a request is about, "matches" for the list."""
    return urlsplit(str(request.url)).path.rpartition("/")[2].lower()


def request_user(request: requests.PreparedRequest) -> str:
    """Return the user named in a request's credentials, or an empty string."""
    authorization = request.headers.get("Authorization", "")
    digest = _DIGEST.search(authorization)
    if digest is not None:
        return digest[1]
    return base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")[0]
