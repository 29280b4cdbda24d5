"""Comparable fingerprints of the values that a process and its environment exchange.

Times are relative to the current time: two states that differ only in time are one state.
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
    """Reading of a monotonic clock, in seconds; the difference of two readings is a number."""

    __slots__ = ()

    def __add__(self, other: float) -> "RelativeTime":
        return RelativeTime(float(self) + other)

    __radd__ = __add__

    def __sub__(self, other: float) -> float:
        difference = float(self) - float(other)
        return difference if isinstance(other, RelativeTime) else RelativeTime(difference)


class RelativeLeaseVersion(int):
    """Number of writes to the log that a process has seen."""

    __slots__ = ()


class OpaqueObject:
    """Object that stays the same as long as its process lives; only its type is compared."""


class Interner(Generic[T]):
    """Values by number, each stored once; values with the same `key` are the same."""

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
    """Return the time that a text represents, None for any other value."""
    if isinstance(text, str) and text.startswith("20"):
        with suppress(ValueError):
            return datetime.fromisoformat(text)
    return None


def shift_times(value: Any, units: int) -> Any:  # noqa: ANN401, PLR0911 - one case a type
    """Return the value with all its times shifted by that many units."""
    if units == 0:
        return value
    if isinstance(value, datetime):
        return value + units * UNIT
    if (moment := parse_datetime(value)) is not None:
        return (moment + units * UNIT).isoformat()
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
        self._current_units, self._lease_version, self._max_age_units = (
            current_units,
            lease_version,
            max_age_units,
        )
        self._objects_by_id: dict[int, tuple[int, Any]] = {}

    def fingerprint(self, value: Any) -> Any:  # noqa: ANN401, C901, PLR0911 - one case a type
        if isinstance(value, RelativeTime):
            return ("moment", self._relative_units(round(value / UNIT.total_seconds())))
        if isinstance(value, RelativeLeaseVersion):
            return ("beat", max(value - self._lease_version, -1))
        moment = value if isinstance(value, datetime) else parse_datetime(value)
        if moment is not None:
            return ("at", self._relative_units(units_since_start(moment)))
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
        return self._object_fingerprint(value)

    def _object_fingerprint(self, value: Any) -> Any:  # noqa: ANN401, C901, PLR0911 - one case a type
        if not getattr(getattr(value, "__dataclass_params__", None), "frozen", False):
            if id(value) in self._objects_by_id:
                return ("again", self._objects_by_id[id(value)][0])
            self._objects_by_id[id(value)] = len(self._objects_by_id), value
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

    def _relative_units(self, units: int) -> int:
        return max(units - self._current_units, -self._max_age_units)
