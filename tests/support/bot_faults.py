"""The nemesis: every I/O step of a worker is numbered, and a plan says which of them go wrong."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from cardsharp.cloud.ports import Clock
from cardsharp.cloud.sqlite import SqliteLog
from cardsharp.cloud.vault import Vault
from cardsharp.errors import Conflict, StoreError
from support.bot_clock import StillClock

T = TypeVar("T")

STEP = timedelta(milliseconds=25)
"""What every I/O step takes."""

OUTAGE = timedelta(seconds=4)
"""How long a store that is down stays down."""


class Crash(BaseException):
    """The worker's process is gone: nothing of it runs any more, no cleanup, no release."""


class Kind(StrEnum):
    """What can happen at one step."""

    CRASH_BEFORE = "crash before"
    CRASH_AFTER = "crash after"
    REQUEST_LOST = "request lost"
    RESPONSE_LOST = "response lost"
    TIMED_OUT = "no answer in time"
    LATE = "response lost, late effect"
    LATE_BY_CALLS = "response lost, effect two calls later"
    CRASH_LATE = "crash, late effect"
    CRASH_LATE_BY_CALLS = "crash, effect after the successor's look"
    BEYOND = "no answer in time, the bytes still with our kernel"
    CRASH_BEYOND = "crash, the bytes still with our kernel"
    HTTP_500 = "500, no effect"
    HTTP_500_DONE = "500, effect"
    HTTP_409 = "409 although it is our turn"
    PAGE = "a 4xx page"
    PAGE_DONE = "a 4xx page, effect"
    PAGE_LATE = "a 4xx page, late effect"
    DENIED = "denied once in the arena's own words"
    HTTP_429 = "429"
    HTTP_503 = "503 with Retry-After"
    GARBAGE = "garbage"
    CUT = "cut JSON"
    CONFLICT = "store conflict"
    THROTTLED = "store throttled"
    DOWN = "store down for a while"
    PAUSE_AFTER = "paused after"


CRASHES = (Kind.CRASH_BEFORE, Kind.CRASH_AFTER)
READ_KINDS = (
    *CRASHES,
    Kind.REQUEST_LOST,
    Kind.RESPONSE_LOST,
    Kind.TIMED_OUT,
    Kind.HTTP_500,
    Kind.HTTP_429,
    Kind.HTTP_503,
    Kind.GARBAGE,
    Kind.CUT,
    Kind.PAGE,
    Kind.DENIED,
)
WRITE_KINDS = (
    *READ_KINDS,
    Kind.HTTP_409,
    Kind.HTTP_500_DONE,
    Kind.PAGE_DONE,
    Kind.PAGE_LATE,
    Kind.LATE,
    Kind.LATE_BY_CALLS,
    Kind.CRASH_LATE,
    Kind.CRASH_LATE_BY_CALLS,
    Kind.BEYOND,
    Kind.CRASH_BEYOND,
)
STORE_KINDS = (*CRASHES, Kind.RESPONSE_LOST, Kind.THROTTLED, Kind.DOWN)
GUARDED = {"renew", "describe", "intend", "record", "withdraw", "finish"}
"""The calls of a match log that are refused to whoever has lost the lease."""

STORE_STEPS = GUARDED | {"take", "release", "note", "match", "moves", "running", "announce"}


def kinds_for(step: str) -> tuple[Kind, ...]:
    """The faults that a step of this name can suffer."""
    if step in {"act", "join"}:
        return WRITE_KINDS
    if step in {"view", "wait", "list"}:
        return READ_KINDS
    return (*STORE_KINDS, Kind.CONFLICT) if step in GUARDED else STORE_KINDS


def suffering(steps: Sequence[str], kind: Kind) -> list[int]:
    """Which of these steps can suffer `kind`."""
    found = [at for at, step in enumerate(steps) if kind in kinds_for(step)]
    assert found, f"nothing ever suffers {kind}"
    return found


Intent = tuple[int, Mapping[str, object]]
"""A sequence number and what is meant to happen there."""


@dataclass
class Meant:
    """What a worker meant to do last, whether or not the log has it; its wire reads it."""

    intended: Intent | None = None


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

    def next(self, step: str) -> Kind | None:
        """The fault of the next step, None for most."""
        self.before_step(step)
        number = len(self.steps)
        self.steps.append(step)
        self.clock.advance(STEP)
        fault = self.faults.get(number)
        if isinstance(fault, float):
            kinds = kinds_for(step)
            fault = kinds[int(fault * len(kinds))]
        if fault is not None:
            self.hits.append((self.clock.now(), number, step, fault))
        if fault is Kind.CRASH_BEFORE:
            raise Crash(f"before {number} {step}")
        if fault is Kind.DOWN:
            self.down_until = self.clock.passed + OUTAGE
        return fault

    @property
    def store_is_down(self) -> bool:
        """Whether the step that was just begun meets a store that does not answer."""
        return self.clock.passed < self.down_until


class FaultyLog:
    """A match log of which any call can go wrong; it is its `MatchLog` in all else.

    It is opened on a machine with that clock, which is the log's own while a call lasts.
    """

    def __init__(self, log: SqliteLog, plan: FaultPlan, meant: "Meant", clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._plan = plan
        self._meant = meant

    def __getattr__(self, name: str) -> Callable[..., object]:
        method: Callable[..., object] = getattr(self._log, name)
        if name not in STORE_STEPS:
            return method

        def work(*args: object) -> object:
            before, self._log._clock = self._log._clock, self._clock
            try:
                return method(*args)
            finally:
                self._log._clock = before

        def step(*args: object) -> object:
            if name == "intend":
                _, sequence, intent = args
                assert isinstance(sequence, int)
                assert isinstance(intent, Mapping)
                self._meant.intended = sequence, intent
            return faulty_store(self._plan, name, lambda: work(*args))

        return step


class FaultyVault:
    """A vault of which any call can go wrong."""

    def __init__(self, vault: Vault, plan: FaultPlan) -> None:
        self._vault = vault
        self._plan = plan

    def __getattr__(self, name: str) -> Callable[..., object]:
        method: Callable[..., object] = getattr(self._vault, name)
        return lambda *args: faulty_store(self._plan, f"vault {name}", lambda: method(*args))


def faulty_store(plan: FaultPlan, name: str, work: Callable[[], T]) -> T:
    """What `work` at the match log returns, if the plan lets it."""
    fault = plan.next(name)
    if plan.store_is_down or fault is Kind.THROTTLED:
        raise StoreError("The match log is throttled.")
    if fault is Kind.CONFLICT:
        raise Conflict("Somebody else was first.")
    result = work()
    if fault is Kind.CRASH_AFTER:
        raise Crash(f"after {name}")
    if fault is Kind.RESPONSE_LOST:
        raise StoreError("The match log did not answer.")
    if fault is Kind.PAUSE_AFTER:
        plan.pause()
    return result
