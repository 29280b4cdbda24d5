"""How samples become alarms: CloudWatch's rules, as far as our alarms use them."""

from datetime import UTC, datetime, timedelta

import pytest
from support.alarm_states import fired, is_on, minutes
from support.alarms import Alarm, Series
from support.metric_math import compute, holds
from support.metric_statistics import statistic

from cardsharp.errors import ConfigError
from workbench.cloud.samples import MetricKey, Sample, read_emf, shifted

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
METRIC = MetricKey("N", "M")


def alarm(periods: int = 1, breaching: int = 1, missing: str = "notBreaching") -> Alarm:
    series = {"m": Series(METRIC, "Sum", MINUTE)}
    comparison = "GreaterThanThreshold"
    return Alarm("A", series, "m", comparison, 2, periods, breaching, missing)


def at(minute: float, value: float, metric: MetricKey = METRIC) -> Sample:
    return Sample(metric, START + minute * MINUTE, value)


def on(one: Alarm, samples: list[Sample], minute: float) -> bool:
    return is_on(one, samples, START + minute * MINUTE)


def test_values_of_one_minute_are_added_and_compared_when_the_minute_is_over() -> None:
    samples = [at(0.1, 1), at(0.9, 2)]
    assert on(alarm(), samples, 1)
    assert not on(alarm(), samples, 0.95), "not before"
    assert not on(alarm(), samples, 2), "and not after"
    assert not on(alarm(), [at(0.1, 2)], 1), "the limit itself is no breach"


def test_an_alarm_wants_as_many_bad_periods_as_it_says() -> None:
    samples = [at(0, 3), at(2, 3)]
    assert on(alarm(periods=3, breaching=2), samples, 3)
    assert not on(alarm(periods=3, breaching=3), samples, 3)


def test_a_period_without_values_counts_as_the_alarm_says() -> None:
    assert not on(alarm(), [], 1)
    assert on(alarm(missing="breaching"), [], 1)
    with pytest.raises(ConfigError, match="A treats missing data as missing"):
        on(alarm(missing="missing"), [], 1)


def test_other_metrics_and_other_dimensions_are_nothing_to_it() -> None:
    assert not on(alarm(), [at(0, 9, MetricKey("N", "Other"))], 1)
    assert not on(alarm(), [at(0, 9, MetricKey("N", "M", frozenset({("stage", "dev")})))], 1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Sum", 10.0), ("Maximum", 4.0), ("Minimum", 1.0), ("Average", 2.5), ("SampleCount", 4.0)],
)
def test_statistics(name: str, expected: float) -> None:
    assert statistic(name, [4, 1, 2, 3]) == expected
    assert statistic(name, []) is None


def test_of_a_hundred_values_p99_leaves_one_out() -> None:
    assert statistic("p99", [*range(1, 101)]) == 99
    assert statistic("p99", [5]) == 5
    assert statistic("p50", [3, 1, 2]) == 2
    with pytest.raises(ConfigError, match="statistic TM99 is not known"):
        statistic("TM99", [1])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a + b * 2", 7.0),
        ("IF(a > 0 AND FILL(c, 0) < 1, 1, 0)", 1.0),
        ("IF(a > 5 OR b > 5, 1, 0)", 0.0),
        ("a + c", None),
        ("IF(c > 0, 1, 0)", None),
        ("FILL(c, 4) / b", 4 / 3),
    ],
)
def test_expressions_are_computed_and_a_missing_value_spreads(
    expression: str, expected: float | None
) -> None:
    assert compute(expression, {"a": 1.0, "b": 3.0, "c": None}) == expected


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("ANOMALY(a)", "function ANOMALY is not known"),
        ("b", "no metric with the id b"),
        ("a +", "cannot be read"),
        ("a.real", "may not use Attribute"),
        ("'text'", "number is expected"),
    ],
)
def test_what_is_not_known_is_refused_rather_than_guessed(expression: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        compute(expression, {"a": 1.0})


def test_a_rule_is_made_of_alarms() -> None:
    states = {"X": True, "Y": False}
    assert holds('ALARM("X") AND NOT ALARM("Y")', states)
    assert holds('ALARM("Y") OR OK("Y")', states)
    with pytest.raises(ConfigError, match=r"asks for ALARM\('Z'\)"):
        holds('ALARM("Z")', states)


def test_samples_are_read_from_the_lines_that_functions_print() -> None:
    line = (
        '{"_aws":{"Timestamp":1795190400000,"CloudWatchMetrics":[{"Namespace":"N","Dimensions":'
        '[["service"]],"Metrics":[{"Name":"M","Unit":"Count"}]}]},"service":"s","M":[1.0,2.0]}'
    )
    noise = ["START RequestId: 1", '{"level":"INFO"}', '{"_aws" broken', f"[INFO] {line}"]
    found = list(read_emf([line, *noise]))
    metric = MetricKey("N", "M", frozenset({("service", "s")}))
    moment = datetime.fromtimestamp(1795190400, UTC)
    assert found == [Sample(metric, moment, value) for value in (1.0, 2.0)] * 2
    assert shifted(found, MINUTE)[0].at == moment + MINUTE


def test_the_first_moment_is_told_of_each_alarm_that_went_on() -> None:
    samples = [at(0.5, 0), at(2.5, 9), at(3.5, 9)]
    assert minutes(samples) == [START + n * MINUTE for n in range(1, 5)]
    assert fired([alarm()], samples, minutes(samples)) == {"A": START + 3 * MINUTE}
    assert minutes([]) == []
