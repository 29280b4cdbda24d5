"""A strategy file that ends this process, or holds it up: told by its file and line.

So it is where a file is played at full speed, in a process of its own: a worker of the lab.
Nobody there can be told afterwards: the process is gone, or stands still for ever.
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

HANG_TIMEOUT_SECONDS = (
    hang_monitor.HANG_TIMEOUT_SECONDS
)  # seconds after which a process in which nothing moves is ended
MIN_MEMORY_BYTES = 1 << 30  # bytes that one process may have in any case
EXIT_FAILED = 1  # exit code, as of all commands

_end = os._exit
_folders: set[Path] = set()


def enable_crash_reports(file: Path) -> None:
    """From now on say where code that lies beside a strategy file ends the process."""
    _folders.add(file.parent)
    _install_exit_hooks()
    limit_memory()
    with suppress(BrokenPipeError):
        _monitor_pipe().write(f"{hang_monitor.FOLDER_PREFIX}{file.parent}\n".encode())


@cache
def _install_exit_hooks() -> None:
    os._exit = _exit
    os.register_at_fork(after_in_child=silence)


def silence() -> None:
    """Say nothing of the end of this process: it is one of the strategy's own."""
    os._exit = _end


def leave_unless(process: int) -> None:
    """End this process unless it is that one: a strategy has forked, and ours goes on."""
    if os.getpid() != process:
        _end(0)


@cache
def limit_memory() -> None:
    """Let a strategy that takes ever more memory meet a MemoryError before the machine is full."""
    everything = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    share = max(MIN_MEMORY_BYTES, everything // 2 // (os.cpu_count() or 1))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or hard > share:
        resource.setrlimit(resource.RLIMIT_DATA, (share, hard))


@cache
def _monitor_pipe() -> IO[bytes]:
    """Start the hang monitor and return the pipe that it reads.

    From the pipe it learns where a strategy crashes this process or holds it up.
    """
    interrupt = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it outlives a Ctrl-C
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-IS", hang_monitor.__file__, str(os.getpid()), str(HANG_TIMEOUT_SECONDS)],
        stdin=subprocess.PIPE,
        bufsize=0,
    )
    signal.pthread_sigmask(signal.SIG_SETMASK, interrupt)
    pipe = require_pipe(process.stdin)
    atexit.register(_dismiss, process)
    faulthandler.enable(pipe)
    faulthandler.register(hang_monitor.STACK_DUMP_SIGNAL, pipe)
    threading.Thread(target=_beat, args=(pipe,), daemon=True).start()
    return pipe


def _dismiss(process: subprocess.Popen[bytes]) -> None:
    """Let the companion end with us."""
    faulthandler.disable()
    faulthandler.unregister(hang_monitor.STACK_DUMP_SIGNAL)
    process.communicate()


def _beat(pipe: IO[bytes]) -> None:
    """Say once a second that threads still move."""
    pause = threading.Event()
    with suppress(OSError, ValueError):  # it has ended, or this process ends
        while not pause.wait(1):
            pipe.write(hang_monitor.HEARTBEAT)


def _exit(status: int) -> NoReturn:
    """End the process; a strategy that does so has failed, whatever status it gives."""
    place = _place(inspect.currentframe())
    if place is None:
        _end(status)
    hang_monitor.write_unbuffered(f"{place}: the strategy ended the process (os._exit({status})).")
    _end(EXIT_FAILED)


def _place(frame: FrameType | None) -> str | None:
    """The innermost line that lies beside a strategy file, None where there is none."""
    for caller, line in traceback.walk_stack(frame):
        file = Path(caller.f_code.co_filename)
        if file.parent in _folders:
            return f"{file.name}, line {line}, in {caller.f_code.co_name}"
    return None
