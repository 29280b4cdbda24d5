"""Metrics from the logs of an emulated cloud, as CloudWatch reads them from real ones.

The emulator keeps what functions print and does not look into it; so alarms and `status` would
see none of our metrics there.
"""

import threading
from collections.abc import Iterator
from datetime import timedelta

from botocore.exceptions import ClientError

from cardsharp.cloud.ports import Clock
from workbench.cloud.samples import read_emf
from workbench.operate.stack import Client, Clients

_BATCH = 500
_PAUSE = timedelta(seconds=10)

_SETTLED = timedelta(seconds=1)  # so old a moment is when no more lines come that bear it


def publish(client: Clients, begin: int = 0, end: int | None = None) -> int:
    """Put the metrics logged from `begin` to before `end`, in ms, into the emulator's CloudWatch.

    It reads every log there is: stacks come and go while it looks. Returns how many values it put.
    """
    samples = list(read_emf(_lines(client("logs"), begin, end)))
    cloudwatch = client("cloudwatch")
    for namespace in sorted({one.metric.namespace for one in samples}):
        data = [
            {
                "MetricName": one.metric.name,
                "Dimensions": [{"Name": n, "Value": v} for n, v in sorted(one.metric.dimensions)],
                "Timestamp": one.at,
                "Value": one.value,
            }
            for one in samples
            if one.metric.namespace == namespace
        ]
        for start in range(0, len(data), _BATCH):
            cloudwatch.put_metric_data(Namespace=namespace, MetricData=data[start : start + _BATCH])
    return len(samples)


def go_on_publishing(client: Clients, clock: Clock, over: threading.Event) -> None:
    """Publish what is logged, each line once, until it is over."""
    begin = 0
    while not clock.wait(over, _PAUSE):
        end = round((clock.now() - _SETTLED).timestamp() * 1000)
        publish(client, begin, end)
        begin = end


def _lines(logs: Client, begin: int, end: int | None) -> Iterator[str]:
    groups = [
        group["logGroupName"]
        for page in logs.get_paginator("describe_log_groups").paginate()
        for group in page["logGroups"]
    ]
    window = {"startTime": begin, **({} if end is None else {"endTime": end - 1})}
    for group in groups:
        try:
            for page in logs.get_paginator("filter_log_events").paginate(
                logGroupName=group, **window
            ):
                yield from (event["message"] for event in page["events"])
        except ClientError as error:
            if error.response["Error"]["Code"] != "ResourceNotFoundException":
                raise
            # Its stack was deleted since it was listed.
