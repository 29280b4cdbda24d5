"""A function on this machine: its handler, its limits, and the context it is given."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from aws_lambda_powertools.utilities.typing import LambdaContext as PowertoolsContext

from cardsharp.cloud.ports import Clock
from workbench.cloud.events import ACCOUNT, REGION, Event


class LambdaContext(PowertoolsContext):
    """What Lambda passes beside the event; its time runs from here on."""

    def __init__(self, function_name: str, timeout: timedelta, clock: Clock) -> None:
        self._function_name = function_name
        self._function_version = "$LATEST"
        self._invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function_name}"
        self._memory_limit_in_mb = 512
        self._aws_request_id = str(uuid.uuid4())
        self._log_group_name = f"/aws/lambda/{function_name}"
        self._log_stream_name = "this-machine"
        self._clock = clock
        self._end = clock.monotonic() + timeout.total_seconds()

    # Powertools declares it static, Lambda's own is not.
    def get_remaining_time_in_millis(self) -> int:  # type: ignore[override]
        """The milliseconds until Lambda would kill the invocation, 0 when it is over."""
        return max(0, round((self._end - self._clock.monotonic()) * 1000))

    def cut_short(self) -> None:
        """Let the time be over now, so that a handler that looks at it ends soon."""
        self._end = self._clock.monotonic()


LambdaHandler = Callable[[Event, LambdaContext], object]  # in this process, or elsewhere


@dataclass(frozen=True, slots=True)
class Function:
    """A function as template.yaml deploys it."""

    name: str
    handler: LambdaHandler
    timeout: timedelta = timedelta(seconds=60)

    def context(self, clock: Clock) -> LambdaContext:
        """The context of a new invocation."""
        return LambdaContext(self.name, self.timeout, clock)


@dataclass(frozen=True, slots=True)
class Invocation:
    """One invocation that has ended; `error` is a sentence, or None for a success."""

    function: str
    event: Event
    answer: object
    error: str | None


Observer = Callable[[Invocation], None]


def failures_to(say: Callable[[str], None]) -> Observer:
    """Says of each invocation that failed that it did."""

    def observe(invocation: Invocation) -> None:
        if invocation.error is not None:
            say(f"The {invocation.function} failed and will be tried again: {invocation.error}")

    return observe


def invoke(function: Function, event: Event, context: LambdaContext, clock: Clock) -> Invocation:
    """What became of an invocation, whatever it raised; event and answer go through JSON."""
    began = clock.monotonic()
    answer, error = None, None
    try:
        given: Event = json.loads(json.dumps(event))
        answer = json.loads(json.dumps(function.handler(given, context)))
    except Exception as failure:  # noqa: BLE001 - the boundary that Lambda itself is
        error = f"{type(failure).__name__}: {failure}"
    if error is None and clock.monotonic() - began > function.timeout.total_seconds():
        answer, error = None, f"Task timed out after {function.timeout.total_seconds():.2f} seconds"
    return Invocation(function.name, event, answer, error)
