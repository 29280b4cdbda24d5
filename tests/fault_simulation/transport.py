"""The way from a worker to its match: a game's real server in this process, asked by real clients.

What passes can be lost, spoilt or late, as a plan says. Every action of ours that the server takes
is recorded with the state it met and with what its worker had meant.
"""

import io
import json
import socket
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol, TypeVar, cast
from urllib.parse import parse_qsl, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPHeaderDict
from urllib3.response import HTTPResponse
from urllib3.util import Timeout

from cardsharp.bot.bot_match import OpenMatch
from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.timing import SessionTiming
from cardsharp.client.config import RequestLimits
from cardsharp.client.transport import ServiceClient
from cardsharp.core.clock import Clock
from cardsharp.core.queue import Queue
from cardsharp.server.gateway_events import LambdaHandler
from cardsharp.store.match_log import Body, MatchLog
from cardsharp.store.secret_vault import SecretVault
from cardsharp_tools.local_cloud.api_gateway_events import (
    HttpRequest,
    HttpResponse,
    parse_response,
    to_event,
)
from cardsharp_tools.local_cloud.lambda_events import LocalLambdaContext
from fault_simulation.faults import STEP, Crash, FaultKind, FaultPlan, Intent, IntentRecorder
from fault_simulation.virtual_clock import VirtualClock

C = TypeVar("C", bound=ServiceClient)

