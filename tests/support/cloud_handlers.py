"""Tiny Lambda handlers, to be run in this process or in one of their own."""

import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from cardsharp.cloud.clock import SystemClock
from support.processes import ProcessHandler
from workbench.cloud.context import LambdaContext


def echo(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ANN401 - as Lambda's
    """Say what was given, and print what must not disturb the answer."""
    sys.stdout.write('{"answer": "not this one"}\n')
    os.system("echo from a child")  # noqa: S605, S607 - what writes to file descriptor 1
    return {
        "event": event,
        "pid": os.getpid(),
        "request_id": context.aws_request_id,
        "function": context.function_name,
        "remaining": context.get_remaining_time_in_millis(),
    }


def hang(event: dict[str, Any], _context: object) -> str:
    """Hang when a pipe is given, after telling it our process id; answer otherwise."""
    if "pipe" not in event:
        return "done"
    Path(event["pipe"]).write_text(str(os.getpid()))
    os.read(os.pipe()[0], 1)
    return "never"


def main(pipe: str, log: str) -> None:
    """Run `hang` in a process of its own, and be killed meanwhile."""
    handler = ProcessHandler("support.cloud_handlers:hang", os.environ, Path(log))
    handler({"pipe": pipe}, LambdaContext("worker", timedelta(minutes=1), SystemClock()))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
