"""What is measured from outside: a server in a process of its own, and its CPU time."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cardsharp.errors import CardsharpError, ConfigError

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
