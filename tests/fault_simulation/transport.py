"""Transport from a worker to its match: real clients call a game's real server in-process.

A plan decides which requests are lost, spoilt or late. Every action of ours that the
server accepts is recorded, with the state that it met and its worker's intent.
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

        The socket options of the client decide if a closed connection drops its unsent bytes.
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
    """Match at its game's real server in this process: what a game supplies to the harness."""

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
    """Action that the server executed, and its differences from its sender's intent."""

    sequence: int
    body: Mapping[str, Any]
    accepted_at: datetime
    violations: Sequence[str]


REFUSAL_STATUSES = {400, 403, 409}
FORCED_TURN_MARKER = b'"Comment"'
"""In an answer of the arena: it has ended the overdue turn by force, in place of the action."""


class RefusedAction(NamedTuple):
    """Action of ours that was sent in time and that the server refused."""

    sequence: int
    action: Mapping[str, Any]
    answer: str
    refused_at: datetime

    def __str__(self) -> str:
        return f"{self.action} at {self.sequence} was refused: {self.answer}"


@dataclass
class DelayedRequest:
    """Action that has been sent and has not arrived yet."""

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
    delayed_requests: list[DelayedRequest] = field(default_factory=list)

    max_retry_after: timedelta = RETRY_AFTER
    """For how long a Retry-After keeps who plays away: a turn is not lost for it."""

    def play_opponent(self) -> None:
        self.server.play_rival()

    def delay(self, delayed_request: DelayedRequest) -> None:
        self.delayed_requests.append(delayed_request)

    def deliver(self, view_count: int) -> None:
        """Deliver the late actions that are due, by their time or by the number of views."""
        current_time = self.clock.now()
        due = [
            delayed_request
            for delayed_request in self.delayed_requests
            if current_time >= delayed_request.due_at
            or (
                delayed_request.due_view_count is not None
                and view_count >= delayed_request.due_view_count
            )
        ]
        self.delayed_requests = [
            delayed_request
            for delayed_request in self.delayed_requests
            if delayed_request not in due
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
        is_action = self.server.request_kind(request) == "act"
        sequence_and_state = (
            (self.server.sequence, self.server.server_state()) if is_action else (0, None)
        )
        response = self.server.handle_request(request)
        if (
            is_action
            and response.status == requests.codes.ok
            and FORCED_TURN_MARKER not in response.body
        ):
            action = request_action(request)
            violations = list(self._action_violations(*sequence_and_state, action, intent))
            self.accepted.append(
                AcceptedAction(sequence_and_state[0], action, self.clock.now(), violations)
            )
        elif is_action and response.status in REFUSAL_STATUSES and not is_late:
            response_text = f"{response.status} {response.body.decode()}"
            self.refused.append(
                RefusedAction(
                    sequence_and_state[0], request_action(request), response_text, self.clock.now()
                )
            )
        return to_urllib3_response(response)

    def _action_violations(
        self, sequence: int, server_state: object, action: Body, recorded_intent: Intent | None
    ) -> Iterable[str]:
        """R03 and R17: yield the differences of an action from its intent and from the log."""
        if recorded_intent is None:
            yield f"{action} was played at {sequence} without an intent"
            return
        intended_sequence, intent = recorded_intent
        if intended_sequence != sequence:
            yield f"{action} was meant for move {intended_sequence} and met {sequence}"
        yield from (
            f"move {sequence}: {action_error}"
            for action_error in self.server.action_errors(server_state, action, intent)
        )
        if self.log is None:
            return
        moves = {move.sequence: move.intent for move in self.log.moves(self.server.match_id)}
        stored = moves.get(sequence)
        if stored is None:
            yield f"move {sequence} was played and the log has no intent"
        elif list(self.server.action_errors(server_state, action, stored)):
            yield f"move {sequence} was played otherwise than the log says"


class FaultyTransport(HTTPAdapter):
    """Transport that carries a worker's requests to the server, or injects the plan's faults.

    `drops_unsent_bytes` is True if a closed connection drops its unsent bytes, as the real
    kernel does with the client's socket options.
    """

    drops_unsent_bytes = False

    def __init__(self, proxy: RecordingProxy, plan: FaultPlan, intents: IntentRecorder) -> None:
        super().__init__()
        self._proxy, self._plan, self._intent_recorder = proxy, plan, intents
        self._retry_allowed_at = proxy.clock.now()

    def send(  # type: ignore[override]  # of all that requests passes, only the limit matters
        self, request: requests.PreparedRequest, timeout: Timeout | float, **_rest: object
    ) -> requests.Response:
        proxy = self._proxy
        timeout = timeout if isinstance(timeout, Timeout) else Timeout(total=timeout)
        # Read now and only now: by the real clock a body refuses to leave after its moment.
        request.body = request_body(request)
        step, sent_at = proxy.server.request_kind(request), proxy.clock.monotonic()
        fault = self._plan.next_fault(step)
        proxy.deliver(self._plan.view_count)
        remaining_wait = self._retry_allowed_at - proxy.clock.now()
        assert remaining_wait <= timedelta(0), (
            f"{step} was asked {remaining_wait} before Retry-After was over"
        )
        if step in {"view", "wait"}:
            proxy.play_opponent()
        if fault in {None, FaultKind.PAUSE_AFTER, FaultKind.SLOW}:
            response = proxy.forward(request, self._intent_recorder.last_intent, timeout, sent_at)
            if fault is FaultKind.PAUSE_AFTER:
                self._plan.pause()
            return self.build_response(request, response)
        return self._fail(request, fault, timeout.total)

    def _fail(
        self, request: requests.PreparedRequest, fault: FaultKind, limit: float
    ) -> requests.Response:
        proxy, intent, effects = self._proxy, self._intent_recorder.last_intent, fault.effects
        if "done" in effects:
            proxy.forward_immediately(request, intent)
        if "late" in effects:
            due_view_count = self._plan.view_count + 1 if "look" in effects else None
            proxy.delay(
                DelayedRequest(proxy.clock.now() + LATE_ARRIVAL, due_view_count, request, intent)
            )
        if "beyond" in effects and not self.drops_unsent_bytes:
            proxy.delay(
                DelayedRequest(proxy.clock.now() + LATE_ARRIVALS[fault], None, request, intent)
            )
        if "crash" in effects:
            raise Crash(f"during {request.path_url}")
        if "silent" in effects:
            proxy.clock.sleep(timedelta(seconds=limit))
            raise requests.ReadTimeout(f"no answer within {limit}")
        response = self._synthetic_response(fault)
        if response is None:
            raise requests.ConnectionError("connection reset by peer")
        if response.headers:
            self._retry_allowed_at = proxy.clock.now() + proxy.max_retry_after
        return self.build_response(request, to_urllib3_response(response))

    def _synthetic_response(self, fault: FaultKind) -> HttpResponse | None:
        """Return a response that the server has not given; None if the connection breaks."""
        if "page" in fault.effects:
            return HttpResponse(
                PAGE_STATUSES[len(self._plan.steps) % len(PAGE_STATUSES)], (), PROXY_PAGE
            )
        if fault is FaultKind.NOT_FOUND_ONCE:
            status, message = self._proxy.server.not_found_response
            return HttpResponse(status, (), json.dumps({"error": message}).encode())
        return FAULT_RESPONSES.get(fault)


LATE_ARRIVALS: Mapping[FaultKind, timedelta] = {
    FaultKind.LATE_BEYOND_TIMEOUT: ACTION_TIMEOUT + 4 * STEP,
    FaultKind.CRASH_BEYOND_TIMEOUT: ACTION_TIMEOUT + timedelta(seconds=0.75),
}  # when an action arrives that its sender, or whoever comes after him, no longer waits for
PAGE_STATUSES = (400, 401, 403, 404, 408, 409, 410, 413, 421)
"""What gateways, proxies and firewalls answer in place of the server; the next at each step."""

PROXY_PAGE = b"<!DOCTYPE html><html><body>Request blocked</body></html>"
_RETRY_HEADERS = (("Retry-After", str(int(RETRY_AFTER.total_seconds()))),)
FAULT_RESPONSES: Mapping[FaultKind, HttpResponse] = {
    FaultKind.HTTP_500: HttpResponse(500, (), b'{"error":"Internal Server Error."}'),
    FaultKind.HTTP_500_DONE: HttpResponse(500, (), b'{"error":"Internal Server Error."}'),
    FaultKind.HTTP_408: HttpResponse(408, (), b"Request Timeout"),
    FaultKind.HTTP_408_DONE: HttpResponse(408, (), b"Request Timeout"),
    FaultKind.HTTP_409: HttpResponse(
        409, (), b'{"error":"Authenticated user is not the current player."}'
    ),
    FaultKind.HTTP_429: HttpResponse(429, _RETRY_HEADERS, b"slow down"),
    FaultKind.HTTP_503: HttpResponse(503, _RETRY_HEADERS, b"busy"),
    FaultKind.GARBAGE: HttpResponse(200, (), b"<!DOCTYPE html><html><body>Our hotel</body></html>"),
    FaultKind.TRUNCATED: HttpResponse(200, (), b'[{"eventType":"Dra'),
}


def to_urllib3_response(response: HttpResponse) -> HTTPResponse:
    headers, body = HTTPHeaderDict(response.headers), io.BytesIO(response.body)
    return HTTPResponse(body, headers=headers, status=response.status, preload_content=False)


def request_action(request: requests.PreparedRequest) -> dict[str, Any]:
    """Return the action of a request: its body, or the query of one that is sent by GET."""
    if request.method != "GET":
        action: dict[str, Any] = json.loads(request_body(request))
        return action
    query = parse_qsl(urlsplit(str(request.url)).query)
    return {name: int(value) if value.isdecimal() else value for name, value in query}


def request_body(request: requests.PreparedRequest) -> bytes:
    body = request.body or b""
    return body if isinstance(body, bytes) else b"".join(cast("Iterable[bytes]", body))


def invoke_handler(
    handler: LambdaHandler, request: requests.PreparedRequest, clock: Clock
) -> HttpResponse:
    """Return the response of a game's service to the event that API Gateway would send."""
    parts, headers = urlsplit(str(request.url)), tuple(request.headers.items())
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    event = to_event(
        HttpRequest(str(request.method), target, headers, request_body(request)), clock.now()
    )
    return parse_response(handler(event, LocalLambdaContext("web", timedelta(seconds=29), clock)))
