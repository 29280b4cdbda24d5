"""The catalogue of faults, and the plan by which they befall the I/O steps of our processes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Self, TypeVar, cast

from cardsharp.cloud.ports import Lease, MatchLog
from cardsharp.errors import Conflict, StoreError
from world.clock import StillClock

T = TypeVar("T")

STEP = timedelta(milliseconds=25)  # what every I/O step takes
HELD = timedelta(seconds=0.9)  # how long a request or an answer is held back
OUTAGE = timedelta(seconds=4)  # how long a store that is down stays down
LATENESS = timedelta(seconds=20)  # how late a message may come: all has gone on by then


class Crash(BaseException):
    """The worker's process is gone: nothing of it runs any more, no cleanup, no release."""


class Kind(StrEnum):
    """What can happen at one step, in words; and where, and what becomes of what was asked.

    It befalls whoever asks ("ask") or acts ("act") at a server, a "store" or a "message". What was
    asked is "done", or comes within its limit ("late"), when somebody has looked ("look") or
    "beyond" that; there is a "page" in place of an answer, or all is "silent"; or it is a "crash".
    """

    traits: frozenset[str]

    def __new__(cls, words: str, traits: str) -> Self:
        kind = str.__new__(cls, words)
        kind._value_, kind.traits = words, frozenset(traits.split())
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
    CUT = "cut JSON", "ask done"
    PAGE = "a 4xx page", "ask page"
    DENIED = "denied once in the arena's own words", "ask"
    THROTTLED = "store throttled", "store"
    DOWN = "store down for a while", "store"
    PAUSE_AFTER = "frozen after", "ask store"
    HTTP_409 = "409 although it is our turn", "act"
    HTTP_500_DONE = "500, effect", "act done"
    HTTP_408_DONE = "408, effect", "act done"
    PAGE_DONE = "a 4xx page, effect", "act done page"
    PAGE_LATE = "a 4xx page, late effect", "act late page"
    LATE = "response lost, late effect", "act late"
    LATE_BY_CALLS = "response lost, effect after the next look", "act late look"
    CRASH_LATE = "crash, late effect", "act late crash"
    CRASH_LATE_BY_CALLS = "crash, effect after the successor's look", "act late look crash"
    BEYOND = "no answer in time, the bytes still with our kernel", "act beyond silent"
    CRASH_BEYOND = "crash, the bytes still with our kernel", "act beyond crash"
    CONFLICT = "store conflict", "fence"
    LOST = "message lost", "message"
    TWICE = "message twice", "message"
    DELAYED = "message late", "message"


class Trouble(StrEnum):
    """What can befall a whole machine, or what all of them share, besides."""

    KILLED = "machine killed"
    SKEWED = "machine started with a wrong clock"
    FROZEN = "machine frozen"
    CUT = "arena cut off"
    LOCKED = "match log locked"
    AGAIN = "message again"


def _with(*traits: str) -> tuple[Kind, ...]:
    return tuple(kind for kind in Kind if not kind.traits.isdisjoint(traits))


CRASHES = (Kind.CRASH_BEFORE, Kind.CRASH_AFTER)
STORE_KINDS = _with("store")

GUARDED = {"renew", "describe", "intend", "record", "withdraw", "finish"}
"""The calls of a match log that are refused to whoever has lost the lease."""

CALLS = GUARDED | {"take", "release", "note", "match", "moves", "running", "announce", "reopen"}
CALLS |= {"add", "replace", "find", "send"}
"""The calls of match log, vault and queue in which something can go wrong."""

REQUESTS = {"get_item", "update_item", "put_item", "query", "batch_get_item"}
REQUESTS |= {"transact_write_items", "send_message"}
"""The requests to DynamoDB and SQS in which something can go wrong."""


@cache
def kinds_for(step: str) -> tuple[Kind, ...]:
    """The faults that a step of this name can suffer."""
    if step in {"act", "join"}:
        return _with("ask", "act")
    if step in {"view", "wait", "list"}:
        return _with("ask")
    kinds = STORE_KINDS
    if step in REQUESTS:
        kinds += (Kind.REQUEST_LOST, Kind.HTTP_500, Kind.HTTP_500_DONE)
    if step in GUARDED | {"transact_write_items"}:
        return (*kinds, Kind.CONFLICT)
    return kinds + _with("message") if step in {"send", "send_message"} else kinds


def suffering(steps: Sequence[str], kind: Kind) -> list[int]:
    found = [at for at, step in enumerate(steps) if kind in kinds_for(step)]
    assert found, f"nothing ever suffers {kind}"
    return found


