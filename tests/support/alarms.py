"""The alarms of template.yaml as they would be created in a stack of some name."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cardsharp.errors import ConfigError
from workbench.cloud.samples import MetricKey

ALARM = "AWS::CloudWatch::Alarm"
COMPOSITE = "AWS::CloudWatch::CompositeAlarm"


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


@dataclass(frozen=True, slots=True)
class Composite:
    """An alarm on other alarms, which its rule names by their logical names."""

    name: str
    rule: str


def read_alarms(template: Mapping[str, Any], stack: str) -> tuple[list[Alarm], list[Composite]]:
    """The alarms of a translated template; physical names are the logical ones.

    Raises:
        ConfigError: an alarm uses what is not known here.
    """
    resources = template["Resources"]
    found = [
        _alarm(name, resource["Properties"], stack)
        for name, resource in resources.items()
        if resource["Type"] == ALARM
    ]
    composites = [
        Composite(name, _plain(resource["Properties"]["AlarmRule"], stack))
        for name, resource in resources.items()
        if resource["Type"] == COMPOSITE
    ]
    return found, composites


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
    if "Metrics" not in properties:
        statistic = properties.get("ExtendedStatistic") or properties["Statistic"]
        return {"m": _one_series(properties, statistic, properties["Period"], stack)}, "m"
    series, shown = {}, None
    for query in properties["Metrics"]:
        if "MetricStat" in query:
            stat = query["MetricStat"]
            series[query["Id"]] = _one_series(stat["Metric"], stat["Stat"], stat["Period"], stack)
        if query.get("ReturnData", True):
            shown = query.get("Expression", query["Id"])
    if shown is None:
        raise ConfigError("An alarm on several metrics must return the data of one of them.")
    return series, shown


def _one_series(metric: Mapping[str, Any], statistic: str, period: int, stack: str) -> Series:
    dimensions = frozenset(
        (one["Name"], _plain(one["Value"], stack)) for one in metric.get("Dimensions", [])
    )
    identity = MetricKey(_plain(metric["Namespace"], stack), metric["MetricName"], dimensions)
    return Series(identity, statistic, timedelta(seconds=int(period)))


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
