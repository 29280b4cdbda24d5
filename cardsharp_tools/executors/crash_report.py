"""Reports of the file and line at which a strategy file ends this process or makes it hang.

They are for the lab's workers, which import a strategy file to play it at full speed. After a
crash or a hang the worker itself can report nothing. So the report is made beforehand: a hook
replaces `os._exit`, and the hang monitor watches the process from outside.
"""

import atexit
import faulthandler
import inspect
import os
import resource
import signal
import subprocess
import sys
import threading
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from cardsharp_tools.executors import hang_monitor
from cardsharp_tools.executors.line_process import require_pipe

MIN_MEMORY_BYTES = 1 << 30  # bytes that a process may always use, however small the machine is
EXIT_FAILED = 1  # exit code, the same as that of all commands

_original_exit = os._exit
_strategy_folders: set[Path] = set()


def enable_crash_reports(strategy_file: Path) -> None:
    """Report from now on if code in the folder of a strategy file ends the process."""
    _strategy_folders.add(strategy_file.parent)
    _install_exit_hooks()
    limit_memory()
    with suppress(BrokenPipeError):
        _start_hang_monitor().write(
            f"{hang_monitor.FOLDER_PREFIX}{strategy_file.parent}\n".encode()
        )


@cache
def _install_exit_hooks() -> None:
    os._exit = _report_and_exit
    os.register_at_fork(after_in_child=disable_crash_reports)


def disable_crash_reports() -> None:
    """Stop reporting the end of this process, because the strategy has forked it."""
    os._exit = _original_exit


def exit_if_forked(process: int) -> None:
    """End this process unless its id is `process`.

    A strategy that forks returns twice. Only the original process may go on with our code.
    """
    if os.getpid() != process:
        _original_exit(0)


@cache
def limit_memory() -> None:
    """Limit the memory, so that a strategy gets a MemoryError before the machine runs out."""
    everything = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory_limit = max(MIN_MEMORY_BYTES, everything // 2 // (os.cpu_count() or 1))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or hard > memory_limit:
        resource.setrlimit(resource.RLIMIT_DATA, (memory_limit, hard))


@cache
def _start_hang_monitor() -> IO[bytes]:
    """Start the hang monitor and return the pipe that it reads.

    From the pipe it learns where a strategy crashes this process or holds it up.
    """
    # The monitor inherits the blocked signal, so a Ctrl-C does not end it before this process.
    interrupt = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    seconds = str(hang_monitor.HANG_TIMEOUT_SECONDS)
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [
            sys.executable,
            "-IS",
            hang_monitor.__file__,
            str(os.getpid()),
            seconds,
        ],
        stdin=subprocess.PIPE,
        bufsize=0,
    )
    signal.pthread_sigmask(signal.SIG_SETMASK, interrupt)
    pipe = require_pipe(process.stdin)
    atexit.register(_stop_hang_monitor, process)
    faulthandler.enable(pipe)
    faulthandler.register(hang_monitor.STACK_DUMP_SIGNAL, pipe)
    threading.Thread(target=_write_heartbeats, args=(pipe,), daemon=True).start()
    return pipe


def _stop_hang_monitor(process: subprocess.Popen[bytes]) -> None:
    """End the hang monitor when this process exits normally."""
    faulthandler.disable()
    faulthandler.unregister(hang_monitor.STACK_DUMP_SIGNAL)
    process.communicate()


def _write_heartbeats(pipe: IO[bytes]) -> None:
    """Write a heartbeat once a second; it shows that threads still run."""
    pause = threading.Event()
    with suppress(OSError, ValueError):  # the monitor has ended, or this process is ending
        while not pause.wait(1):
            pipe.write(hang_monitor.HEARTBEAT)


def _report_and_exit(status: int) -> NoReturn:
    """End the process; if a strategy calls this, report it and exit with a failure."""
    location = _find_strategy_frame(inspect.currentframe())
    if location is None:
        _original_exit(status)
    hang_monitor.write_unbuffered(
        f"{location}: the strategy ended the process (os._exit({status}))."
    )
    _original_exit(EXIT_FAILED)


def _find_strategy_frame(frame: FrameType | None) -> str | None:
    """Return the innermost stack line in a strategy's folder, or None if there is none."""
    for caller, line in traceback.walk_stack(frame):
        file = Path(caller.f_code.co_filename)
        if file.parent in _strategy_folders:
            return f"{file.name}, line {line}, in {caller.f_code.co_name}"
    return None