Intent = tuple[int, Mapping[str, object]]  # a sequence number and what is meant to happen there


@dataclass
class FaultPlan:
    """Which step suffers what; counts the steps and remembers their names.

    A number from 0 to 1 in place of a kind chooses among those that the step can suffer, for
    nobody knows beforehand what a later step will be.
    """

    clock: StillClock
    faults: Mapping[int, Kind | float] = field(default_factory=dict)
    before_step: Callable[[str], None] = lambda _step: None
    pause: Callable[[], None] = lambda: None
    steps: list[str] = field(default_factory=list)
    hits: list[tuple[datetime, int, str, Kind]] = field(default_factory=list)
    down_until: timedelta = timedelta(0)
    late: list[tuple[timedelta, Callable[[], object]]] = field(default_factory=list)
    """Messages that are under way, and when by the clock each arrives."""

    def next(self, step: str) -> Kind | None:
        """The fault of the next step, None for most."""
        self.before_step(step)
        number = len(self.steps)
        self.steps.append(step)
        self.clock.sleep(STEP)
        fault = self.chosen(number, step)
        if fault is not None:
            self.hits.append((self.clock.now(), number, step, fault))
        if fault is Kind.CRASH_BEFORE:
            raise Crash(f"before {number} {step}")
        if fault is Kind.DOWN:
            self.down_until = self.clock.passed + OUTAGE
        if fault is Kind.SLOW:
            self.clock.sleep(HELD)
        return fault

    def chosen(self, number: int, step: str) -> Kind | None:
        fault = self.faults.get(number)
        if isinstance(fault, float):
            kinds = kinds_for(step)
            fault = kinds[int(fault * len(kinds))]
        return fault

    def put_off(self, work: Callable[[], object]) -> None:
        self.late.append((self.clock.passed + LATENESS, work))

    @property
    def looks(self) -> int:
        """How many looks at the match lie before the step that was begun last."""
        return self.steps[:-1].count("view")

    def deliver(self) -> None:
        """Let those late messages arrive whose time has come."""
        due = [one for one in self.late if self.clock.passed >= one[0]]
        self.late = [one for one in self.late if one not in due]
        for _, send in due:
            send()

    @property
    def store_is_down(self) -> bool:
        """Whether the step that was just begun meets a store that does not answer."""
        return self.clock.passed < self.down_until


class Mindful:
    """A match log that tells what its worker `intended` last; it is its `MatchLog` in all else.

    It tells before that is stored, or where it is to be `certain` when it is.
    """

    def __init__(self, log: object = None, *, certain: bool = False) -> None:
        self._log, self._certain = log, certain
        self.intended: Intent | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)

    def intend(self, lease: Lease, sequence: int, intent: Mapping[str, object]) -> None:
        self.intended = None if self._certain else (sequence, intent)
        cast("MatchLog", self._log).intend(lease, sequence, intent)
        self.intended = sequence, intent


Errors = Mapping[Kind, Callable[[], Exception]]  # what a store raises

OURS: Errors = {
    Kind.THROTTLED: lambda: StoreError("The store is throttled."),
    Kind.CONFLICT: lambda: Conflict("Somebody else was first."),
    Kind.DOWN: lambda: StoreError("The store is down."),
    Kind.RESPONSE_LOST: lambda: StoreError("The store did not answer."),
}  # in the words of our own ports


@dataclass(frozen=True)
class Faulty:
    """A store, or a client of one; what it is asked by one of `names` can go wrong."""

    thing: object
    plan: FaultPlan
    names: Collection[str] = frozenset(CALLS)
    errors: Errors = field(default_factory=lambda: OURS)

    def __getattr__(self, name: str) -> object:
        method = getattr(self.thing, name)
        if name not in self.names:
            return method
        return lambda *args, **named: self._suffer(name, lambda: method(*args, **named))

    def _suffer(self, name: str, work: Callable[[], T]) -> T | None:
        """What `work` returns, if the plan lets it."""
        plan = self.plan
        fault = plan.next(name)
        if plan.store_is_down:
            fault = Kind.DOWN
        error = None if fault is None else self.errors.get(fault)
        if fault is not None and error is not None and "done" not in fault.traits:
            raise error()
        if fault is Kind.DELAYED:
            plan.put_off(work)
        result = None if fault in {Kind.LOST, Kind.DELAYED} else work()
        if fault is Kind.TWICE:
            work()
        if fault is Kind.CRASH_AFTER:
            raise Crash(f"after {name}")
        if fault is Kind.PAUSE_AFTER:
            plan.pause()
        if error is not None:
            raise error()
        return result
