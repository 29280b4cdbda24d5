"""Emulator process of a parent: `python -m cardsharp_tools.local_cloud.emulator_process`.

The parent holds the other end of stdin. However the parent dies, the pipe closes, and the
emulator goes with it instead of staying behind; so does the folder that it runs in.
"""

import fcntl
import os
import re
import runpy
import shutil
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import IO, Any

_LOG_WAIT_SECONDS = 5.0  # for the log of an invocation, at most
_FILTER_TERM_PATTERN = re.compile(r'([?-]?)(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))')


def log_filter_matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that tests lines against a filter pattern of CloudWatch Logs.

    The pattern is of the kind for lines without structure, as in
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html: terms
    are case-sensitive, and all must occur. Of terms with a question mark at least one must
    occur; a term with a minus must not. The emulator itself takes the question mark for a
    character and ignores the case. Raises `ValueError` for a pattern of another kind, of which
    we have none.
    """
    if pattern.strip().startswith(("{", "[", "%")):
        raise ValueError(f"{pattern} is no pattern of terms")
    terms = {"": list[str](), "?": list[str](), "-": list[str]()}
    for sign, quoted, bare in _FILTER_TERM_PATTERN.findall(pattern):
        terms[sign].append(re.sub(r"\\(.)", r"\1", quoted) or bare)

    def matches(line: str) -> bool:
        # Beside other terms AWS ignores those with a question mark.
        anyhow = bool(terms[""]) or not terms["?"] or any(term in line for term in terms["?"])
        return (
            anyhow
            and all(term in line for term in terms[""])
            and not any(term in line for term in terms["-"])
        )

    return matches


_COMPILE_FUNCTION = "_compile_filter_pattern"


def main() -> None:
    """Run MiniStack, and end it when stdin does."""
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    _patch_stack_updates()
    _patch_function_logs()
    if "logs" in os.environ.get("SERVICES", "").split(","):
        logs = import_module("ministack.services.cloudwatch_logs")
        getattr(logs, _COMPILE_FUNCTION)  # raises where a newer one calls it otherwise
        setattr(logs, _COMPILE_FUNCTION, lambda pattern: log_filter_matcher(pattern or ""))
    sys.argv = ["ministack"]
    runpy.run_module("ministack", run_name="__main__", alter_sys=True)


def _patch_stack_updates() -> None:
    """Patch MiniStack 1.5.33, whose update of a nested stack loses the attributes."""
    from ministack.services import cloudformation  # type: ignore[import-untyped]  # noqa: PLC0415 - 2 s, in this process alone

    provisioners = cloudformation.provisioners
    update = provisioners._update_resource  # noqa: SLF001 - it has no other place

    def keeping(*arguments: Any) -> Any:  # noqa: ANN401 - as it is there
        kind, physical, old_properties, new_properties, stack, *rest = arguments
        logical = rest[0] if rest else None
        resources = cloudformation._stacks[stack]["_resources"]  # noqa: SLF001
        attributes = rest[1] if len(rest) > 1 else resources.get(logical, {}).get("Attributes")
        return update(kind, physical, old_properties, new_properties, stack, logical, attributes)

    provisioners._update_resource = keeping  # noqa: SLF001


def _patch_function_logs() -> None:
    """Patch MiniStack 1.5.33, which loses the last log lines of an invocation on a busy machine.

    It reads the log until nothing has come for 5 ms, and what comes later is shown with the next
    invocation only. The function has written all of its lines before it answers: so all have
    come once the pipe is empty and the thread that reads it has had time to hand them on.
    """
    from ministack.core import lambda_runtime  # type: ignore[import-untyped]  # noqa: PLC0415 - as above

    worker_class = lambda_runtime.Worker
    drain = worker_class._drain_stderr_bounded  # noqa: SLF001 - it has no other place
    worker_class._drain_stderr_bounded = complete_log_reader(drain)  # noqa: SLF001


def complete_log_reader(drain: Callable[..., str]) -> Callable[..., str]:
    """Return a function that reads a worker's log by `drain` once its pipe is empty."""

    def read_log(worker: Any, **_: float) -> str:  # noqa: ANN401 - as it is there
        process = worker._proc  # noqa: SLF001 - it has no other place
        deadline = time.monotonic() + _LOG_WAIT_SECONDS
        while process is not None and _unread_bytes(process.stderr) and time.monotonic() < deadline:
            time.sleep(0.001)
        return drain(worker, first_line_wait=0.05, idle_confirm=0.05, hard_cap=_LOG_WAIT_SECONDS)

    return read_log


def _unread_bytes(pipe: IO[str]) -> int:
    """Return how many bytes wait in a pipe; none wait in a closed one."""
    if pipe.closed:
        return 0
    count = fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4))
    return int.from_bytes(count, sys.byteorder)


def _stop_with_parent() -> None:
    sys.stdin.read()
    shutil.rmtree(Path.cwd(), ignore_errors=True)
    if os.getpgrp() == os.getpid():
        # So do the functions that it runs.
        os.killpg(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
