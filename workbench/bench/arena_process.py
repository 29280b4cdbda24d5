"""A local arena in a process of its own, so that its work can be told from ours."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from cardsharp.errors import CardsharpError, ConfigError

ADMIN_PASSWORD = "bench"  # noqa: S105 - of an arena on loopback that lives for seconds


class ArenaProcess:
    """`cardsharp arena` on a free port, between enter and exit."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "workbench.cli", "arena", "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            env={**os.environ, "ARENA_ADMIN_PASSWORD": ADMIN_PASSWORD},
            text=True,
            start_new_session=True,
        )
        line = "" if self._process.stdout is None else self._process.stdout.readline()
        if not line:
            raise CardsharpError("The arena did not start; `cardsharp arena` says why.")
        self.url = str(json.loads(line)["url"])

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


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
