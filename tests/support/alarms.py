"""Alarms of template.yaml, and CloudWatch's evaluation of them on metric samples.

The rules are those of "Using Amazon CloudWatch alarms": values are aggregated into
periods on the clock's grid, the last N periods are compared, M of them must breach, and a
period without values is treated as the alarm says. An alarm that uses a feature not
implemented here raises a KeyError or a ConfigError.
"""

import math
import operator
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cardsharp.aws.telemetry import SERVICE
from cardsharp.errors import ConfigError
from cardsharp_tools.local_cloud.metric_samples import MetricKey, MetricSample
from support.aws_template import template_resources_of_type

STACK_NAME = SERVICE  # the stack's name, as our own metrics have it in a run without one
MINUTE = timedelta(minutes=1)
_COMPARISONS = {"GreaterThanThreshold": operator.gt, "LessThanThreshold": operator.lt}
_STATISTICS = {
    "Sum": sum,
    "Maximum": max,
    "Minimum": min,
    "p99": lambda values: sorted(values)[math.ceil(0.99 * len(values)) - 1],
}
_FUNCTIONS = {
    "FILL": lambda value, other: other if value is None else value,
    "IF": lambda condition, then, other: then if condition else other,
}
_BREACHES_WITHOUT_DATA = {"breaching": True, "notBreaching": False}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Samples = Mapping[MetricKey, Sequence[MetricSample]]


class MetricSeries:
    """Statistic of a metric, with one value for each period."""

    def __init__(self, properties: Mapping[str, Any]) -> None:
        metric = properties["Metric"]
        dimensions = {
            (dimension["Name"], _resolve_references(dimension["Value"]))
            for dimension in metric.get("Dimensions", [])
        }
        namespace = _resolve_references(metric["Namespace"])
        self.metric = MetricKey(namespace, metric["MetricName"], frozenset(dimensions))
        self.statistic = properties["Stat"]
        self.period = timedelta(seconds=int(properties["Period"]))

    def value(self, samples: Samples, start: datetime) -> float | None:
        """Return the value of the period that begins at `start`, None without samples."""
        end = start + self.period
        values = [
            sample.value
            for sample in samples.get(self.metric, ())
            if start <= sample.timestamp < end
        ]
        return _STATISTICS[self.statistic](values) if values else None


class Alarm:
    """Alarm on one metric, or on an expression of several metrics by their ids."""

    def __init__(self, name: str, properties: Mapping[str, Any]) -> None:
        statistic = properties.get("ExtendedStatistic") or properties.get("Statistic")
        metric_stat = {"Metric": properties, "Stat": statistic, "Period": properties.get("Period")}
        queries = properties.get("Metrics", [{"Id": "m", "MetricStat": metric_stat}])
        (returned_query,) = [query for query in queries if query.get("ReturnData", True)]
        metric_queries = [query for query in queries if "MetricStat" in query]
        self.name = name
        self.series = {query["Id"]: MetricSeries(query["MetricStat"]) for query in metric_queries}
        self.period = next(iter(self.series.values())).period  # the same for all of them
        self.period_count = int(properties["EvaluationPeriods"])
        self.threshold = float(properties["Threshold"])
        self._expression = returned_query.get("Expression", returned_query["Id"])
        self._compare = _COMPARISONS[properties["ComparisonOperator"]]
        self._min_breaching_periods = int(properties.get("DatapointsToAlarm", self.period_count))
        self._breaches_without_data = _BREACHES_WITHOUT_DATA[properties["TreatMissingData"]]

    def is_on(self, samples: Samples, timestamp: datetime) -> bool:
        """Return True if the alarm is on at a moment, judged by the periods complete by then."""
        last = timestamp - (timestamp - _EPOCH) % self.period
        starts = [last - self.period * (number + 1) for number in range(self.period_count)]
        return (
            sum(self._breaches(samples, start) for start in starts) >= self._min_breaching_periods
        )

    def _breaches(self, samples: Samples, start: datetime) -> bool:
        values = {name: series.value(samples, start) for name, series in self.series.items()}
        value = _evaluate(self._expression, {**values, **_FUNCTIONS})
        return (
            self._breaches_without_data if value is None else self._compare(value, self.threshold)
        )


@cache
def template_alarms() -> list[Alarm]:
    """Return the stack's alarms; physical names are the logical ones."""
    return [
        Alarm(name, definition)
        for name, definition in template_resources_of_type("AWS::CloudWatch::Alarm").items()
    ]


def composite_alarm_rules() -> dict[str, str]:
    """Return the rules of the composite alarms by name."""
    definitions = template_resources_of_type("AWS::CloudWatch::CompositeAlarm").items()
    return {name: _resolve_references(definition["AlarmRule"]) for name, definition in definitions}


def _resolve_references(value: object) -> str:
    """Return a value with its references replaced by the stack's name or by logical names."""
    match value:
        case str():
            return value
        case {"Ref": name}:
            return STACK_NAME if name == "AWS::StackName" else str(name)
        case {"Fn::GetAtt": str(target) | [target, *_]}:
            return str(target).partition(".")[0]
        case {"Fn::Sub": target}:
            resolved = str(target).replace("${AWS::StackName}", STACK_NAME)
            return resolved.replace("${", "").replace("}", "")
    raise ConfigError(f"An alarm uses {value!r}, which cannot be resolved here.")


def alarms_fired(samples: Sequence[MetricSample], tail: timedelta = MINUTE) -> set[str]:
    """Return the alarms that are on at any full minute between the first and last sample.

    The last minute is `tail` after the last sample.
    """
    samples_by_metric = defaultdict(list)
    for sample in samples:
        samples_by_metric[sample.metric].append(sample)
    timestamps = [sample.timestamp for sample in samples]
    start = min(timestamps) - (min(timestamps) - _EPOCH) % MINUTE + MINUTE
    full_minutes = [
        start + MINUTE * n for n in range((max(timestamps) + tail - start) // MINUTE + 1)
    ]
    return {
        alarm.name
        for alarm in template_alarms()
        if any(alarm.is_on(samples_by_metric, minute) for minute in full_minutes)
    }


def composite_is_on(rule: str, states: Mapping[str, bool]) -> bool:
    """Return True if a composite alarm is on, given the states of its alarms."""
    return bool(_evaluate(rule, {"ALARM": lambda name: states[name]}))


def _evaluate(expression: str, variables: Mapping[str, object]) -> float | None:
    """Evaluate metric math or a composite alarm's rule of our template.

    The expression is evaluated as Python with these variables. The result is None if a value is
    missing, unless FILL replaces it.
    """
    source = re.sub(r"\b(AND|OR|NOT)\b", lambda match: match[0].lower(), expression)
    try:
        result: float | None = eval(source.strip(), {"__builtins__": {}}, dict(variables))  # noqa: S307 - our own template's
    except TypeError:  # None is no number
        return None
    return result
