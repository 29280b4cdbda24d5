"""Catalogue of faults, and plans that inject them into the I/O steps of our processes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Self, TypeVar, cast

from cardsharp.errors import StoreError, WriteConflict
from cardsharp.store.match_log import Lease, MatchLog, MoveSummary
from fault_simulation.virtual_clock import VirtualClock

T = TypeVar("T")

STEP = timedelta(milliseconds=25)  # what every I/O step takes
RESPONSE_DELAY = timedelta(seconds=0.9)  # how long a request or an answer is held back
STORE_OUTAGE = timedelta(seconds=4)  # how long a store that is down stays down
MESSAGE_DELAY = timedelta(seconds=20)  # how late a message may come: all has gone on by then


class Crash(BaseException):
    """End of a worker's process: it runs no cleanup and releases nothing."""


class FaultKind(StrEnum):
    """Kind of fault at an I/O step: its description and its effects.

    The first effects say which steps it can hit: a request ("ask") or an action ("act") at a
    server, a "store" or a "message". The others say what becomes of the request. It is
    "done"; or it arrives within its limit ("late"), once the match was viewed ("look"), or
    "beyond" that. There is a "page" in place of a response, or none at all ("silent"); or it
    is a "crash".
    """

    effects: frozenset[str]

    def __new__(cls, description: str, effects: str) -> Self:
        kind = str.__new__(cls, description)
        kind._value_, kind.effects = description, frozenset(effects.split())
        return kind

    CRASH_BEFORE = "crash before", "ask store"
    CRASH_AFTER = "crash after", "ask store done crash"
    REQUEST_LOST = "request lost", "ask"
    RESPONSE_LOST = "response lost", "ask store done"
    TIMED_OUT = "no answer in time", "ask done silent"
    SWALLOWED = "no answer in time, no effect", "ask silent"
    SLOW = "held back", "ask store"
    HTTP_500 = "500, no effect", "ask"
    HTTP_408 = "408", "ask"
    HTTP_429 = "429", "ask"
    HTTP_503 = "503 with Retry-After", "ask"
    GARBAGE = "garbage", "ask done"
    TRUNCATED = "cut JSON", "ask done"
    PROXY_PAGE = "a 4xx page", "ask page"
    NOT_FOUND_ONCE = "denied once in the arena's own words", "ask"
    THROTTLED = "store throttled", "store"
    STORE_DOWN = "store down for a while", "store"
    PAUSE_AFTER = "frozen after", "ask store"
    HTTP_409 = "409 although it is our turn", "act"
    HTTP_500_DONE = "500, effect", "act done"
    HTTP_408_DONE = "408, effect", "act done"
    PROXY_PAGE_DONE = "a 4xx page, effect", "act done page"
    PROXY_PAGE_LATE = "a 4xx page, late effect", "act late page"
    LATE = "response lost, late effect", "act late"
    LATE_BY_VIEWS = "response lost, effect after the next look", "act late look"
    CRASH_LATE = "crash, late effect", "act late crash"
    CRASH_LATE_BY_VIEWS = "crash, effect after the successor's look", "act late look crash"
    LATE_BEYOND_TIMEOUT = "no answer in time, the bytes still with our kernel", "act beyond silent"
    CRASH_BEYOND_TIMEOUT = "crash, the bytes still with our kernel", "act beyond crash"
    CONFLICT = "store conflict", "fence"
    MESSAGE_LOST = "message lost", "message"
    MESSAGE_DUPLICATED = "message twice", "message"
    MESSAGE_DELAYED = "message late", "message"


class MachineFault(StrEnum):
    """Fault of a whole machine, or of something that all machines share."""

    KILLED = "machine killed"
    SKEWED = "machine started with a wrong clock"
    FROZEN = "machine frozen"
    PARTITIONED = "arena cut off"
    STORE_LOCKED = "match log locked"
    MESSAGE_REDELIVERED = "message again"


def _kinds_with_effects(*effects: str) -> tuple[FaultKind, ...]:
    return tuple(kind for kind in FaultKind if not kind.effects.isdisjoint(effects))


CRASHES = (FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER)
STORE_FAULTS = _kinds_with_effects("store")

LEASED_CALLS = {
    "renew_lease",
    "update_header",
    "write_intent",
    "write_facts",
    "retract_moves",
    "finish",
}
"""The calls of a match log that are refused to whoever has lost the lease."""

STORE_CALLS = LEASED_CALLS | {
    "acquire_lease",
    "release_lease",
    "add_note",
    "match",
    "moves",
    "running_matches",
    "mark_queued",
    "reopen",
}
STORE_CALLS |= {"add", "replace", "find", "send"}
"""The calls of match log, vault and queue in which something can go wrong."""

AWS_REQUESTS = {"get_item", "update_item", "put_item", "query", "batch_get_item"}
AWS_REQUESTS |= {"transact_write_items", "send_message"}
"""The requests to DynamoDB and SQS in which something can go wrong."""


@cache
def faults_for(step: str) -> tuple[FaultKind, ...]:
    """Return the faults that a step with this name can suffer."""
    if step in {"act", "join"}:
        return _kinds_with_effects("ask", "act")
    if step in {"view", "wait", "list"}:
        return _kinds_with_effects("ask")
    kinds = STORE_FAULTS
    if step in AWS_REQUESTS:
        kinds += (FaultKind.REQUEST_LOST, FaultKind.HTTP_500, FaultKind.HTTP_500_DONE)
    if step in LEASED_CALLS | {"transact_write_items"}:
        return (*kinds, FaultKind.CONFLICT)
    return kinds + _kinds_with_effects("message") if step in {"send", "send_message"} else kinds


