"""The alarms of template.yaml in a stack of some name, and what CloudWatch would make of samples.

When an alarm is on, by the rules of "Using Amazon CloudWatch alarms": values are gathered into
periods on the clock's grid, the last N periods are compared, M of them must breach, and a period
without values is treated as the alarm says.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import Any

from cardsharp.errors import ConfigError
from workbench.build.expressions import of_kind
from workbench.build.translate import Template
from workbench.cloud.samples import MetricKey, Sample

MINUTE = timedelta(minutes=1)
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


@dataclass(frozen=True, slots=True)
class Series:
    """A statistic of a metric, one value a period."""

    metric: MetricKey
    statistic: str
    period: timedelta


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm on one metric, or on an expression of several by their ids."""

    name: str
    series: Mapping[str, Series]
    expression: str
    comparison: str
    threshold: float
    periods: int
    breaching: int
    missing: str

    @property
    def period(self) -> timedelta:
        """The length of a period, the same for all of its series."""
        return next(iter(self.series.values())).period


def read_alarms(template: Template, stack: str) -> tuple[list[Alarm], dict[str, str]]:
    """The alarms of a translated template, and the rules of those on other alarms by their names.

    Physical names are the logical ones.

    Raises:
        ConfigError: an alarm uses what is not known here.
    """
    found = [
        _alarm(name, told, stack) for name, told in of_kind(template, "AWS::CloudWatch::Alarm")
    ]
    composites = of_kind(template, "AWS::CloudWatch::CompositeAlarm")
    return found, {name: _plain(told["AlarmRule"], stack) for name, told in composites}


def _alarm(name: str, properties: Mapping[str, Any], stack: str) -> Alarm:
    series, expression = _series(properties, stack)
    periods = int(properties["EvaluationPeriods"])
    return Alarm(
        name=name,
        series=series,
        expression=expression,
        comparison=properties["ComparisonOperator"],
        threshold=float(properties["Threshold"]),
        periods=periods,
        breaching=int(properties.get("DatapointsToAlarm", periods)),
        missing=properties.get("TreatMissingData", "missing"),
    )


def _series(properties: Mapping[str, Any], stack: str) -> tuple[dict[str, Series], str]:
    """The series of an alarm by their ids, and the expression that is compared."""
    statistic = properties.get("ExtendedStatistic") or properties.get("Statistic")
    own = {"Metric": properties, "Stat": statistic, "Period": properties.get("Period")}
    queries = properties.get("Metrics", [{"Id": "m", "MetricStat": own}])
    series = {
        one["Id"]: _one_series(**one["MetricStat"], stack=stack)
        for one in queries
        if "MetricStat" in one
    }
    (shown,) = [one for one in queries if one.get("ReturnData", True)]
    return series, shown.get("Expression", shown["Id"])


def _one_series(Metric: Mapping[str, Any], Stat: str, Period: int, stack: str) -> Series:  # noqa: N803 - CloudFormation's names
    dimensions = frozenset(
        (one["Name"], _plain(one["Value"], stack)) for one in Metric.get("Dimensions", [])
    )
    identity = MetricKey(_plain(Metric["Namespace"], stack), Metric["MetricName"], dimensions)
    return Series(identity, Stat, timedelta(seconds=int(Period)))


def _plain(value: object, stack: str) -> str:
    """A value with its references replaced: by the stack's name, or by logical names."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and "Ref" in value:
        return stack if value["Ref"] == "AWS::StackName" else str(value["Ref"])
    if isinstance(value, dict) and "Fn::GetAtt" in value:
        told = value["Fn::GetAtt"]
        return str(told).partition(".")[0] if isinstance(told, str) else str(told[0])
    if isinstance(value, dict) and "Fn::Sub" in value:
        return str(value["Fn::Sub"]).replace("${", "").replace("}", "")
    raise ConfigError(f"An alarm uses {value!r}, which cannot be resolved here.")


def is_on(alarm: Alarm, samples: Sequence[Sample], at: datetime) -> bool:
    """Whether the alarm is on at a moment, looking at the periods that are over by then.

    Raises:
        ConfigError: its definition uses what is not known here.
    """
    last = at - (at - _EPOCH) % alarm.period
    found = [_breaches(alarm, samples, last - alarm.period * (n + 1)) for n in range(alarm.periods)]
    return sum(found) >= alarm.breaching


def fired(
    alarms: Iterable[Alarm], samples: Sequence[Sample], moments: Sequence[datetime]
) -> set[str]:
    """The names of the alarms that were on at any of the moments."""
    found = set()
    for alarm in alarms:
        heard = {series.metric for series in alarm.series.values()}
        its = [one for one in samples if one.metric in heard]
        if any(is_on(alarm, its, at) for at in moments):
            found.add(alarm.name)
    return found


def composite_is_on(rule: str, states: Mapping[str, bool]) -> bool:
    """Whether an alarm on others is on while these are on or off."""
    return bool(_computed(rule, {"ALARM": lambda name: states[name]}))


def minutes(samples: Sequence[Sample], tail: timedelta = MINUTE) -> list[datetime]:
    """Every full minute from the first sample to `tail` after the last."""
    first = min(one.at for one in samples)
    end = max(one.at for one in samples) + tail
    start = first - (first - _EPOCH) % MINUTE + MINUTE
    return [start + MINUTE * n for n in range((end - start) // MINUTE + 1)]


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
