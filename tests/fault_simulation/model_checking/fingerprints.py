"""Comparable fingerprints of the values that pass between a process and the world.

Moments are relative to the present: two states that differ only in their time are one state.
Otherwise the search would never end.
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

from cardsharp.bot.control.runtime_settings import RuntimeSettingsStore
from cardsharp.bot.error_policy import DenialTracker
from cardsharp.bot.fair_semaphore import FairSemaphore
from cardsharp.bot.timing import SessionTiming
from cardsharp.core.metrics import Metrics
from fault_simulation.virtual_clock import START

T = TypeVar("T")
UNIT = timedelta(milliseconds=500)  # in whole ones of this all time is counted
SHORT_TIMING = SessionTiming(
    lease_ttl=timedelta(seconds=2),
    renew_interval=timedelta(seconds=1),
    action_timeout=timedelta(seconds=2.5),
    denial_timeout=timedelta(seconds=2),
)  # a lease is shorter than the limit of an action, so successors come while one is under way
EXPIRY_UNITS = (
    -(
        -max(
            SHORT_TIMING.lease_ttl,
            SHORT_TIMING.renew_interval + SHORT_TIMING.action_timeout,
            SHORT_TIMING.denial_timeout,
        )
        // UNIT
    )
    + 1
)
"""The units after which everything has run out."""

_LOCK = type(threading.Lock())
_CONSTANT = (
    SessionTiming,
    Metrics,
    RuntimeSettingsStore,
    FairSemaphore,
)  # the same as long as a process lives
_PLAIN = (str, int, float, bytes, timedelta, type, type(None))


class RelativeTime(float):
    """A reading of a clock that never goes back, in seconds; between two of them lies a number."""

    __slots__ = ()

    def __add__(self, other: float) -> "RelativeTime":
        return RelativeTime(float(self) + other)

    __radd__ = __add__

    def __sub__(self, other: float) -> float:
        between = float(self) - float(other)
        return between if isinstance(other, RelativeTime) else RelativeTime(between)


class RelativeLeaseVersion(int):
    """Number of writes to the log that a process has seen."""

    __slots__ = ()


class OpaqueObject:
    """Object that stays the same as long as a process lives; only its type is compared."""


class Interner(Generic[T]):
    """Things by number, each once; those with the same `key` are the same."""

    def __init__(self) -> None:
        self.all: list[T] = []
        self._numbers: dict[Any, int] = {}

    def number(self, value: T, key: Any = None) -> int:  # noqa: ANN401
        index = self._numbers.setdefault(value if key is None else key, len(self.all))
        if index == len(self.all):
            self.all.append(value)
        return index


def datetime_at(units: int) -> datetime:
    return START + units * UNIT


def units_since_start(moment: datetime) -> int:
    return (moment - START) // UNIT


def parse_datetime(text: object) -> datetime | None:
    """The moment that a text is, None for any other value."""
    if isinstance(text, str) and text.startswith("20"):
        with suppress(ValueError):
            return datetime.fromisoformat(text)
    return None


def shift_times(value: Any, units: int) -> Any:  # noqa: ANN401, PLR0911 - one case a type
    """The same, so many units later."""
    if units == 0:
        return value
    if isinstance(value, datetime):
        return value + units * UNIT
    if (when := parse_datetime(value)) is not None:
        return (when + units * UNIT).isoformat()
    if isinstance(value, Mapping):
        return {key: shift_times(item, units) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(shift_times(item, units) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(
            *(shift_times(getattr(value, attribute.name), units) for attribute in fields(value))
        )
    return value


class Fingerprinter:
    """Comparable form of a value, independent of object identity and of absolute time.

    Moments are relative to `current_units`, and those `max_age_units` or more in the past are
    equal. Versions of a lease are relative to `lease_version` in the same way.
    """

    def __init__(
        self, current_units: int = 0, lease_version: int = 0, max_age_units: int = EXPIRY_UNITS
    ) -> None:
        self._current_units, self._beat, self._past = current_units, lease_version, max_age_units
        self._seen: dict[int, tuple[int, Any]] = {}

    def fingerprint(self, value: Any) -> Any:  # noqa: ANN401, C901, PLR0911 - one case a type
        if isinstance(value, RelativeTime):
            return ("moment", self._relative_units(round(value / UNIT.total_seconds())))
        if isinstance(value, RelativeLeaseVersion):
            return ("beat", max(value - self._beat, -1))
        when = value if isinstance(value, datetime) else parse_datetime(value)
        if when is not None:
            return ("at", self._relative_units(units_since_start(when)))
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, Enum | OpaqueObject):
            return (type(value).__name__, getattr(value, "name", None))
        if isinstance(value, Mapping):
            return (
                "map",
                *sorted(
                    ((self.fingerprint(k), self.fingerprint(v)) for k, v in value.items()), key=repr
                ),
            )
        if isinstance(value, list | tuple):
            return tuple([self.fingerprint(item) for item in value])
        if isinstance(value, set | frozenset):
            return frozenset(self.fingerprint(item) for item in value)
        if isinstance(value, _LOCK):
            return ("locked", value.locked())
        if isinstance(value, threading.Event):
            return ("set", value.is_set())
        if isinstance(value, BaseException):
            return (
                type(value),
                self.fingerprint(value.args),
                getattr(value, "outcome_unknown", None),
            )
        return self._object(value)

    def _object(self, value: Any) -> Any:  # noqa: ANN401, C901, PLR0911 - one case a type
        if not getattr(getattr(value, "__dataclass_params__", None), "frozen", False):
            if id(value) in self._seen:
                return ("again", self._seen[id(value)][0])
            self._seen[id(value)] = len(self._seen), value
        if isinstance(value, DenialTracker) and not value.message:
            return ("not denied",)
        if isinstance(value, _CONSTANT):
            return type(value).__name__
        if isinstance(value, FunctionType):
            return (value.__code__, self.fingerprint(value.__closure__ or ()))
        if isinstance(value, MethodType):
            return (value.__func__.__code__, self.fingerprint(value.__self__))
        if isinstance(value, CellType):
            return self.fingerprint(value.cell_contents)
        if isinstance(value, BuiltinFunctionType):
            return value.__name__
        names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        names += list(getattr(value, "__dict__", ()))
        if names:
            attributes = {name: getattr(value, name) for name in names if hasattr(value, name)}
            return (
                type(value).__name__,
                *((n, self.fingerprint(item)) for n, item in attributes.items()),
            )
        return (type(value).__name__, length_hint(value, 0))

    def _relative_units(self, at: int) -> int:
        return max(at - self._current_units, -self._past)