def steps_with_fault(steps: Sequence[str], kind: FaultKind) -> list[int]:
    positions = [index for index, step in enumerate(steps) if kind in faults_for(step)]
    assert positions, f"nothing ever suffers {kind}"
    return positions


Intent = tuple[int, Mapping[str, object]]  # a sequence number and what is meant to happen there


@dataclass
class FaultPlan:
    """Plan of faults by step; it counts the steps and records their names.

    A number from 0 to 1 in place of a kind chooses among the kinds that can hit the step,
    because a plan does not know its later steps in advance.
    """

    clock: VirtualClock
    faults: Mapping[int, FaultKind | float] = field(default_factory=dict)
    on_step: Callable[[str], None] = lambda _step: None
    pause: Callable[[], None] = lambda: None
    steps: list[str] = field(default_factory=list)
    injected: list[tuple[datetime, int, str, FaultKind]] = field(default_factory=list)
    store_down_until: timedelta = timedelta(0)
    delayed_messages: list[tuple[timedelta, Callable[[], object]]] = field(default_factory=list)
    """Messages that are under way, and when by the clock each arrives."""

    def next_fault(self, step: str) -> FaultKind | None:
        """Record the next step, and return its fault, usually None."""
        self.on_step(step)
        step_index = len(self.steps)
        self.steps.append(step)
        self.clock.sleep(STEP)
        fault = self.choose_fault(step_index, step)
        if fault is not None:
            self.injected.append((self.clock.now(), step_index, step, fault))
        if fault is FaultKind.CRASH_BEFORE:
            raise Crash(f"before {step_index} {step}")
        if fault is FaultKind.STORE_DOWN:
            self.store_down_until = self.clock.elapsed + STORE_OUTAGE
        if fault is FaultKind.SLOW:
            self.clock.sleep(RESPONSE_DELAY)
        return fault

    def choose_fault(self, step_index: int, step: str) -> FaultKind | None:
        fault = self.faults.get(step_index)
        if isinstance(fault, float):
            kinds = faults_for(step)
            fault = kinds[int(fault * len(kinds))]
        return fault

    def delay(self, deliver: Callable[[], object]) -> None:
        self.delayed_messages.append((self.clock.elapsed + MESSAGE_DELAY, deliver))

    @property
    def view_count(self) -> int:
        """Number of views of the match before the current step."""
        return self.steps[:-1].count("view")

    def deliver(self) -> None:
        """Deliver the delayed messages that are due."""
        due = [message for message in self.delayed_messages if self.clock.elapsed >= message[0]]
        self.delayed_messages = [message for message in self.delayed_messages if message not in due]
        for _, send in due:
            send()

    @property
    def store_is_down(self) -> bool:
        """True if the current step meets a store that does not respond."""
        return self.clock.elapsed < self.store_down_until


class IntentRecorder:
    """Match log that reports its worker's `last_intent`; else it behaves as its `MatchLog`.

    It reports an intent before storing it, or with `only_stored` once it is stored.
    """

    def __init__(self, log: object = None, *, only_stored: bool = False) -> None:
        self._log, self._only_stored = log, only_stored
        self.last_intent: Intent | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)

    def write_intent(
        self, lease: Lease, sequence: int, intent: Mapping[str, object], *summary: MoveSummary
    ) -> None:
        self.last_intent = None if self._only_stored else (sequence, intent)
        cast("MatchLog", self._log).write_intent(lease, sequence, intent, *summary)
        self.last_intent = sequence, intent


Errors = Mapping[FaultKind, Callable[[], Exception]]  # what a store raises

STORE_ERRORS: Errors = {
    FaultKind.THROTTLED: lambda: StoreError("The store is throttled."),
    FaultKind.CONFLICT: lambda: WriteConflict("Somebody else was first."),
    FaultKind.STORE_DOWN: lambda: StoreError("The store is down."),
    FaultKind.RESPONSE_LOST: lambda: StoreError("The store did not answer."),
}  # in the words of our own ports


@dataclass(frozen=True)
class FaultInjector:
    """Store, or client of a store, whose `intercepted` methods can suffer faults of a plan."""

    target: object
    plan: FaultPlan
    intercepted: Collection[str] = frozenset(STORE_CALLS)
    errors: Errors = field(default_factory=lambda: STORE_ERRORS)

    def __post_init__(self) -> None:
        """Assert that the target has the calls; a renaming must not leave one without faults."""
        # Each of those two sets is of several stores together, such as a table and a queue.
        if self.intercepted not in (STORE_CALLS, AWS_REQUESTS):
            missing = [name for name in self.intercepted if not hasattr(self.target, name)]
            assert not missing, f"{type(self.target).__name__} has no {missing}"

    def __getattr__(self, name: str) -> object:
        method = getattr(self.target, name)
        if name not in self.intercepted:
            return method
        return lambda *args, **kwargs: self._call_with_faults(name, lambda: method(*args, **kwargs))

    def _call_with_faults(self, name: str, work: Callable[[], T]) -> T | None:
        """Return the result of `work`, unless the plan injects a fault."""
        plan = self.plan
        fault = plan.next_fault(name)
        if plan.store_is_down:
            fault = FaultKind.STORE_DOWN
        error = None if fault is None else self.errors.get(fault)
        if fault is not None and error is not None and "done" not in fault.effects:
            raise error()
        if fault is FaultKind.MESSAGE_DELAYED:
            plan.delay(work)
        result = None if fault in {FaultKind.MESSAGE_LOST, FaultKind.MESSAGE_DELAYED} else work()
        if fault is FaultKind.MESSAGE_DUPLICATED:
            work()
        if fault is FaultKind.CRASH_AFTER:
            raise Crash(f"after {name}")
        if fault is FaultKind.PAUSE_AFTER:
            plan.pause()
        if error is not None:
            raise error()
        return result
