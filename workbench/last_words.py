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

from workbench import companion
from workbench.process import pipe_of

STILL = companion.SILENCE  # seconds after which a process in which nothing moves is ended
LEAST_MEMORY = 1 << 30  # bytes that one process may have in any case
FAILED = 1  # exit code, as of all commands

_end = os._exit
_folders: set[Path] = set()


def listen(file: Path) -> None:
    """From now on say where code that lies beside a strategy file ends the process."""
    _folders.add(file.parent)
    _have_ends_told()
    bound_memory()
    with suppress(BrokenPipeError):
        _companion().write(f"{companion.FOLDER}{file.parent}\n".encode())


@cache
def _have_ends_told() -> None:
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
def bound_memory() -> None:
    """Let a strategy that takes ever more memory meet a MemoryError before the machine is full."""
    everything = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    share = max(LEAST_MEMORY, everything // 2 // (os.cpu_count() or 1))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or hard > share:
        resource.setrlimit(resource.RLIMIT_DATA, (share, hard))


@cache
def _companion() -> IO[bytes]:
    """What the companion reads that tells where a strategy crashes this process or holds it up."""
    interrupt = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it outlives a Ctrl-C
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-IS", companion.__file__, str(os.getpid()), str(STILL)],
        stdin=subprocess.PIPE,
        bufsize=0,
    )
    signal.pthread_sigmask(signal.SIG_SETMASK, interrupt)
    pipe = pipe_of(process.stdin)
    atexit.register(_dismiss, process)
    faulthandler.enable(pipe)
    faulthandler.register(companion.ASK, pipe)
    threading.Thread(target=_beat, args=(pipe,), daemon=True).start()
    return pipe


def _dismiss(process: subprocess.Popen[bytes]) -> None:
    """Let the companion end with us."""
    faulthandler.disable()
    faulthandler.unregister(companion.ASK)
    process.communicate()


def _beat(pipe: IO[bytes]) -> None:
    """Say once a second that threads still move."""
    pause = threading.Event()
    with suppress(OSError, ValueError):  # it has ended, or this process ends
        while not pause.wait(1):
            pipe.write(companion.BEAT)


def _exit(status: int) -> NoReturn:
    """End the process; a strategy that does so has failed, whatever status it gives."""
    place = _place(inspect.currentframe())
    if place is None:
        _end(status)
    companion.say(f"{place}: the strategy ended the process (os._exit({status})).")
    _end(FAILED)


def _place(frame: FrameType | None) -> str | None:
    """The innermost line that lies beside a strategy file, None where there is none."""
    for one, line in traceback.walk_stack(frame):
        file = Path(one.f_code.co_filename)
        if file.parent in _folders:
            return f"{file.name}, line {line}, in {one.f_code.co_name}"
    return None
