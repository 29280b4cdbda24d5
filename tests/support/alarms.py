"""The alarms of template.yaml in a stack of some name, and what CloudWatch would make of samples.

When an alarm is on, by the rules of "Using Amazon CloudWatch alarms": values are gathered into
periods on the clock's grid, the last N periods are compared, M of them must breach, and a period
without values is treated as the alarm says. What an alarm uses that is not known here is a KeyError
or a ConfigError.
"""

import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cardsharp.errors import ConfigError
from support.aws_template import template
from workbench.build.expressions import of_kind
from workbench.cloud.samples import MetricKey, Sample

MINUTE = timedelta(minutes=1)
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanThreshold": operator.gt,
    "LessThanThreshold": operator.lt,
}
_STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "Sum": sum,
    "Maximum": max,
    "Minimum": min,
    "p99": lambda values: sorted(values)[math.ceil(0.99 * len(values)) - 1],
}
_FUNCTIONS: Mapping[str, object] = {
    "FILL": lambda value, other: other if value is None else value,
    "IF": lambda condition, then, other: then if condition else other,
}
_SILENCE = {"breaching": True, "notBreaching": False}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Samples = Mapping[MetricKey, Sequence[Sample]]


@dataclass(frozen=True, slots=True)
class Series:
    """A statistic of a metric, one value a period."""

    metric: MetricKey
    statistic: str
    period: timedelta

    def value(self, samples: Samples, start: datetime) -> float | None:
        """That of the period which begins then."""
        end = start + self.period
        its = [one.value for one in samples.get(self.metric, ()) if start <= one.at < end]
        return _STATISTICS[self.statistic](its) if its else None


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm on one metric, or on an expression of several by their ids."""

    name: str
    series: Mapping[str, Series]
    expression: str
    compare: Callable[[float, float], bool]
    threshold: float
    periods: int
    breaching: int
    silence: bool
    """Whether a period without a value counts against it."""

    @property
    def period(self) -> timedelta:
        """The length of a period, the same for all of its series."""
        return next(iter(self.series.values())).period

    def is_on(self, samples: Samples, at: datetime) -> bool:
        """Whether it is on at a moment, looking at the periods that are over by then."""
        last = at - (at - _EPOCH) % self.period
        starts = [last - self.period * (number + 1) for number in range(self.periods)]
        return sum(self._breaches(samples, start) for start in starts) >= self.breaching

    def _breaches(self, samples: Samples, start: datetime) -> bool:
        values = {name: series.value(samples, start) for name, series in self.series.items()}
        value = _computed(self.expression, {**values, **_FUNCTIONS})
        return self.silence if value is None else self.compare(value, self.threshold)


@cache
def alarms(stack: str) -> list[Alarm]:
    """The alarms in a stack of that name; physical names are the logical ones."""
    told = of_kind(template(), "AWS::CloudWatch::Alarm")
    return [_alarm(name, one, stack) for name, one in told]


def composites(stack: str) -> dict[str, str]:
    """The rules of those on other alarms, by their names."""
    told = of_kind(template(), "AWS::CloudWatch::CompositeAlarm")
    return {name: _plain(one["AlarmRule"], stack) for name, one in told}


def _alarm(name: str, told: Mapping[str, Any], stack: str) -> Alarm:
    statistic = told.get("ExtendedStatistic") or told.get("Statistic")
    own = {"Metric": told, "Stat": statistic, "Period": told.get("Period")}
    queries = told.get("Metrics", [{"Id": "m", "MetricStat": own}])
    (shown,) = [one for one in queries if one.get("ReturnData", True)]
    periods = int(told["EvaluationPeriods"])
    return Alarm(
        name,
        {one["Id"]: _series(one["MetricStat"], stack) for one in queries if "MetricStat" in one},
        shown.get("Expression", shown["Id"]),
        _COMPARISONS[told["ComparisonOperator"]],
        float(told["Threshold"]),
        periods,
        int(told.get("DatapointsToAlarm", periods)),
        _SILENCE[told["TreatMissingData"]],
    )


def _series(told: Mapping[str, Any], stack: str) -> Series:
    metric = told["Metric"]
    dimensions = {
        (one["Name"], _plain(one["Value"], stack)) for one in metric.get("Dimensions", [])
    }
    space = _plain(metric["Namespace"], stack)
    identity = MetricKey(space, metric["MetricName"], frozenset(dimensions))
    return Series(identity, told["Stat"], timedelta(seconds=int(told["Period"])))


def _plain(value: object, stack: str) -> str:
    """A value with its references replaced: by the stack's name, or by logical names."""
    match value:
        case str():
            return value
        case {"Ref": name}:
            return stack if name == "AWS::StackName" else str(name)
        case {"Fn::GetAtt": str(told) | [told, *_]}:
            return str(told).partition(".")[0]
        case {"Fn::Sub": told}:
            return str(told).replace("${", "").replace("}", "")
    raise ConfigError(f"An alarm uses {value!r}, which cannot be resolved here.")


def fired(stack: str, samples: Sequence[Sample], moments: Sequence[datetime]) -> set[str]:
    """The names of a stack's alarms that were on at any of the moments."""
    of = defaultdict(list)
    for one in samples:
        of[one.metric].append(one)
    return {alarm.name for alarm in alarms(stack) if any(alarm.is_on(of, at) for at in moments)}


def composite_is_on(rule: str, states: Mapping[str, bool]) -> bool:
    """Whether an alarm on others is on while these are on or off."""
    return bool(_computed(rule, {"ALARM": lambda name: states[name]}))


def minutes(samples: Sequence[Sample], tail: timedelta = MINUTE) -> list[datetime]:
    """Every full minute from the first sample to `tail` after the last."""
    first = min(one.at for one in samples)
    end = max(one.at for one in samples) + tail
    start = first - (first - _EPOCH) % MINUTE + MINUTE
    return [start + MINUTE * n for n in range((end - start) // MINUTE + 1)]


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
