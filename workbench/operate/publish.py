"""Metrics from the logs of an emulated cloud, as CloudWatch reads them from real ones.

The emulator keeps what functions print and does not look into it; so alarms and `status` would
see none of our metrics there.
"""

import threading
from datetime import timedelta

from cardsharp.cloud.ports import Clock
from workbench.cloud.samples import Sample, read_emf
from workbench.operate.stack import Stack

_BATCH = 500
_PAUSE = timedelta(seconds=10)

_SETTLED = timedelta(seconds=1)
"""So old a moment is when no more lines come that bear it."""


def logged_samples(stack: Stack, begin: int = 0, end: int | None = None) -> list[Sample]:
    """Every metric value that the stack's functions logged, from `begin` to before `end`, in ms."""
    logs = stack.client("logs").get_paginator("filter_log_events")
    window = {"startTime": begin, **({} if end is None else {"endTime": end - 1})}
    lines = (
        event["message"]
        for group in stack.log_groups.values()
        for page in logs.paginate(logGroupName=group, **window)
        for event in page["events"]
    )
    return list(read_emf(lines))


def publish(stack: Stack, begin: int = 0, end: int | None = None) -> int:
    """Put the logged metrics of a time into the emulator's CloudWatch; how many values."""
    samples = logged_samples(stack, begin, end)
    cloudwatch = stack.client("cloudwatch")
    for namespace in sorted({one.metric.namespace for one in samples}):
        data = [_datum(one) for one in samples if one.metric.namespace == namespace]
        for start in range(0, len(data), _BATCH):
            cloudwatch.put_metric_data(Namespace=namespace, MetricData=data[start : start + _BATCH])
    return len(samples)


def go_on_publishing(stack: Stack, clock: Clock, over: threading.Event) -> None:
    """Publish what is logged, each line once, until it is over."""
    begin = 0
    while not clock.wait(over, _PAUSE):
        end = round((clock.now() - _SETTLED).timestamp() * 1000)
        publish(stack, begin, end)
        begin = end


def _datum(one: Sample) -> dict[str, object]:
    return {
        "MetricName": one.metric.name,
        "Dimensions": [
            {"Name": name, "Value": value} for name, value in sorted(one.metric.dimensions)
        ],
        "Timestamp": one.at,
        "Value": one.value,
    }
