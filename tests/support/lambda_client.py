"""What AWS's runtime client does, for a handler of the source tree.

`python -m support.lambda_client MODULE:HANDLER LIFELINE` asks the Lambda Runtime API of
AWS_LAMBDA_RUNTIME_API for invocations until it, or whoever holds the lifeline's other end, ends.
"""

import http.client
import json
import os
import sys
import threading
import time
import traceback
from datetime import timedelta
from pkgutil import resolve_name

from cardsharp.cloud.clock import SystemClock
from workbench.cloud.context import LambdaContext, LambdaHandler

_PREFIX = "/2018-06-01/runtime/invocation/"


def main(target: str, lifeline: int) -> None:
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()
    handler: LambdaHandler = resolve_name(target)
    api = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])
    while True:
        api.request("GET", f"{_PREFIX}next")
        response = api.getresponse()
        body, context = response.read(), _context(response.headers)
        kind, told = _answer(handler, body, context)
        sys.stdout.flush()  # what a handler printed is in the log before its answer is known
        api.request("POST", f"{_PREFIX}{context.aws_request_id}/{kind}", told)
        api.getresponse().read()


def _watch(lifeline: int) -> None:
    os.read(lifeline, 1)
    os._exit(1)


def _context(headers: http.client.HTTPMessage) -> LambdaContext:
    name = headers["Lambda-Runtime-Invoked-Function-Arn"].rpartition(":")[2]
    left = int(headers["Lambda-Runtime-Deadline-Ms"]) - time.time() * 1000
    request_id = headers["Lambda-Runtime-Aws-Request-Id"]
    return LambdaContext(name, timedelta(milliseconds=left), SystemClock(), request_id)


def _answer(handler: LambdaHandler, body: bytes, context: LambdaContext) -> tuple[str, bytes]:
    """The kind of answer and its body; a handler's exception is an answer too."""
    try:
        return "response", json.dumps(handler(json.loads(body), context)).encode()
    except Exception as error:  # noqa: BLE001 - the boundary that Lambda itself is
        traceback.print_exc()
        fault = {"errorType": type(error).__name__, "errorMessage": str(error)}
        return "error", json.dumps(fault).encode()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
