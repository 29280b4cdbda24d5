"""Whatever passes between a process and the world, with every moment told from now.

Two states that differ only in when they are are one state: so that there is an end to them.
"""

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from operator import length_hint
from types import BuiltinFunctionType, CellType, FunctionType, MethodType
from typing import Any, Generic, TypeVar

from cardsharp.cloud.line import Line
from cardsharp.cloud.metrics import Meter
from cardsharp.cloud.switches import Switchboard
from cardsharp.cloud.timing import Timing
from cardsharp.cloud.trouble import Denied
from world.clock import START

T = TypeVar("T")
UNIT = timedelta(milliseconds=500)  # in whole ones of this all time is counted
TIGHT = Timing(
    lease=timedelta(seconds=2),
    renew=timedelta(seconds=1),
    act=timedelta(seconds=2.5),
    denial=timedelta(seconds=2),
)  # a lease is shorter than the limit of an action, so successors come while one is under way
PAST = -(-max(TIGHT.lease, TIGHT.renew + TIGHT.act, TIGHT.denial) // UNIT) + 1
"""The units after which everything has run out."""

_LOCK = type(threading.Lock())
_CONSTANT = (Timing, Meter, Switchboard, Line)  # the same as long as a process lives
_PLAIN = (str, int, float, bytes, timedelta, type, type(None))


class Moment(float):
    """A reading of a clock that never goes back, in seconds; between two of them lies a number."""

    __slots__ = ()

    def __add__(self, other: float) -> "Moment":
        return Moment(float(self) + other)

    __radd__ = __add__

    def __sub__(self, other: float) -> float:
        between = float(self) - float(other)
        return between if isinstance(other, Moment) else Moment(between)


class Beat(int):
    """How often the log was written to, as far as a process has seen."""

    __slots__ = ()


class Opaque:
    """What stays the same as long as a process lives, and is told by its kind alone."""


class Numbered(Generic[T]):
    """Things by number, each once; those with the same `key` are the same."""

    def __init__(self) -> None:
        self.all: list[T] = []
        self._numbers: dict[Any, int] = {}

    def number(self, thing: T, key: Any = None) -> int:  # noqa: ANN401
        found = self._numbers.setdefault(thing if key is None else key, len(self.all))
        if found == len(self.all):
            self.all.append(thing)
        return found


def moment(units: int) -> datetime:
    return START + units * UNIT


def units(when: datetime) -> int:
    return (when - START) // UNIT


def as_moment(text: object) -> datetime | None:
    """The moment that a text is, None for any other value."""
    if isinstance(text, str) and text.startswith("20"):
        with suppress(ValueError):
            return datetime.fromisoformat(text)
    return None


def shifted(value: Any, by: int) -> Any:  # noqa: ANN401, PLR0911 - one case a type
    """The same, so many units later."""
    if by == 0:
        return value
    if isinstance(value, datetime):
        return value + by * UNIT
    if (when := as_moment(value)) is not None:
        return (when + by * UNIT).isoformat()
    if isinstance(value, Mapping):
        return {key: shifted(one, by) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(shifted(one, by) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(*(shifted(getattr(value, one.name), by) for one in fields(value)))
    return value


class Print:
    """A value as something that can be compared: what it is, and nothing of when or where.

    Moments are told from `now`, those in the past by `past` or more as one, and so are beats.
    """

    def __init__(self, now: int = 0, beat: int = 0, past: int = PAST) -> None:
        self._now, self._beat, self._past = now, beat, past
        self._seen: dict[int, tuple[int, Any]] = {}

    def of(self, value: Any) -> Any:  # noqa: ANN401, C901, PLR0911 - one case a type
        if isinstance(value, Moment):
            return ("moment", self._told(round(value / UNIT.total_seconds())))
        if isinstance(value, Beat):
            return ("beat", max(value - self._beat, -1))
        when = value if isinstance(value, datetime) else as_moment(value)
        if when is not None:
            return ("at", self._told(units(when)))
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, Enum | Opaque):
            return (type(value).__name__, getattr(value, "name", None))
        if isinstance(value, Mapping):
            return ("map", *sorted(((self.of(k), self.of(v)) for k, v in value.items()), key=repr))
        if isinstance(value, list | tuple):
            return tuple([self.of(one) for one in value])
        if isinstance(value, set | frozenset):
            return frozenset(self.of(one) for one in value)
        if isinstance(value, _LOCK):
            return ("locked", value.locked())
        if isinstance(value, threading.Event):
            return ("set", value.is_set())
        if isinstance(value, BaseException):
            return (type(value), self.of(value.args), getattr(value, "doubtful", None))
        return self._object(value)

    def _object(self, value: Any) -> Any:  # noqa: ANN401, C901, PLR0911 - one case a type
        if not getattr(getattr(value, "__dataclass_params__", None), "frozen", False):
            if id(value) in self._seen:
                return ("again", self._seen[id(value)][0])
            self._seen[id(value)] = len(self._seen), value
        if isinstance(value, Denied) and not value.words:
            return ("not denied",)
        if isinstance(value, _CONSTANT):
            return type(value).__name__
        if isinstance(value, FunctionType):
            return (value.__code__, self.of(value.__closure__ or ()))
        if isinstance(value, MethodType):
            return (value.__func__.__code__, self.of(value.__self__))
        if isinstance(value, CellType):
            return self.of(value.cell_contents)
        if isinstance(value, BuiltinFunctionType):
            return value.__name__
        names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        names += list(getattr(value, "__dict__", ()))
        if names:
            held = {name: getattr(value, name) for name in names if hasattr(value, name)}
            return (type(value).__name__, *((n, self.of(one)) for n, one in held.items()))
        return (type(value).__name__, length_hint(value, 0))

    def _told(self, at: int) -> int:
        return max(at - self._now, -self._past)
