"""A strategy file that ends this process, or never comes to an end: told by its file and line.

Nobody can be told afterwards: the process is gone, or stands still for ever.
"""

import faulthandler
import inspect
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import NoReturn

PATIENCE = timedelta(seconds=2)
"""So long a file is imported without a word."""

IMPORT_LIMIT = timedelta(seconds=20)
"""So long it is imported at all."""

FAILED, USAGE = 1, 2
"""Exit codes, as of all commands."""

_end = os._exit
_folders: set[Path] = set()


def listen(file: Path) -> None:
    """From now on say where code that lies beside a strategy file ends the process."""
    _folders.add(file.parent)
    os._exit = _exit
    if not faulthandler.is_enabled() and sys.__stderr__ is not None:
        faulthandler.enable(sys.__stderr__)


@contextmanager
def in_time(file: Path) -> Iterator[None]:
    """Import the file in the block: after a while it is told, and in the end the process ends."""
    thread = threading.get_ident()

    def where() -> str:
        frames = sys._current_frames()  # noqa: SLF001 - documented, and the only way to see a thread
        return _place(frames.get(thread)) or str(file)

    def still() -> None:
        _say(f"{where()}: still being imported ...")

    def give_up() -> None:
        seconds = f"{IMPORT_LIMIT.total_seconds():g}"
        _say(f"{where()}: not imported within {seconds} s; let the file define, and decide do.")
        _end(USAGE)

    alarms = [
        threading.Timer(limit.total_seconds(), ring)
        for limit, ring in ((PATIENCE, still), (IMPORT_LIMIT, give_up))
    ]
    for alarm in alarms:
        alarm.daemon = True
        alarm.start()
    try:
        yield
    finally:
        for alarm in alarms:
            alarm.cancel()


def _exit(status: int) -> NoReturn:
    """End the process; a strategy that does so has failed, whatever status it gives."""
    place = _place(inspect.currentframe())
    if place is None:
        _end(status)
    _say(f"{place}: the strategy ended the process (os._exit({status})).")
    _end(FAILED)


def _place(frame: FrameType | None) -> str | None:
    """The innermost line that lies beside a strategy file, None where there is none."""
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.parent in _folders:
            return f"{file.name}, line {frame.f_lineno}, in {frame.f_code.co_name}"
        frame = frame.f_back
    return None


def _say(sentence: str) -> None:
    """Tell it past all buffers, which nobody will empty any more."""
    os.write(2, f"cardsharp: {sentence}\n".encode())
