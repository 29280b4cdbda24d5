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

from cardsharp.core import metrics
from cardsharp.core.metrics import ALARM_METRICS, MetricName
from cardsharp.core.redaction import redact

LOGGER = "cardsharp"  # the name of the root of all our loggers
BUILD = os.environ.get("BUILD")  # the commit of a deployed function; None on a local machine
SERVICE = os.environ.get("POWERTOOLS_SERVICE_NAME", LOGGER)  # template.yaml sets it per stack
NAMESPACE = "Cardsharp"

EMITTED_METRICS = ALARM_METRICS if os.environ.get("METRICS") == "alarms" else frozenset(MetricName)
"""Metrics that are sent to CloudWatch, which charges for each; the others are only logged."""


class RedactingFormatter(LambdaPowertoolsFormatter):
    """Redacts registered secrets in the finished line; the record stays as it is."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a JSON line without secrets."""
        return redact(super().format(record))


_MetricValue = tuple[MetricName, MetricUnit, float]
_Dimensions = tuple[tuple[str, str], ...]


class CloudWatchMetrics(metrics.Metrics):
    """Collector of metrics from any thread; `flush` writes them as one line.

    Metrics with dimensions, such as the status of an arena error, get a separate line. A metric
    that is not in `emitted` is only logged, and CloudWatch makes no metric of it.
    """

    _MAX_PENDING_VALUES = (
        50  # values after which a line is written early: below the 100 that EMF allows a metric
    )

    def __init__(self, emitted: Collection[str] = EMITTED_METRICS) -> None:
        self.stream: IO[str] | None = None
        self._emitted_metrics = emitted
        self._lock = threading.Lock()
        self._pending_values: dict[_Dimensions, list[_MetricValue]] = {}

    def count(self, metric: MetricName, amount: int = 1, **dimensions: str) -> None:
        """Add `amount` to a metric."""
        self._add_value((metric, MetricUnit.Count, amount), dimensions)

    def record_duration(self, metric: MetricName, duration: timedelta, **dimensions: str) -> None:
        """Add a duration to a metric in milliseconds."""
        milliseconds = duration / timedelta(milliseconds=1)
        self._add_value((metric, MetricUnit.Milliseconds, milliseconds), dimensions)

    def flush(self) -> None:
        """Write what was collected; call it at the end of every turn and every invocation."""
        with self._lock:
            for dimensions in [*self._pending_values]:
                self._write_emf_line(dimensions)

    def _add_value(self, value: _MetricValue, dimension_values: dict[str, str]) -> None:
        dimensions = tuple(dimension_values.items())
        with self._lock:
            self._pending_values.setdefault(dimensions, []).append(value)
            if len(self._pending_values[dimensions]) >= self._MAX_PENDING_VALUES:
                self._write_emf_line(dimensions)

    def _write_emf_line(self, dimensions: _Dimensions) -> None:
        """Write one EMF line with the values of these dimensions; the caller holds the lock."""
        values = self._pending_values.pop(dimensions)
        metrics = EphemeralMetrics(namespace=NAMESPACE, service=SERVICE)
        for name, dimension in dimensions:
            metrics.add_dimension(name, dimension)
        for metric, unit, value in values:
            metrics.add_metric(metric, unit, value)
        emf_document: dict[str, Any] = {**metrics.serialize_metric_set()}
        (directive,) = emf_document["_aws"]["CloudWatchMetrics"]
        directive["Metrics"] = [
            definition
            for definition in directive["Metrics"]
            if definition["Name"] in self._emitted_metrics
        ]
        if not directive["Metrics"]:
            del emf_document["_aws"]
        line = json.dumps(emf_document, separators=(",", ":"))
        stream = self.stream or sys.stdout
        stream.write(f"{line}\n")
        stream.flush()


_cold_start_lock = (
    threading.Lock()
)  # taken by the first invocation of this process, and never given back
logger = Logger(service=LOGGER, logger_formatter=RedactingFormatter(utc=True))
metrics_recorder = CloudWatchMetrics()


def set_invocation_log_context(request_id: str) -> None:
    """Set the log context of this thread's invocation: its request id and the build."""
    is_cold_start = _cold_start_lock.acquire(blocking=False)
    keys = {"request_id": request_id, "cold_start": is_cold_start, "build": BUILD}
    logger.thread_safe_append_keys(
        **{key: value for key, value in keys.items() if value is not None}
    )


def redirect_logs_and_metrics(stream: IO[str]) -> None:
    """Send logs and metrics to `stream`, as a terminal program does with its log file."""
    metrics_recorder.stream = stream
    for handler in logger.handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(stream)


def install_retry_counter() -> None:
    """Install the hook that counts every retry from now on; an entry point calls this once."""
    set_on_retry_hooks([_count_retry])


def _count_retry(details: RetryDetails) -> None:
    """Count one retry and log its cause, without the arguments of the call."""
    metrics_recorder.count(MetricName.RETRIES)
    logger.warning(
        "Trying again",
        extra={"call": details.name, "retry": details.retry_num, "cause": repr(details.caused_by)},
    )
