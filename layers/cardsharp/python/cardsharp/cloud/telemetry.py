"""Structured logs and metrics, made once; secrets never reach a log line.

In Lambda both are JSON lines on stdout: CloudWatch reads the metrics out of them (EMF). Where
several invocations share a process, add keys with `logger.thread_safe_append_keys`.
"""

import json
import logging
import os
import sys
import threading
from collections.abc import Collection
from datetime import timedelta
from typing import IO, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from cardsharp.cloud import metrics
from cardsharp.cloud.metrics import ALARMED, Metric
from cardsharp.cloud.redaction import redact

LOGGER = "cardsharp"  # the name of the root of all our loggers
BUILD = os.environ.get("BUILD")  # the commit that a deployed function was built from; None at home
SERVICE = os.environ.get("POWERTOOLS_SERVICE_NAME", LOGGER)  # template.yaml names each stack's
NAMESPACE = "Cardsharp"

KEPT = ALARMED if os.environ.get("METRICS") == "alarmed" else frozenset(Metric)
"""What becomes a metric of CloudWatch, which has a price; the rest is only logged."""


class RedactingFormatter(LambdaPowertoolsFormatter):
    """Redacts registered secrets in the finished line; the record stays as it is."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a JSON line without secrets."""
        return redact(super().format(record))


_Value = tuple[Metric, MetricUnit, float]
_Dimensions = tuple[tuple[str, str], ...]


class Meter(metrics.Meter):
    """Collects metrics from any thread; `flush` writes them as one line.

    Metrics with dimensions, such as the status of an arena error, have a line of their own. What is
    not in `kept` stands in the line, and CloudWatch makes no metric of it.
    """

    _FULL = 50  # values after which a line is written early: below the 100 that EMF allows a metric

    def __init__(self, kept: Collection[str] = KEPT) -> None:
        self.stream: IO[str] | None = None
        self._kept = kept
        self._lock = threading.Lock()
        self._pending: dict[_Dimensions, list[_Value]] = {}

    def count(self, metric: Metric, amount: int = 1, **dimensions: str) -> None:
        """Add `amount` to a metric."""
        self._add((metric, MetricUnit.Count, amount), dimensions)

    def time(self, metric: Metric, duration: timedelta, **dimensions: str) -> None:
        """Add a duration to a metric in milliseconds."""
        milliseconds = duration / timedelta(milliseconds=1)
        self._add((metric, MetricUnit.Milliseconds, milliseconds), dimensions)

    def flush(self) -> None:
        """Write what was collected; call it at the end of every turn and every invocation."""
        with self._lock:
            for dimensions in [*self._pending]:
                self._write(dimensions)

    def _add(self, value: _Value, told: dict[str, str]) -> None:
        dimensions = tuple(told.items())
        with self._lock:
            self._pending.setdefault(dimensions, []).append(value)
            if len(self._pending[dimensions]) >= self._FULL:
                self._write(dimensions)

    def _write(self, dimensions: _Dimensions) -> None:
        """Write one EMF line of what has these dimensions; the lock is held."""
        values = self._pending.pop(dimensions)
        metrics = EphemeralMetrics(namespace=NAMESPACE, service=SERVICE)
        for name, dimension in dimensions:
            metrics.add_dimension(name, dimension)
        for metric, unit, value in values:
            metrics.add_metric(metric, unit, value)
        told: dict[str, Any] = {**metrics.serialize_metric_set()}
        (directive,) = told["_aws"]["CloudWatchMetrics"]
        directive["Metrics"] = [one for one in directive["Metrics"] if one["Name"] in self._kept]
        if not directive["Metrics"]:
            del told["_aws"]
        line = json.dumps(told, separators=(",", ":"))
        stream = self.stream or sys.stdout
        stream.write(f"{line}\n")
        stream.flush()


_begun = threading.Lock()  # taken by the first invocation of this process, and never given back
logger = Logger(service=LOGGER, logger_formatter=RedactingFormatter(utc=True))
meter = Meter()


def begin(request_id: str) -> None:
    """Have each line of an invocation, in its thread, say which it is and of which build."""
    cold = _begun.acquire(blocking=False)
    about = {"request_id": request_id, "cold_start": cold, "build": BUILD}
    logger.thread_safe_append_keys(**{key: told for key, told in about.items() if told is not None})


def redirect(stream: IO[str]) -> None:
    """Send logs and metrics to `stream`, as a terminal program does with its log file."""
    meter.stream = stream
    for handler in logger.handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(stream)


def watch_retries() -> None:
    """Count every retry from now on; an entry point calls this once."""
    set_on_retry_hooks([_count_retry])


def _count_retry(details: RetryDetails) -> None:
    """Count one retry and say why; the arguments of the call are left out."""
    meter.count(Metric.RETRIES)
    logger.warning(
        "Trying again",
        extra={"call": details.name, "retry": details.retry_num, "cause": repr(details.caused_by)},
    )
