"""Metrics from the logs of an emulated cloud, as CloudWatch reads them from real ones.

The emulator keeps what functions print and does not look into it; so alarms and `status` would
see none of our metrics there.
"""

from workbench.cloud.samples import Sample, read_emf
from workbench.operate.stack import Stack

_BATCH = 500


def logged_samples(stack: Stack) -> list[Sample]:
    """Every metric value that the stack's functions have logged."""
    logs = stack.client("logs").get_paginator("filter_log_events")
    lines = (
        event["message"]
        for group in stack.log_groups.values()
        for page in logs.paginate(logGroupName=group)
        for event in page["events"]
    )
    return list(read_emf(lines))


def publish(stack: Stack) -> int:
    """Put all logged metrics into the emulator's CloudWatch; how many values."""
    samples = logged_samples(stack)
    cloudwatch = stack.client("cloudwatch")
    for namespace in sorted({one.metric.namespace for one in samples}):
        data = [_datum(one) for one in samples if one.metric.namespace == namespace]
        for start in range(0, len(data), _BATCH):
            cloudwatch.put_metric_data(Namespace=namespace, MetricData=data[start : start + _BATCH])
    return len(samples)


def _datum(one: Sample) -> dict[str, object]:
    return {
        "MetricName": one.metric.name,
        "Dimensions": [
            {"Name": name, "Value": value} for name, value in sorted(one.metric.dimensions)
        ],
        "Timestamp": one.at,
        "Value": one.value,
    }
