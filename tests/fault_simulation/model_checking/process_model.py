"""The real code of a worker or a poller as a function: from what it was answered to what it asks.

It runs from its start, its questions at the ports answered from a list, until there is one without
an answer. Where it stands then, and all that its frames hold, is what it is: two runs of which
that is the same will do the same, so one of them is enough.
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
    `for_lease_keeper` is true for a reply to the lease keeper.
    """

    delay_units: int
    value: Any
    for_lease_keeper: bool = False


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


_questions: dict[Any, PortCall] = {}


def _question(port: str, name: str, args: tuple[Any, ...]) -> PortCall:
    shape = Fingerprinter(max_age_units=1000).fingerprint((port, name, args))
    if shape not in _questions:
        _questions[shape] = PortCall(port, name, args, len(_questions))
    return _questions[shape]


class _Halt(BaseException):
    """There is no answer yet: the run stands still, or its lease keeper with a question."""


Program = Callable[["ProcessPorts"], object]


class Port(OpaqueObject):
    """One side of a process: every method asks."""

    session_state = ClientSessionState()  # an arena of this world tells no limit

    def __init__(self, run: "_Run", name: str) -> None:
        self._run, self.name = run, name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args, **named: self._run.ask(self.name, name, (*args, *named.values()))


class _Clock(OpaqueObject):
    """Shows the moment of the last answer, and is wrong by so much; sleeping is a question."""

    def __init__(self, run: "_Run", by: timedelta = timedelta(0)) -> None:
        self._run, self._by = run, by

    def skewed(self, by: timedelta) -> "_Clock":
        return _Clock(self._run, by)

    def now(self) -> datetime:
        return datetime_at(self._run.at) + self._by

    def monotonic(self) -> float:
        return RelativeTime(self._run.at * UNIT.total_seconds())

    def sleep(self, duration: timedelta) -> None:
        if duration > timedelta(0):
            self._run.ask("clock", "sleep", (duration,))

    def wait(self, event: object, timeout: timedelta) -> bool:
        """Asked by what a poller does beside: whether to leave it, which it does at once."""
        del event, timeout
        return True


class ProcessPorts(OpaqueObject):
    """All that a process is given."""

    def __init__(self, run: "_Run") -> None:
        self.clock = _Clock(run)
        self.log, self.queue, self.arena = (Port(run, name) for name in ("log", "queue", "arena"))


