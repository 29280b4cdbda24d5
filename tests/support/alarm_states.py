"""What CloudWatch would make of samples: when an alarm is on, by its own definition.

The rules are those of "Using Amazon CloudWatch alarms": values are gathered into periods on the
clock's grid, the last N periods are compared, M of them must breach, and a period without values
is treated as the alarm says.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from statistics import fmean

from cardsharp.errors import ConfigError
from support.alarms import Alarm, Composite, Series
from workbench.cloud.samples import Sample

_COMPARISONS = {
    "GreaterThanThreshold": operator.gt,
    "GreaterThanOrEqualToThreshold": operator.ge,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
}
_STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "Sum": sum,
    "Maximum": max,
    "Minimum": min,
    "Average": fmean,
    "SampleCount": len,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_on(alarm: Alarm, samples: Sequence[Sample], at: datetime) -> bool:
    """Whether the alarm is on at a moment, looking at the periods that are over by then.

    Raises:
        ConfigError: its definition uses what is not known here.
    """
    last = at - (at - _EPOCH) % alarm.period
    found = [_breaches(alarm, samples, last - alarm.period * (n + 1)) for n in range(alarm.periods)]
    return sum(found) >= alarm.breaching


def fired(
    alarms: Iterable[Alarm], samples: Sequence[Sample], moments: Iterable[datetime]
) -> dict[str, datetime]:
    """The alarms that were on at any of the moments, by name, with the first such moment."""
    first: dict[str, datetime] = {}
    asked = list(moments)
    for alarm in alarms:
        heard = {series.metric for series in alarm.series.values()}
        its = [one for one in samples if one.metric in heard]
        on = next((at for at in asked if is_on(alarm, its, at)), None)
        if on is not None:
            first[alarm.name] = on
    return first


def composite_is_on(composite: Composite, states: Mapping[str, bool]) -> bool:
    """Whether a composite alarm is on while these alarms are on or off."""
    return bool(_computed(composite.rule, {"ALARM": lambda name: states[name]}))


def minutes(samples: Sequence[Sample], tail: timedelta = timedelta(minutes=1)) -> list[datetime]:
    """Every full minute from the first sample to `tail` after the last."""
    if not samples:
        return []
    minute = timedelta(minutes=1)
    first = min(one.at for one in samples)
    end = max(one.at for one in samples) + tail
    start = first - (first - _EPOCH) % minute + minute
    return [start + minute * n for n in range((end - start) // minute + 1)]


def _breaches(alarm: Alarm, samples: Sequence[Sample], start: datetime) -> bool:
    """Whether the period that begins at `start` counts against the alarm."""
    values = {name: _value(series, samples, start) for name, series in alarm.series.items()}
    value = _computed(alarm.expression, {**values, **_FUNCTIONS})
    if value is not None:
        return bool(_COMPARISONS[alarm.comparison](value, alarm.threshold))
    if alarm.missing not in {"breaching", "notBreaching"}:
        raise ConfigError(f"{alarm.name} treats missing data as {alarm.missing}; say which it is.")
    return alarm.missing == "breaching"


def _value(series: Series, samples: Sequence[Sample], start: datetime) -> float | None:
    end = start + series.period
    values = [one.value for one in samples if one.metric == series.metric and start <= one.at < end]
    if not values:
        return None
    if series.statistic.startswith("p"):
        rank = math.ceil(float(series.statistic[1:]) / 100 * len(values))
        return sorted(values)[max(rank, 1) - 1]
    return _STATISTICS[series.statistic](values)


_FUNCTIONS: Mapping[str, object] = {
    "FILL": lambda value, other: other if value is None else value,
    "IF": lambda condition, then, other: then if condition else other,
}


def _computed(expression: str, known: Mapping[str, object]) -> float | None:
    """What metric math or an alarm's rule of our template comes to.

    Read as Python, with what is known; a missing value makes a result missing, unless FILL
    replaces it.
    """
    spoken = re.sub(r"\b(AND|OR|NOT)\b", lambda word: word[0].lower(), expression)
    try:
        found: float | None = eval(spoken.strip(), {"__builtins__": {}}, dict(known))  # noqa: S307 - our own template's
    except TypeError:  # None is no number
        return None
    return found
