"""What CloudWatch would make of samples: when an alarm is on, by its own definition.

The rules are those of "Using Amazon CloudWatch alarms": values are gathered into periods on the
clock's grid, the last N periods are compared, M of them must breach, and a period without values
is treated as the alarm says.
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from cardsharp.errors import ConfigError
from support.alarms import Alarm, Composite, Series
from support.metric_math import compute, holds
from support.metric_statistics import statistic
from workbench.cloud.samples import Sample

_COMPARISONS = {
    "GreaterThanThreshold": operator.gt,
    "GreaterThanOrEqualToThreshold": operator.ge,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
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
    return holds(composite.rule, states)


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
    value = compute(alarm.expression, values)
    if value is not None:
        return bool(_COMPARISONS[alarm.comparison](value, alarm.threshold))
    if alarm.missing not in {"breaching", "notBreaching"}:
        raise ConfigError(f"{alarm.name} treats missing data as {alarm.missing}; say which it is.")
    return alarm.missing == "breaching"


def _value(series: Series, samples: Sequence[Sample], start: datetime) -> float | None:
    end = start + series.period
    values = [one.value for one in samples if one.metric == series.metric and start <= one.at < end]
    return statistic(series.statistic, values)
