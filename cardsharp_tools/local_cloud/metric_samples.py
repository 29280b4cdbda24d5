"""Metric values with their times, read from the lines that functions print (EMF)."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class MetricKey:
    """Identity of a metric: its namespace, its name and all its dimensions."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class MetricSample:
    """One value of a metric."""

    metric: MetricKey
    timestamp: datetime
    value: float


def read_emf_samples(lines: Iterable[str]) -> Iterator[MetricSample]:
    """Yield the samples in the embedded-metric-format lines among `lines`; the rest are skipped."""
    for line in lines:
        start = line.find('{"_aws"')
        if start < 0:
            continue
        try:
            document = json.loads(line[start:])
        except ValueError:
            continue
        yield from _parse_emf_document(document)


def _parse_emf_document(document: dict[str, object]) -> Iterator[MetricSample]:
    head = document["_aws"]
    if not isinstance(head, dict):
        return
    at = datetime.fromtimestamp(head["Timestamp"] / 1000, UTC)
    for directive in head["CloudWatchMetrics"]:
        for dimension_names in directive["Dimensions"]:
            dimensions = frozenset((name, str(document[name])) for name in dimension_names)
            for metric in directive["Metrics"]:
                identity = MetricKey(directive["Namespace"], metric["Name"], dimensions)
                values = document.get(metric["Name"])  # one or a list of them
                for value in values if isinstance(values, list) else [values]:
                    if isinstance(value, int | float):
                        yield MetricSample(identity, at, float(value))
