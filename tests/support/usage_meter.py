"""Meter of used resources: requests to handlers and AWS, table units, time and logs."""

import io
import threading
import time
from collections import Counter
from typing import Any, Self

import botocore.handlers

from cardsharp.aws.client import shared_session
from cardsharp.aws.telemetry import redirect_logs_and_metrics
from cardsharp_tools.costs.model import ActivityUsage
from cardsharp_tools.local_cloud.lambda_events import Event, LambdaHandler, LocalLambdaContext

WRITE_OPERATIONS = {
    "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem",
}  # fmt: skip


class UsageMeter:
    """Meter of handlers, and of boto3 clients that are created within its `with` block.

    `log` has what telemetry writes in the block.
    """

    def __init__(self) -> None:
        self.log = io.StringIO()
        self._lock = threading.Lock()
        self._counts = Counter[str]()
        self._hooks: list[tuple[str, Any]] = [
            ("before-parameter-build.dynamodb.*", self._request_units),
            ("after-call.dynamodb.*", self._count_units),
        ]

    def __enter__(self) -> Self:
        redirect_logs_and_metrics(self.log)
        # A session copies these when it is made, so the process makes a new one.
        botocore.handlers.BUILTIN_HANDLERS.extend(self._hooks)
        shared_session.cache_clear()
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            botocore.handlers.BUILTIN_HANDLERS.remove(hook)
        shared_session.cache_clear()
        redirect_logs_and_metrics(io.StringIO())

    def wrap_handler(self, handler: LambdaHandler) -> LambdaHandler:
        """Return the handler with its requests and its processor time counted."""

        def handle(event: Event, context: LocalLambdaContext) -> object:
            start = time.thread_time_ns()
            try:
                return handler(event, context)
            finally:
                with self._lock:
                    self._counts["requests"] += 1
                    self._counts["nanoseconds"] += time.thread_time_ns() - start

        return handle

    @property
    def counts(self) -> Counter[str]:
        """All counts so far."""
        with self._lock:
            return self._counts | Counter(log_bytes=len(self.log.getvalue().encode()))

    def usage_since(self, start: Counter[str], repetitions: int = 1) -> ActivityUsage:
        """Return the mean usage of equal activities since an earlier reading of `counts`."""
        counts = self.counts
        counts.subtract(start)
        cpu_seconds = counts.pop("nanoseconds", 0) / 1e9 / repetitions
        means = {name: round(count / repetitions, 2) for name, count in counts.items()}
        return ActivityUsage(cpu_seconds=round(cpu_seconds, 4), **means)

    def _request_units(self, params: dict[str, Any], model: Any, **_: object) -> None:  # noqa: ANN401
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def _count_units(self, parsed: dict[str, Any], model: Any, **_: object) -> None:  # noqa: ANN401
        capacity = parsed.get("ConsumedCapacity") or []
        tables = capacity if isinstance(capacity, list) else [capacity]
        units = sum(table["CapacityUnits"] for table in tables)
        if model.name == "BatchGetItem":
            # The emulator reports 0 here; AWS counts a unit for each item of up to 4 KB.
            units = sum(map(len, parsed["Responses"].values()))
        with self._lock:
            self._counts["table_requests"] += 1
            self._counts["write_units" if model.name in WRITE_OPERATIONS else "read_units"] += units