RETRY_AFTER = timedelta(seconds=2)
ACTION_TIMEOUT = timedelta(milliseconds=2500)
LATE_ARRIVAL = (
    ACTION_TIMEOUT * 0.98
)  # an action that is under way arrives before its limit, and hardly before
LINGER_RESET = (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
"""The option of a socket that leaves no bytes to the kernel when it is closed."""

LIMITS = RequestLimits(
    max_attempts=1,
    action_timeout=ACTION_TIMEOUT,
    read_timeout=SessionTiming().read_timeout,
    max_body_bytes=200_000,
)
"""One attempt a request, so that each is a step of its own."""


@dataclass(frozen=True)
class WorkerEnvironment:
    """Transport, stores, name and clock of a worker, all of them faulty."""

    transport: "FaultyTransport"
    log: MatchLog
    vault: SecretVault
    queue: Queue
    name: str
    clock: Clock

    def attach(self, client: C) -> C:
        """Route every request of a client through the fault plan, and return the client.

        The options of its own sockets still tell whether a closed connection drops its bytes.
        """
        session = client._transport._session
        pool = cast("HTTPAdapter", session.get_adapter("https://")).poolmanager
        self.transport.drops_unsent_bytes = LINGER_RESET in pool.connection_pool_kw.get(
            "socket_options", ()
        )
        for scheme in ("http://", "https://"):
            session.mount(scheme, self.transport)
        return client


class SimulatedServer(Protocol):
    """A match at its game's real server in this process: all that a game supplies to the bench."""

    game: str
    match_id: str
    secrets: Sequence[str]  # what nothing that we store or log may repeat
    not_found_response: tuple[int, str]  # by which status and words the server says: no such match

    def close(self) -> None: ...

    # Have the bot play the match, where somebody must order that; and look for it as a poller does.
    def order_match(self, environment: WorkerEnvironment, dispatcher: MatchDispatcher) -> None: ...
    def poll(self, environment: WorkerEnvironment, dispatcher: MatchDispatcher) -> None: ...

    # The matches that the server itself says wait for us; how our bot meets this one.
    def announced_matches(self) -> Iterable[str]: ...
    def connect_bot(self, environment: WorkerEnvironment) -> OpenMatch: ...

    # What a request is: "view", "wait", "list", "join" or "act"; and what the server answers.
    def request_kind(self, request: requests.PreparedRequest) -> str: ...
    def handle_request(self, request: requests.PreparedRequest) -> HttpResponse: ...

    # The opponent does all that it can.
    def play_rival(self) -> object: ...

    # The next move's number, the state that it meets, and where what was meant is another.
    @property
    def sequence(self) -> int: ...
    def server_state(self) -> Any: ...  # noqa: ANN401 - the game's own
    def action_errors(self, server_state: Any, sent: Any, intent: Body) -> Iterable[str]: ...  # noqa: ANN401

    # By the server's own account the facts of all moves, and which are our own actions.
    def history(self) -> Mapping[int, Body]: ...
    def bot_moves(self) -> Iterable[int]: ...

    # What else is wrong with a match that has ended, in sentences.
    def violations(self, log: MatchLog) -> Iterable[str]: ...


@dataclass(frozen=True)
class AcceptedAction:
    """An action that the server executed, and how it differs from its sender's intent."""

    sequence: int
    body: Mapping[str, Any]
    accepted_at: datetime
    violations: Sequence[str]


REFUSAL_STATUSES = {400, 403, 409}
FORCED_TURN_MARKER = b'"Comment"'
"""In an answer of the arena: it has ended the overdue turn by force, in place of the action."""


class RefusedAction(NamedTuple):
    """An action of ours that was sent in time and that the server itself would not take."""

    sequence: int
    action: Mapping[str, Any]
    answer: str
    refused_at: datetime

    def __str__(self) -> str:
        return f"{self.action} at {self.sequence} was refused: {self.answer}"


@dataclass
class DelayedRequest:
    """An action that is still on its way."""

    due_at: datetime
    due_view_count: int | None
    request: requests.PreparedRequest
    intent: Intent | None


@dataclass
class RecordingProxy:
    """Proxy that all requests to a server pass; it records actions and holds back late ones."""

    server: SimulatedServer
    log: MatchLog | None  # in which an intent must be; without one a worker tells when it is
    clock: VirtualClock
    accepted: list[AcceptedAction] = field(default_factory=list)
    refused: list[RefusedAction] = field(default_factory=list)
    delayed: list[DelayedRequest] = field(default_factory=list)

    max_retry_after: timedelta = RETRY_AFTER
    """For how long a Retry-After keeps who plays away: a turn is not lost for it."""

    def play_opponent(self) -> None:
        self.server.play_rival()

    def delay(self, late: DelayedRequest) -> None:
        self.delayed.append(late)

    def deliver(self, view_count: int) -> None:
        """Deliver the late actions whose time has come, or for which there were enough views."""
        current_time = self.clock.now()
        due = [
            delayed_request
            for delayed_request in self.delayed
            if current_time >= delayed_request.due_at
            or (
                delayed_request.due_view_count is not None
                and view_count >= delayed_request.due_view_count
            )
        ]
        self.delayed = [
            delayed_request for delayed_request in self.delayed if delayed_request not in due
        ]
        for delayed_request in due:
            self.forward_immediately(delayed_request.request, delayed_request.intent, is_late=True)

    def forward(
        self,
        request: requests.PreparedRequest,
        intent: Intent | None,
        timeout: Timeout,
        sent_at: float,
    ) -> HTTPResponse:
        """Return the server's response to a request that meets no fault.

        `sent_at` is the time, in seconds of the clock, at which sending began.
        """
        del timeout, sent_at
        return self.forward_immediately(request, intent)

    def forward_immediately(
        self, request: requests.PreparedRequest, intent: Intent | None, *, is_late: bool = False
    ) -> HTTPResponse:
        """Return the server's response at once, and record the result of an action."""
        acts = self.server.request_kind(request) == "act"
        sequence_and_state = (
            (self.server.sequence, self.server.server_state()) if acts else (0, None)
        )
        answer = self.server.handle_request(request)
        if acts and answer.status == requests.codes.ok and FORCED_TURN_MARKER not in answer.body:
            sent = action_in(request)
            faults = list(self._faults(*sequence_and_state, sent, intent))
            self.accepted.append(
                AcceptedAction(sequence_and_state[0], sent, self.clock.now(), faults)
            )
        elif acts and answer.status in REFUSAL_STATUSES and not is_late:
            answer_text = f"{answer.status} {answer.body.decode()}"
            self.refused.append(
                RefusedAction(
                    sequence_and_state[0], action_in(request), answer_text, self.clock.now()
                )
            )
        return response_of(answer)

    def _faults(
        self, sequence: int, truth: object, sent: Body, meant: Intent | None
    ) -> Iterable[str]:
        """R03 and R17: yield how an action differs from its intent and from the log."""
        if meant is None:
            yield f"{sent} was played at {sequence} without an intent"
            return
        at, intent = meant
        if at != sequence:
            yield f"{sent} was meant for move {at} and met {sequence}"
        yield from (
            f"move {sequence}: {action_error}"
            for action_error in self.server.action_errors(truth, sent, intent)
        )
        if self.log is None:
            return
        moves = {move.sequence: move.intent for move in self.log.moves(self.server.match_id)}
        stored = moves.get(sequence)
        if stored is None:
            yield f"move {sequence} was played and the log has no intent"
        elif list(self.server.action_errors(truth, sent, stored)):
            yield f"move {sequence} was played otherwise than the log says"


class FaultyTransport(HTTPAdapter):
    """Transport that carries a worker's requests to the server, or injects the plan's faults.

    `drops_unsent_bytes` is True if a closed connection drops its unsent bytes, as the real
    kernel does with the client's socket options.
    """

    drops_unsent_bytes = False

    def __init__(self, proxy: RecordingProxy, plan: FaultPlan, intents: IntentRecorder) -> None:
        super().__init__()
        self._gate, self._plan, self._minds = proxy, plan, intents
        self._retry_allowed_at = proxy.clock.now()

    def send(  # type: ignore[override]  # of all that requests passes, only the limit matters
        self, request: requests.PreparedRequest, timeout: Timeout | float, **_rest: object
    ) -> requests.Response:
        gate = self._gate
        timeout = timeout if isinstance(timeout, Timeout) else Timeout(total=timeout)
        # Read now and only now: by the real clock a body refuses to leave after its moment.
        request.body = body_of(request)
        step, began = gate.server.request_kind(request), gate.clock.monotonic()
        fault = self._plan.next_fault(step)
        gate.deliver(self._plan.view_count)
        early = self._retry_allowed_at - gate.clock.now()
        assert early <= timedelta(0), f"{step} was asked {early} before Retry-After was over"
        if step in {"view", "wait"}:
            gate.play_opponent()
        if fault in {None, FaultKind.PAUSE_AFTER, FaultKind.SLOW}:
            answer = gate.forward(request, self._minds.last_intent, timeout, began)
            if fault is FaultKind.PAUSE_AFTER:
                self._plan.pause()
            return self.build_response(request, answer)
        return self._fail(request, fault, timeout.total)

    def _fail(
        self, request: requests.PreparedRequest, fault: FaultKind, limit: float
    ) -> requests.Response:
        gate, meant, traits = self._gate, self._minds.last_intent, fault.effects
        if "done" in traits:
            gate.forward_immediately(request, meant)
        if "late" in traits:
            look = self._plan.view_count + 1 if "look" in traits else None
            gate.delay(DelayedRequest(gate.clock.now() + LATE_ARRIVAL, look, request, meant))
        if "beyond" in traits and not self.drops_unsent_bytes:
            gate.delay(
                DelayedRequest(gate.clock.now() + LATE_ARRIVALS[fault], None, request, meant)
            )
        if "crash" in traits:
            raise Crash(f"during {request.path_url}")
        if "silent" in traits:
            gate.clock.sleep(timedelta(seconds=limit))
            raise requests.ReadTimeout(f"no answer within {limit}")
        response = self._synthetic_response(fault)
        if response is None:
            raise requests.ConnectionError("connection reset by peer")
        if response.headers:
            self._retry_allowed_at = gate.clock.now() + gate.max_retry_after
        return self.build_response(request, response_of(response))

    def _synthetic_response(self, fault: FaultKind) -> HttpResponse | None:
        """Return a response that the server has not given; None if the connection breaks."""
        if "page" in fault.effects:
            return HttpResponse(PAGE_STATUSES[len(self._plan.steps) % len(PAGE_STATUSES)], (), PAGE)
        if fault is FaultKind.NOT_FOUND_ONCE:
            status, words = self._gate.server.not_found_response
            return HttpResponse(status, (), json.dumps({"error": words}).encode())
        return ANSWERS.get(fault)


LATE_ARRIVALS: Mapping[FaultKind, timedelta] = {
    FaultKind.LATE_BEYOND_TIMEOUT: ACTION_TIMEOUT + 4 * STEP,
    FaultKind.CRASH_BEYOND_TIMEOUT: ACTION_TIMEOUT + timedelta(seconds=0.75),
}  # when an action arrives that its sender, or whoever comes after him, no longer waits for
PAGE_STATUSES = (400, 401, 403, 404, 408, 409, 410, 413, 421)
"""What gateways, proxies and firewalls answer in place of the server; the next at each step."""

PAGE = b"<!DOCTYPE html><html><body>Request blocked</body></html>"
_SECONDS = (("Retry-After", str(int(RETRY_AFTER.total_seconds()))),)
ANSWERS: Mapping[FaultKind, HttpResponse] = {
    FaultKind.HTTP_500: HttpResponse(500, (), b'{"error":"Internal Server Error."}'),
    FaultKind.HTTP_500_DONE: HttpResponse(500, (), b'{"error":"Internal Server Error."}'),
    FaultKind.HTTP_408: HttpResponse(408, (), b"Request Timeout"),
    FaultKind.HTTP_408_DONE: HttpResponse(408, (), b"Request Timeout"),
    FaultKind.HTTP_409: HttpResponse(
        409, (), b'{"error":"Authenticated user is not the current player."}'
    ),
    FaultKind.HTTP_429: HttpResponse(429, _SECONDS, b"slow down"),
    FaultKind.HTTP_503: HttpResponse(503, _SECONDS, b"busy"),
    FaultKind.GARBAGE: HttpResponse(200, (), b"<!DOCTYPE html><html><body>Our hotel</body></html>"),
    FaultKind.TRUNCATED: HttpResponse(200, (), b'[{"eventType":"Dra'),
}


def response_of(answer: HttpResponse) -> HTTPResponse:
    headers, body = HTTPHeaderDict(answer.headers), io.BytesIO(answer.body)
    return HTTPResponse(body, headers=headers, status=answer.status, preload_content=False)


def action_in(request: requests.PreparedRequest) -> dict[str, Any]:
    """Return the action of a request: its body, or the query of one that is sent by GET."""
    if request.method != "GET":
        action: dict[str, Any] = json.loads(body_of(request))
        return action
    query = parse_qsl(urlsplit(str(request.url)).query)
    return {name: int(value) if value.isdecimal() else value for name, value in query}


def body_of(request: requests.PreparedRequest) -> bytes:
    body = request.body or b""
    return body if isinstance(body, bytes) else b"".join(cast("Iterable[bytes]", body))


def invoke_handler(
    handler: LambdaHandler, request: requests.PreparedRequest, clock: Clock
) -> HttpResponse:
    """Return the response of a game's service to the event that API Gateway would send."""
    parts, headers = urlsplit(str(request.url)), tuple(request.headers.items())
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    event = to_event(
        HttpRequest(str(request.method), target, headers, body_of(request)), clock.now()
    )
    return parse_response(handler(event, LocalLambdaContext("web", timedelta(seconds=29), clock)))
