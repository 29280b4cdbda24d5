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

from cardsharp.access import Limits
from cardsharp.cloud.attended import Meet
from cardsharp.cloud.offering import Offering
from cardsharp.cloud.ports import Body, Clock, MatchLog, Queue
from cardsharp.cloud.timing import Timing
from cardsharp.cloud.vault import Vault
from cardsharp.exchange import Client
from cardsharp.web.events import Handler
from workbench.cloud.events import LambdaContext
from workbench.cloud.http_events import Answered, WireRequest, http_event, read_answer
from world.clock import StillClock
from world.faults import STEP, Crash, FaultPlan, Intent, Kind, Mindful

C = TypeVar("C", bound=Client)

RETRY_AFTER = timedelta(seconds=2)
ACT = timedelta(milliseconds=2500)
LATENESS = ACT * 0.98  # an action that is under way arrives before its limit, and hardly before
RESET = (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
"""The option of a socket that leaves no bytes to the kernel when it is closed."""

LIMITS = Limits(attempts=1, act=ACT, read=Timing().look, body=200_000)
"""One attempt a request, so that each is a step of its own."""


@dataclass(frozen=True)
class Tools:
    """What a worker is given, all of it faulty, and its name."""

    wire: "FaultyWire"
    log: MatchLog
    vault: Vault
    queue: Queue
    name: str
    clock: Clock

    def through(self, client: C) -> C:
        """The client, whose every request passes the plan; of its own sockets the options stay."""
        session = client._exchange._session
        pool = cast("HTTPAdapter", session.get_adapter("https://")).poolmanager
        self.wire.resets = RESET in pool.connection_pool_kw.get("socket_options", ())
        for scheme in ("http://", "https://"):
            session.mount(scheme, self.wire)
        return client


class Place(Protocol):
    """A match at its game's real server in this process: all that a game supplies to the bench."""

    game: str
    match_id: str
    secrets: Sequence[str]  # what nothing that we store or log may repeat
    denial: tuple[int, str]  # by which status and words the server says: no such match

    def close(self) -> None: ...

    # Have the bot play the match, where somebody must order that; and look for it as a poller does.
    def order(self, tools: Tools, offering: Offering) -> None: ...
    def poll(self, tools: Tools, offering: Offering) -> None: ...

    # The matches that the server itself says wait for us; how our bot meets this one.
    def named(self) -> Iterable[str]: ...
    def meet(self, tools: Tools) -> Meet: ...

    # What a request is: "view", "wait", "list", "join" or "act"; and what the server answers.
    def step_of(self, request: requests.PreparedRequest) -> str: ...
    def ask(self, request: requests.PreparedRequest) -> Answered: ...

    # The opponent does all that it can.
    def go_on(self) -> object: ...

    # The next move's number, the state that it meets, and where what was meant is another.
    @property
    def sequence(self) -> int: ...
    def truth(self) -> Any: ...  # noqa: ANN401 - the game's own
    def mistakes(self, truth: Any, sent: Any, intent: Body) -> Iterable[str]: ...  # noqa: ANN401

    # By the server's own account the facts of all moves, and which are our own actions.
    def history(self) -> Mapping[int, Body]: ...
    def ours(self) -> Iterable[int]: ...

    # What else is wrong with a match that has ended, in sentences.
    def faults(self, log: MatchLog) -> Iterable[str]: ...


@dataclass(frozen=True)
class Accepted:
    """An action that the server carried out, and how it was not as its sender had meant it."""

    sequence: int
    body: Mapping[str, Any]
    at: datetime
    faults: Sequence[str]


REFUSALS = {400, 403, 409}
FORCED = b'"Comment"'
"""In an answer of the arena: it has ended the overdue turn by force, in place of the action."""


class Refused(NamedTuple):
    """An action of ours that was sent in time and that the server itself would not take."""

    sequence: int
    action: Mapping[str, Any]
    answer: str
    at: datetime

    def __str__(self) -> str:
        return f"{self.action} at {self.sequence} was refused: {self.answer}"


@dataclass
class Late:
    """An action that is still on its way."""

    due: datetime
    due_look: int | None
    request: requests.PreparedRequest
    meant: Intent | None


@dataclass
class Gate:
    """What all requests to a place pass, and those that are late."""

    place: Place
    log: MatchLog | None  # in which an intent must be; without one a worker tells when it is
    clock: StillClock
    accepted: list[Accepted] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    late: list[Late] = field(default_factory=list)

    obeyed: timedelta = RETRY_AFTER
    """For how long a Retry-After keeps who plays away: a turn is not lost for it."""

    def go_on(self) -> None:
        self.place.go_on()

    def put_off(self, late: Late) -> None:
        self.late.append(late)

    def deliver(self, looks: int) -> None:
        """Let those late actions arrive whose time has come, or so many looks."""
        now = self.clock.now()
        due = [
            one
            for one in self.late
            if now >= one.due or (one.due_look is not None and looks >= one.due_look)
        ]
        self.late = [one for one in self.late if one not in due]
        for one in due:
            self.ask(one.request, one.meant, is_late=True)

    def carry(
        self,
        request: requests.PreparedRequest,
        meant: Intent | None,
        timeout: Timeout,
        began: float,
    ) -> HTTPResponse:
        """The server's answer, where nothing goes wrong on the way; it was `began` to be sent."""
        del timeout, began
        return self.ask(request, meant)

    def ask(
        self, request: requests.PreparedRequest, meant: Intent | None, *, is_late: bool = False
    ) -> HTTPResponse:
        """The server's answer, now; what became of an action is recorded."""
        acts = self.place.step_of(request) == "act"
        before = (self.place.sequence, self.place.truth()) if acts else (0, None)
        answer = self.place.ask(request)
        if acts and answer.status == requests.codes.ok and FORCED not in answer.body:
            sent = sent_by(request)
            faults = list(self._faults(*before, sent, meant))
            self.accepted.append(Accepted(before[0], sent, self.clock.now(), faults))
        elif acts and answer.status in REFUSALS and not is_late:
            said = f"{answer.status} {answer.body.decode()}"
            self.refused.append(Refused(before[0], sent_by(request), said, self.clock.now()))
        return response_of(answer)

    def _faults(
        self, sequence: int, truth: object, sent: Body, meant: Intent | None
    ) -> Iterable[str]:
        """R03 and R17: it was decided on exactly the state that it met, and is logged so."""
        if meant is None:
            yield f"{sent} was played at {sequence} without an intent"
            return
        at, intent = meant
        if at != sequence:
            yield f"{sent} was meant for move {at} and met {sequence}"
        yield from (f"move {sequence}: {one}" for one in self.place.mistakes(truth, sent, intent))
        if self.log is None:
            return
        moves = {move.sequence: move.intent for move in self.log.moves(self.place.match_id)}
        stored = moves.get(sequence)
        if stored is None:
            yield f"move {sequence} was played and the log has no intent"
        elif list(self.place.mistakes(truth, sent, stored)):
            yield f"move {sequence} was played otherwise than the log says"


class FaultyWire(HTTPAdapter):
    """Carries a worker's requests to the place, or does to them what the plan says.

    `resets` says whether a closed connection takes its bytes with it, as the real kernel has it.
    """

    resets = False

    def __init__(self, gate: Gate, plan: FaultPlan, minds: Mindful) -> None:
        super().__init__()
        self._gate, self._plan, self._minds = gate, plan, minds
        self._not_before = gate.clock.now()

    def send(  # type: ignore[override]  # of all that requests passes, only the limit matters
        self, request: requests.PreparedRequest, timeout: Timeout | float, **_rest: object
    ) -> requests.Response:
        gate = self._gate
        timeout = timeout if isinstance(timeout, Timeout) else Timeout(total=timeout)
        # Read now and only now: by the real clock a body refuses to leave after its moment.
        request.body = body_of(request)
        step, began = gate.place.step_of(request), gate.clock.monotonic()
        fault = self._plan.next(step)
        gate.deliver(self._plan.looks)
        early = self._not_before - gate.clock.now()
        assert early <= timedelta(0), f"{step} was asked {early} before Retry-After was over"
        if step in {"view", "wait"}:
            gate.go_on()
        if fault in {None, Kind.PAUSE_AFTER, Kind.SLOW}:
            answer = gate.carry(request, self._minds.intended, timeout, began)
            if fault is Kind.PAUSE_AFTER:
                self._plan.pause()
            return self.build_response(request, answer)
        return self._fail(request, fault, timeout.total)

    def _fail(
        self, request: requests.PreparedRequest, fault: Kind, limit: float
    ) -> requests.Response:
        gate, meant, traits = self._gate, self._minds.intended, fault.traits
        if "done" in traits:
            gate.ask(request, meant)
        if "late" in traits:
            look = self._plan.looks + 1 if "look" in traits else None
            gate.put_off(Late(gate.clock.now() + LATENESS, look, request, meant))
        if "beyond" in traits and not self.resets:
            gate.put_off(Late(gate.clock.now() + BEYOND[fault], None, request, meant))
        if "crash" in traits:
            raise Crash(f"during {request.path_url}")
        if "silent" in traits:
            gate.clock.sleep(timedelta(seconds=limit))
            raise requests.ReadTimeout(f"no answer within {limit}")
        made_up = self._made_up(fault)
        if made_up is None:
            raise requests.ConnectionError("connection reset by peer")
        if made_up.headers:
            self._not_before = gate.clock.now() + gate.obeyed
        return self.build_response(request, response_of(made_up))

    def _made_up(self, fault: Kind) -> Answered | None:
        """An answer that the server has not given, None for no answer."""
        if "page" in fault.traits:
            return Answered(PAGE_STATUSES[len(self._plan.steps) % len(PAGE_STATUSES)], (), PAGE)
        if fault is Kind.DENIED:
            status, words = self._gate.place.denial
            return Answered(status, (), json.dumps({"error": words}).encode())
        return ANSWERS.get(fault)


BEYOND: Mapping[Kind, timedelta] = {
    Kind.BEYOND: ACT + 4 * STEP,
    Kind.CRASH_BEYOND: ACT + timedelta(seconds=0.75),
}  # when an action arrives that its sender, or whoever comes after him, no longer waits for
PAGE_STATUSES = (400, 401, 403, 404, 408, 409, 410, 413, 421)
"""What gateways, proxies and firewalls answer in place of the server; the next at each step."""

PAGE = b"<!DOCTYPE html><html><body>Request blocked</body></html>"
_SECONDS = (("Retry-After", str(int(RETRY_AFTER.total_seconds()))),)
ANSWERS: Mapping[Kind, Answered] = {
    Kind.HTTP_500: Answered(500, (), b'{"error":"Internal Server Error."}'),
    Kind.HTTP_500_DONE: Answered(500, (), b'{"error":"Internal Server Error."}'),
    Kind.HTTP_408: Answered(408, (), b"Request Timeout"),
    Kind.HTTP_408_DONE: Answered(408, (), b"Request Timeout"),
    Kind.HTTP_409: Answered(409, (), b'{"error":"Authenticated user is not the current player."}'),
    Kind.HTTP_429: Answered(429, _SECONDS, b"slow down"),
    Kind.HTTP_503: Answered(503, _SECONDS, b"busy"),
    Kind.GARBAGE: Answered(200, (), b"<!DOCTYPE html><html><body>Our hotel</body></html>"),
    Kind.CUT: Answered(200, (), b'[{"eventType":"Dra'),
}


def response_of(answer: Answered) -> HTTPResponse:
    headers, body = HTTPHeaderDict(answer.headers), io.BytesIO(answer.body)
    return HTTPResponse(body, headers=headers, status=answer.status, preload_content=False)


def sent_by(request: requests.PreparedRequest) -> dict[str, Any]:
    """What an action says: its body, or the query of one that is sent by GET."""
    if request.method != "GET":
        said: dict[str, Any] = json.loads(body_of(request))
        return said
    query = parse_qsl(urlsplit(str(request.url)).query)
    return {name: int(value) if value.isdecimal() else value for name, value in query}


def body_of(request: requests.PreparedRequest) -> bytes:
    body = request.body or b""
    return body if isinstance(body, bytes) else b"".join(cast("Iterable[bytes]", body))


def asked_of(handler: Handler, request: requests.PreparedRequest, clock: Clock) -> Answered:
    """What a game's service answers, asked with the event that API Gateway would send."""
    parts, headers = urlsplit(str(request.url)), tuple(request.headers.items())
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    event = http_event(
        WireRequest(str(request.method), target, headers, body_of(request)), clock.now()
    )
    return read_answer(handler(event, LambdaContext("web", timedelta(seconds=29), clock)))
