"""The emulator's metrics are read from its logs for as long as it runs."""

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError
from support.cloud_clock import START, FakeClock

from cardsharp.cloud.ports import Signal
from workbench.operate.publish import go_on_publishing


class Turning(FakeClock):
    """A clock by which each wait takes its time, and after three of them it is over."""

    def wait(self, signal: Signal, timeout: timedelta) -> bool:
        del signal
        self.advance(timeout)
        return self.now() - START > 3 * timeout


class Cloud:
    """Logs with a line that tells of one poll every 4 s, a log deleted since, and what is given."""

    def __init__(self) -> None:
        self.given: list[float] = []
        began = round(START.timestamp() * 1000)
        self._events = [
            {"timestamp": began + 4000 * i, "message": line(i, began)} for i in range(10)
        ]

    def get_paginator(self, name: str) -> Any:  # noqa: ANN401 - boto3's
        listing, events = SimpleNamespace(paginate=self._groups), SimpleNamespace(paginate=self._in)
        return {"describe_log_groups": listing, "filter_log_events": events}[name]

    def _groups(self) -> Iterator[dict[str, object]]:
        yield {"logGroups": [{"logGroupName": "gone"}, {"logGroupName": "kept"}]}

    def _in(self, **asked: Any) -> Iterator[dict[str, object]]:  # noqa: ANN401 - boto3's
        if asked["logGroupName"] == "gone":
            raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "FilterLogEvents")
        begin, end = asked["startTime"], asked["endTime"]
        yield {"events": [one for one in self._events if begin <= one["timestamp"] <= end]}  # type: ignore[operator]

    def put_metric_data(self, *, MetricData: list[dict[str, float]], **_: str) -> None:  # noqa: N803 - boto3's
        self.given += [one["Value"] for one in MetricData]


def line(number: int, began: int) -> str:
    """A line in the embedded metric format, whose value is its number."""
    metrics = [{"Namespace": "n", "Dimensions": [[]], "Metrics": [{"Name": "Polls"}]}]
    head = {"Timestamp": began, "CloudWatchMetrics": metrics}
    return json.dumps({"_aws": head, "Polls": number})


def test_each_line_is_published_once_whatever_stacks_come_and_go() -> None:
    cloud = Cloud()
    go_on_publishing(lambda _service: cloud, Turning(), threading.Event())
    assert cloud.given == [0, 1, 2, 3, 4, 5, 6, 7], "three times 10 s, but for the last second"