class _Run(OpaqueObject):
    """One run of a program."""

    def __init__(self, program: Program, answers: tuple[PortReply, ...]) -> None:
        self._program, self._answers = program, answers
        self._next_answer = self._beat = 0
        self.at = 0
        self.loop: Callable[[], None] | None = None  # what the lease keeper's thread does
        self._in_keeper = False

    def go(self) -> tuple[ProcessState, Any]:
        """Return the state in which the run stops, and a key that identifies that state."""
        try:
            end: Any = ("returned", self._program(ProcessPorts(self)))
        except _Halt as halt:
            stand, shape = halt.args
            return stand, shape
        except Exception as error:  # noqa: BLE001 - however it ends, that is how
            end = ("raised", type(error), error.args)
        return ProcessState(self._program, self._answers, result=end), ("end", repr(end))

    def ask(self, port: str, name: str, args: tuple[Any, ...]) -> Any:  # noqa: ANN401
        """The answer, once it is given; the lease keeper may wake up before."""
        call_units = self.at
        while self._next_answer < len(self._answers):
            answer = self._answers[self._next_answer]
            if answer.for_lease_keeper is self._in_keeper:
                self._next_answer += 1
                self.at += answer.delay_units
                if isinstance(answer.value, Exception):
                    raise copy(answer.value)
                return self._seen(shift_times(answer.value, self.at))
            self._wake()
        question = _question(
            port,
            name,
            tuple(self._relative_argument(shift_times(arg, -call_units)) for arg in args),
        )
        if self._in_keeper:
            raise _Halt(question)
        keeper = self._keeper_asks()
        stand = ProcessState(self._program, self._answers, question, self.at - call_units, keeper)
        raise _Halt(stand, (question.key, self._location_fingerprint(sys._getframe(2), call_units)))

    def _seen(self, value: Any) -> Any:  # noqa: ANN401
        """An answer; a record in it says by its beat only whether that is another than before."""
        if isinstance(value, list):
            return [self._seen(item) for item in value]
        if not isinstance(value, MatchRecord):
            return value
        self._beat += value.lease_version
        return replace(value, lease_version=RelativeLeaseVersion(self._beat))

    def _relative_argument(self, value: Any) -> Any:  # noqa: ANN401
        """An argument; a beat in it says only whether it is the last that was seen."""
        if isinstance(value, MatchRecord):
            return replace(value, lease_version=0)
        if not isinstance(value, ExpiredLease):
            return value
        return ExpiredLease(
            max(value.lease_version - self._beat, -1), min(value.idle_for, EXPIRY_UNITS * UNIT)
        )

    def _wake(self) -> None:
        assert self.loop is not None, "no lease keeper to be answered"
        self._in_keeper = True
        try:
            self.loop()
        finally:
            self._in_keeper = False

    def _keeper_asks(self) -> PortCall | None:
        """Return the call that the lease keeper would make, or None.

        None means that there is no lease keeper, or that it waits for its guard.
        """
        if self.loop is None or self.loop.__self__._lock.locked():  # type: ignore[attr-defined]
            return None
        try:
            self._wake()
        except _Halt as halt:
            (question,) = halt.args
            return question
        return None

    def _location_fingerprint(self, frame: FrameType | None, call_units: int) -> Any:  # noqa: ANN401
        """The place in the code and all variables, from the question up to the program."""
        prints, shape = [], Fingerprinter(self.at, self._beat)
        while frame is not None and frame.f_code is not _Run.go.__code__:
            code, variables = frame.f_code, frame.f_locals
            names = variables.keys() - IGNORED_VARIABLES
            fingerprints = tuple(
                [(name, shape.fingerprint(variables[name])) for name in sorted(names)]
            )
            prints.append((code, frame.f_lasti, fingerprints))
            frame = frame.f_back
        return min(self.at - call_units, EXPIRY_UNITS), tuple(prints)


_running: list[_Run] = []


@contextmanager
def _background_without_thread(work: Callable[[], None], *_: object) -> Iterator[None]:
    """Work that goes on in no thread: the run wakes it when it is its turn."""
    _running[-1].loop = work
    yield
    _running[-1].loop = None


def inline_lease_keeper() -> AbstractContextManager[object]:
    """Within it a lease keeper needs no thread."""
    return mock.patch("cardsharp.bot.lease_keeper.run_periodically", _background_without_thread)


class ReplyTable(Interner[Any]):
    """Every answer that was ever given, by number."""

    def __init__(self) -> None:
        super().__init__()
        self._by_id: dict[int, tuple[Any, int]] = {}
        self.older = cache(self._older)

    def number(self, value: Any, key: Any = None) -> int:  # noqa: ANN401
        """The number of a value whose moments are told from now, and that nobody changes."""
        del key
        entry = self._by_id.get(id(value))
        if entry is None:
            number = super().number(value, Fingerprinter().fingerprint(value))
            entry = self._by_id[id(value)] = value, number
        return entry[1]

    def _older(self, number: int, by: int) -> int:
        return self.number(shift_times(self.all[number], -by))


class ProcessGraph:
    """Every stand that any process has come to, by number, and every answer that it was given.

    Without `merge` each run is one of its own, whatever it holds: the long way, for a check.
    """

    def __init__(self, *, merge_equal_states: bool = True) -> None:
        self._merge, self._runs = merge_equal_states, count()
        numbered, self.values = Interner[ProcessState](), ReplyTable()
        self._number, self.states = numbered.number, numbered.all
        self.advance = cache(self._on)

    def start(self, program: Program) -> int:
        return self._come(program, ())

    def _on(self, number: int, delay_units: int, value: int, *, keeper: bool = False) -> int:
        """The stand after an answer that comes so many units after the last."""
        stand = self.states[number]
        answers = (*stand.replies, PortReply(delay_units, self.values.all[value], keeper))
        return self._come(stand.program, answers)

    def _come(self, program: Program, answers: tuple[PortReply, ...]) -> int:
        run = _Run(program, answers)
        _running.append(run)
        try:
            stand, shape = run.go()
        finally:
            _running.pop()
        return self._number(stand, (program, shape if self._merge else next(self._runs)))
