"""Metric values with their times, read from the lines that functions print (EMF)."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class MetricKey:
    """A metric's identity: its namespace, its name and all of its dimensions."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a metric."""

    metric: MetricKey
    timestamp: datetime
    value: float


def read_emf(lines: Iterable[str]) -> Iterator[Sample]:
    """Yield the samples in the embedded-metric-format lines among `lines`; the rest are skipped."""
    for line in lines:
        start = line.find('{"_aws"')
        if start < 0:
            continue
        try:
            document = json.loads(line[start:])
        except ValueError:
            continue
        yield from _samples(document)


def _samples(document: dict[str, object]) -> Iterator[Sample]:
    head = document["_aws"]
    if not isinstance(head, dict):
        return
    at = datetime.fromtimestamp(head["Timestamp"] / 1000, UTC)
    for directive in head["CloudWatchMetrics"]:
        for names in directive["Dimensions"]:
            dimensions = frozenset((name, str(document[name])) for name in names)
            for metric in directive["Metrics"]:
                identity = MetricKey(directive["Namespace"], metric["Name"], dimensions)
                values = document.get(metric["Name"])  # one or a list of them
                for value in values if isinstance(values, list) else [values]:
                    if isinstance(value, int | float):
                        yield Sample(identity, at, float(value))
