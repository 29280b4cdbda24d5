"""Meter of used resources: requests to AWS, units of tables, time, and logs."""

import io
import threading
import time
from collections import Counter
from typing import Any, Self

import botocore.handlers

from cardsharp.aws.client import shared_session
from cardsharp.aws.telemetry import redirect_logs_and_metrics
from cardsharp_tools.costs.usage import CloudUsage
from cardsharp_tools.local_cloud.lambda_events import Event, LambdaHandler, LocalLambdaContext

WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}


class AwsCounts(Counter[str]):
    """Requests by SERVICE.OPERATION, "read units" and "write units", and "log bytes".

    Of handlers their "requests", and the "microseconds" of a processor that they took.
    """

    def count_for(self, *services: str) -> int:
        """Return the number of requests to these services."""
        return sum(n for name, n in self.items() if name.partition(".")[0] in services)

    def average(self, repetitions: int) -> CloudUsage:
        """Return the mean usage of `repetitions` equal runs."""
        return CloudUsage(
            requests=round(self["requests"] / repetitions, 2),
            table_requests=round(self.count_for("dynamodb") / repetitions, 2),
            queue_requests=round(self.count_for("sqs") / repetitions, 2),
            read_units=round(self["read units"] / repetitions, 2),
            write_units=round(self["write units"] / repetitions, 2),
            log_bytes=round(self["log bytes"] / repetitions),
            seconds=round(self["microseconds"] / repetitions / 1e6, 4),
        )


class AwsMeter:
    """Counts what boto3 clients made meanwhile ask, and what the table tells of its units.

    What telemetry writes from now on is `logged`.
    """

    def __init__(self) -> None:
        self.logged = io.StringIO()
        self._lock = threading.Lock()
        self._counts = AwsCounts()
        self._handlers: list[tuple[str, Any]] = [
            ("before-parameter-build.dynamodb.*", self._ask),
            ("after-call.*.*", self._count),
        ]

    def __enter__(self) -> Self:
        redirect_logs_and_metrics(self.logged)
        # A session copies these when it is made, so the process makes a new one.
        botocore.handlers.BUILTIN_HANDLERS.extend(self._handlers)
        shared_session.cache_clear()
        return self

    def __exit__(self, *_: object) -> None:
        for handler in self._handlers:
            botocore.handlers.BUILTIN_HANDLERS.remove(handler)
        shared_session.cache_clear()

    def wrap_handler(self, handler: LambdaHandler) -> LambdaHandler:
        """The handler, of which it is counted how often it is called and how long it works."""

        def answer(event: Event, context: LocalLambdaContext) -> object:
            began = time.thread_time()
            try:
                return handler(event, context)
            finally:
                took = round((time.thread_time() - began) * 1e6)
                with self._lock:
                    self._counts.update({"requests": 1, "microseconds": took})

        return answer

    @property
    def counts(self) -> AwsCounts:
        """Requests and units counted so far."""
        with self._lock:
            logged = len(self.logged.getvalue().encode())
            return AwsCounts({**self._counts, "log bytes": logged})

    def since(self, start_counts: AwsCounts) -> AwsCounts:
        """Return what was counted since an earlier reading."""
        counts = self.counts
        counts.subtract(start_counts)
        return counts

    def _ask(self, params: dict[str, Any], model: Any, **_more: object) -> None:  # noqa: ANN401
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def _count(self, parsed: dict[str, Any], model: Any, **_more: object) -> None:  # noqa: ANN401
        capacity = parsed.get("ConsumedCapacity") or []
        units = sum(
            consumed["CapacityUnits"]
            for consumed in (capacity if isinstance(capacity, list) else [capacity])
        )
        if model.name == "BatchGetItem":
            # Of this the emulator tells 0; AWS reckons a unit for each item of up to 4 KB.
            units = sum(map(len, parsed["Responses"].values()))
        kind = "write units" if model.name in WRITES else "read units"
        with self._lock:
            self._counts[f"{model.service_model.service_name}.{model.name}"] += 1
            self._counts[kind] += units
