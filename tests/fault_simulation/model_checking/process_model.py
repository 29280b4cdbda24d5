"""Model of a process: the real code of a worker or poller as a function of its port replies.

A run starts at the beginning and takes the replies to its port calls from a list, until a
call has no reply. Its state is its location in the code and all variables of its frames.
Two runs with equal states continue in the same way, so only one of them is explored.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import count
from types import FrameType
from typing import Any
from unittest import mock

from cardsharp.client.session_state import ClientSessionState
from cardsharp.store.match_log import ExpiredLease, MatchRecord
from fault_simulation.model_checking.fingerprints import (
    EXPIRY_UNITS,
    UNIT,
    Fingerprinter,
    Interner,
    OpaqueObject,
    RelativeLeaseVersion,
    RelativeTime,
    datetime_at,
    shift_times,
)

IGNORED_VARIABLES = {"queued_count", "ports"}
"""Variables that count for a report and decide nothing; they would never be the same again."""


@dataclass(frozen=True)
class PortCall:
    """Call of a port by a process; moments in it are relative to the time of the call.

    Two calls with the same `key` are equal.
    """

    port: str = field(compare=False)
    name: str = field(compare=False)
    args: tuple[Any, ...] = field(compare=False)
    key: int


@dataclass(frozen=True, slots=True)
class PortReply:
    """Reply of a port, `delay_units` after the previous one.

    `value` is what the port returns, or the error that it raises, with moments relative to now.
    `is_for_lease_keeper` is true for a reply to the lease keeper.
    """

    delay_units: int
    value: Any
    is_for_lease_keeper: bool = False


@dataclass(frozen=True, slots=True)
class ProcessState:
    """State of a run of a process: its pending call, or its result.

    `units_waiting` is the time since that call. `lease_keeper_call` is the call that its lease
    keeper would make if it woke up now.
    """

    program: "Program"
    replies: tuple[PortReply, ...]
    pending_call: PortCall | None = None
    units_waiting: int = 0
    lease_keeper_call: PortCall | None = None
    result: Any = None


_calls: dict[Any, PortCall] = {}


def _intern_call(port: str, name: str, args: tuple[Any, ...]) -> PortCall:
    fingerprint = Fingerprinter(max_age_units=1000).fingerprint((port, name, args))
    if fingerprint not in _calls:
        _calls[fingerprint] = PortCall(port, name, args, len(_calls))
    return _calls[fingerprint]


class _RunHalted(BaseException):
    """Stop of a run, or of its lease keeper, at a call that has no reply yet."""


Program = Callable[["ProcessPorts"], object]


class Port(OpaqueObject):
    """Port of a process: every method is a call that the model answers."""

    session_state = ClientSessionState()  # an arena of this world tells no limit

    def __init__(self, run: "_Run", name: str) -> None:
        self._run, self.name = run, name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args, **kwargs: self._run.call_port(
            self.name, name, (*args, *kwargs.values())
        )


class _Clock(OpaqueObject):
    """Clock with the time of the last reply, wrong by `skew`; sleeping is a call."""

    def __init__(self, run: "_Run", skew: timedelta = timedelta(0)) -> None:
        self._run, self._skew = run, skew

    def skewed(self, skew: timedelta) -> "_Clock":
        return _Clock(self._run, skew)

    def now(self) -> datetime:
        return datetime_at(self._run.current_units) + self._skew

    def monotonic(self) -> float:
        return RelativeTime(self._run.current_units * UNIT.total_seconds())

    def sleep(self, duration: timedelta) -> None:
        if duration > timedelta(0):
            self._run.call_port("clock", "sleep", (duration,))

    def wait(self, event: object, timeout: timedelta) -> bool:
        """Return True, so that the caller, a background task of the poller, stops at once."""
        del event, timeout
        return True


class ProcessPorts(OpaqueObject):
    """All ports of a process."""

    def __init__(self, run: "_Run") -> None:
        self.clock = _Clock(run)
        self.log, self.queue, self.arena = (Port(run, name) for name in ("log", "queue", "arena"))


class _Run(OpaqueObject):
    """Run of a program."""

    def __init__(self, program: Program, replies: tuple[PortReply, ...]) -> None:
        self._program, self._replies = program, replies
        self._next_reply = self._lease_version = 0
        self.current_units = 0
        self.lease_keeper_loop: Callable[[], None] | None = (
            None  # what the lease keeper's thread does
        )
        self._in_keeper = False

    def execute(self) -> tuple[ProcessState, Any]:
        """Return the state in which the run stops, and a key that identifies that state."""
        try:
            result: Any = ("returned", self._program(ProcessPorts(self)))
        except _RunHalted as signal:
            state, fingerprint = signal.args
            return state, fingerprint
        except Exception as error:  # noqa: BLE001 - however it ends, that is how
            result = ("raised", type(error), error.args)
        return ProcessState(self._program, self._replies, result=result), ("end", repr(result))

    def call_port(self, port: str, name: str, args: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """Return the reply to a call, once there is one; the lease keeper may wake up first."""
        call_units = self.current_units
        while self._next_reply < len(self._replies):
            reply = self._replies[self._next_reply]
            if reply.is_for_lease_keeper is self._in_keeper:
                self._next_reply += 1
                self.current_units += reply.delay_units
                if isinstance(reply.value, Exception):
                    raise copy(reply.value)
                return self._relative_reply(shift_times(reply.value, self.current_units))
            self._wake_lease_keeper()
        call = _intern_call(
            port,
            name,
            tuple(self._relative_argument(shift_times(arg, -call_units)) for arg in args),
        )
        if self._in_keeper:
            raise _RunHalted(call)
        lease_keeper_call = self._lease_keeper_call()
        state = ProcessState(
            self._program, self._replies, call, self.current_units - call_units, lease_keeper_call
        )
        raise _RunHalted(
            state, (call.key, self._location_fingerprint(sys._getframe(2), call_units))
        )

    def _relative_reply(self, value: Any) -> Any:  # noqa: ANN401
        """Return a reply whose lease versions only say if they differ from the previous one."""
        if isinstance(value, list):
            return [self._relative_reply(item) for item in value]
        if not isinstance(value, MatchRecord):
            return value
        self._lease_version += value.lease_version
        return replace(value, lease_version=RelativeLeaseVersion(self._lease_version))

    def _relative_argument(self, value: Any) -> Any:  # noqa: ANN401
        """Return an argument whose lease version only says if it is the last that was read."""
        if isinstance(value, MatchRecord):
            return replace(value, lease_version=0)
        if not isinstance(value, ExpiredLease):
            return value
        return ExpiredLease(
            max(value.lease_version - self._lease_version, -1),
            min(value.idle_for, EXPIRY_UNITS * UNIT),
        )

    def _wake_lease_keeper(self) -> None:
        assert self.lease_keeper_loop is not None, "no lease keeper to be answered"
        self._in_keeper = True
        try:
            self.lease_keeper_loop()
        finally:
            self._in_keeper = False

    def _lease_keeper_call(self) -> PortCall | None:
        """Return the call that the lease keeper would make, or None.

        None means that there is no lease keeper, or that it waits for its guard.
        """
        if self.lease_keeper_loop is None or self.lease_keeper_loop.__self__._lock.locked():  # type: ignore[attr-defined]
            return None
        try:
            self._wake_lease_keeper()
        except _RunHalted as signal:
            (call,) = signal.args
            return call
        return None

    def _location_fingerprint(self, frame: FrameType | None, call_units: int) -> Any:  # noqa: ANN401
        """Return the location in the code and all variables, from the call up to the program."""
        frame_fingerprints, fingerprinter = (
            [],
            Fingerprinter(self.current_units, self._lease_version),
        )
        while frame is not None and frame.f_code is not _Run.execute.__code__:
            code, variables = frame.f_code, frame.f_locals
            names = variables.keys() - IGNORED_VARIABLES
            fingerprints = tuple(
                [(name, fingerprinter.fingerprint(variables[name])) for name in sorted(names)]
            )
            frame_fingerprints.append((code, frame.f_lasti, fingerprints))
            frame = frame.f_back
        return min(self.current_units - call_units, EXPIRY_UNITS), tuple(frame_fingerprints)


_running: list[_Run] = []


@contextmanager
def _background_without_thread(work: Callable[[], None], *_: object) -> Iterator[None]:
    """Run work without a thread: the run itself wakes it."""
    _running[-1].lease_keeper_loop = work
    yield
    _running[-1].lease_keeper_loop = None


def inline_lease_keeper() -> AbstractContextManager[object]:
    """Return a context in which a lease keeper needs no thread."""
    return mock.patch("cardsharp.bot.lease_keeper.run_periodically", _background_without_thread)


class ReplyTable(Interner[Any]):
    """All replies that were ever given, by number."""

    def __init__(self) -> None:
        super().__init__()
        self._by_id: dict[int, tuple[Any, int]] = {}
        self.older = cache(self._shifted_number)

    def number(self, value: Any, key: Any = None) -> int:  # noqa: ANN401
        """Return the number of a value with relative times; the value must not be changed."""
        del key
        entry = self._by_id.get(id(value))
        if entry is None:
            number = super().number(value, Fingerprinter().fingerprint(value))
            entry = self._by_id[id(value)] = value, number
        return entry[1]

    def _shifted_number(self, number: int, units: int) -> int:
        return self.number(shift_times(self.all[number], -units))


class ProcessGraph:
    """All states that any process has reached, and all replies, by number.

    Without `merge_equal_states` each run has its own state. That is slower, and serves as a
    check.
    """

    def __init__(self, *, merge_equal_states: bool = True) -> None:
        self._merge, self._runs = merge_equal_states, count()
        numbered, self.values = Interner[ProcessState](), ReplyTable()
        self._number, self.states = numbered.number, numbered.all
        self.advance = cache(self._advance)

    def start(self, program: Program) -> int:
        return self._run_program(program, ())

    def _advance(self, number: int, delay_units: int, value: int, *, keeper: bool = False) -> int:
        """Return the state that follows a reply, `delay_units` after the previous one."""
        state = self.states[number]
        replies = (*state.replies, PortReply(delay_units, self.values.all[value], keeper))
        return self._run_program(state.program, replies)

    def _run_program(self, program: Program, replies: tuple[PortReply, ...]) -> int:
        run = _Run(program, replies)
        _running.append(run)
        try:
            state, fingerprint = run.execute()
        finally:
            _running.pop()
        return self._number(state, (program, fingerprint if self._merge else next(self._runs)))
