"""Counts what something uses while it runs: requests to AWS, a table's units, time, and its log."""

import io
import threading
import time
from collections import Counter
from typing import Any, Self

import botocore.handlers

from cardsharp.cloud.aws import session
from cardsharp.cloud.telemetry import redirect
from workbench.cloud.events import Event, LambdaContext, LambdaHandler
from workbench.cost.usage import CloudUse

WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}


class AwsCounts(Counter[str]):
    """Requests by SERVICE.OPERATION, "read units" and "write units", and "log bytes".

    Of handlers their "requests", and the "microseconds" of a processor that they took.
    """

    def of(self, *services: str) -> int:
        """How often these services were asked."""
        return sum(n for name, n in self.items() if name.partition(".")[0] in services)

    def use(self, times: int) -> CloudUse:
        """What was used each time, if this was it of so many times."""
        return CloudUse(
            requests=round(self["requests"] / times, 2),
            table_requests=round(self.of("dynamodb") / times, 2),
            queue_requests=round(self.of("sqs") / times, 2),
            read_units=round(self["read units"] / times, 2),
            write_units=round(self["write units"] / times, 2),
            log_bytes=round(self["log bytes"] / times),
            seconds=round(self["microseconds"] / times / 1e6, 4),
        )


class UseMeter:
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
        redirect(self.logged)
        # A session copies these when it is made, so the process makes a new one.
        botocore.handlers.BUILTIN_HANDLERS.extend(self._handlers)
        session.cache_clear()
        return self

    def __exit__(self, *_: object) -> None:
        for handler in self._handlers:
            botocore.handlers.BUILTIN_HANDLERS.remove(handler)
        session.cache_clear()

    def timed(self, handler: LambdaHandler) -> LambdaHandler:
        """The handler, of which it is counted how often it is called and how long it works."""

        def answer(event: Event, context: LambdaContext) -> object:
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
        """What was counted up to now."""
        with self._lock:
            logged = len(self.logged.getvalue().encode())
            return AwsCounts({**self._counts, "log bytes": logged})

    def since(self, before: AwsCounts) -> AwsCounts:
        """What was counted after it was so much."""
        counts = self.counts
        counts.subtract(before)
        return counts

    def _ask(self, params: dict[str, Any], model: Any, **_more: object) -> None:  # noqa: ANN401
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def _count(self, parsed: dict[str, Any], model: Any, **_more: object) -> None:  # noqa: ANN401
        told = parsed.get("ConsumedCapacity") or []
        units = sum(one["CapacityUnits"] for one in (told if isinstance(told, list) else [told]))
        if model.name == "BatchGetItem":
            # Of this the emulator tells 0; AWS reckons a unit for each item of up to 4 KB.
            units = sum(map(len, parsed["Responses"].values()))
        kind = "write units" if model.name in WRITES else "read units"
        with self._lock:
            self._counts[f"{model.service_model.service_name}.{model.name}"] += 1
            self._counts[kind] += units
