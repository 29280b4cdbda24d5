"""One Lambda execution environment as a process.

`python -m workbench.cloud.runtime MODULE:HANDLER`
Reads one JSON line an invocation from stdin and answers with one on the original stdout. What
the handler prints goes to stderr.
"""

import importlib
import json
import os
import sys
import threading
import traceback
from datetime import timedelta
from typing import IO

from cardsharp.cloud.clock import SystemClock
from workbench.cloud.context import Handler, LambdaContext


def main(target: str, lifeline: int) -> None:
    """Serve invocations of `target` until stdin or the lifeline ends."""
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    handler = load(target)
    serve(handler, sys.stdin, answers)


def _watch(lifeline: int) -> None:
    os.read(lifeline, 1)
    os._exit(1)


def load(target: str) -> Handler:
    """Return the handler that MODULE:HANDLER names."""
    module, _, name = target.partition(":")
    handler: Handler = getattr(importlib.import_module(module), name)
    return handler


def serve(handler: Handler, requests: IO[str], answers: IO[str]) -> None:
    """Answer each line of `requests`; a handler's exception is an answer too."""
    for line in requests:
        request = json.loads(line)
        context = LambdaContext(
            request["function"],
            timedelta(milliseconds=request["remaining"]),
            SystemClock(),
            request["request_id"],
        )
        try:
            reply = json.dumps({"answer": handler(request["event"], context)})
        except Exception as error:  # noqa: BLE001 - the boundary that Lambda itself is
            traceback.print_exc()
            reply = json.dumps({"error": f"{type(error).__name__}: {error}"})
        sys.stdout.flush()  # what a handler printed is in the log before its answer is known
        answers.write(f"{reply}\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
