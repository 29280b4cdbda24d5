"""What `cardsharp bot` spends before its first request, and on which modules.

    python -m workbench.bench.start_bench [--times 9]

The bot is started against a port at which nobody answers; processor time counts until the request
is there. A machine that others use is slower in processor time, too, so the row also says how much
slower it is now than one on which Python imports some of its own modules in 60 ms.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from workbench.bench.measuring import cpu_seconds
from workbench.machine import slowness

_MODULE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \| +(\w+)")
"""A line of `python -X importtime`: the microseconds of a module by itself, and its package."""

_SHOWN = 12

_ANYTHING = "none"
"""The password: nobody looks at it."""

app = cyclopts.App(help=__doc__, help_format="plaintext")


@contextmanager
def asked(*options: str) -> Iterator[subprocess.Popen[str]]:
    """A bot that has sent its first request and waits for the answer; killed at the end."""
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as home:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, *options, "-m", "workbench.cli", "bot", "--url", url, "--user", "me"],
            env={**os.environ, "CARDSHARP_PASSWORD": _ANYTHING, "XDG_DATA_HOME": home},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        connection, _ = server.accept()
        with connection:
            connection.recv(1)
            try:
                yield process
            finally:
                process.kill()


def modules() -> Counter[str]:
    """Microseconds of imports by package, on the clock."""
    with asked("-X", "importtime") as process:
        process.kill()
        _, told = process.communicate()
    spent: Counter[str] = Counter()
    for microseconds, package in _MODULE.findall(told):
        spent[package] += int(microseconds)
    return spent


@app.default
def start(*, times: Annotated[int, Parameter(help="How often it is started.")] = 9) -> None:
    """Start the bot some times, and print what it spends until its first request."""
    seconds = []
    for _ in range(times):
        with asked() as process:
            seconds.append(cpu_seconds(process.pid))
    slow = slowness()
    spent = modules()
    whole = sum(spent.values())
    shares = ", ".join(f"{name} {us / whole:.0%}" for name, us in spent.most_common(_SHOWN))
    print(  # noqa: T201 - the rows
        f"start to first request: {median(seconds):.2f} s CPU in the median of {times}, "
        f"{min(seconds):.2f} at least; this machine is {slow:.1f} times slower than the nominal\n"
        f"of the time for imports: {shares}"
    )


if __name__ == "__main__":
    app()
