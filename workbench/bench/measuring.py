"""What the benchmarks share: a service in a process of its own, and CPU time told apart."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from cardsharp.errors import CardsharpError, ConfigError

T = TypeVar("T")

_NO_VARIABLES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Served:
    """A server that a command of ours has started: where it answers, and its process."""

    url: str
    pid: int


@contextmanager
def served(*command: str, variables: Mapping[str, str] = _NO_VARIABLES) -> Iterator[Served]:
    """Yield the server that `cardsharp COMMAND --port 0 --json` starts; it ends with the block.

    Raises:
        CardsharpError: it did not start.
    """
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "workbench.cli", *command, "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        env={**os.environ, **variables},
        text=True,
        start_new_session=True,
    )
    try:
        line = "" if process.stdout is None else process.stdout.readline()
        if not line:
            raise CardsharpError(f"`cardsharp {command[0]}` did not start; run it to see why.")
        yield Served(str(json.loads(line)["url"]), process.pid)
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def cpu_seconds(pid: int) -> float:
    """CPU time that a living process has used so far, all its threads together.

    Raises:
        ConfigError: this system has no /proc.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError as error:
        raise ConfigError("CPU seconds are read from /proc; run this on Linux.") from error
    # The name in parentheses may hold spaces; user and system time are fields 14 and 15.
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Spent:
    """CPU seconds of this process, counted up."""

    seconds: float = 0.0


def counted(thing: T, spent: Spent) -> T:
    """The same thing, but that CPU time in its methods is added to `spent`."""
    return cast("T", _Counted(thing, spent))


class _Counted:
    def __init__(self, thing: object, spent: Spent) -> None:
        self._thing, self._spent = thing, spent

    def __getattr__(self, name: str) -> Callable[..., object]:
        method = getattr(self._thing, name)

        def timed(*arguments: object, **named: object) -> object:
            began = time.process_time()
            try:
                return method(*arguments, **named)
            finally:
                self._spent.seconds += time.process_time() - began

        return timed
