"""How slow this machine is just now, for the few promises that are in seconds."""

import subprocess
import sys
from datetime import timedelta

_MODULES = "asyncio, email.message, http.client, json, logging.config, sqlite3, ssl, unittest"
"""Of Python's own; what is promised in seconds is spent on starts and imports, too."""

_NOMINAL = timedelta(milliseconds=60)
"""What they are expected to take on the machine for which the limits were set.

A fifth of what the import of a function may take there, not a measured time; where the modules take
less, the limits hold as they are.
"""


def slowness(times: int = 3) -> float:
    """How many times slower this machine is now than that one, at worst of some trials; at least 1.

    In processor time, so not for being shared with other programs; but a machine of which others
    have the caches and the memory may be three times as slow for an hour, and a promise in seconds
    would be broken by it and not by us.
    """
    return max(1.0, *(_spent() / _NOMINAL for _ in range(times)))


def _spent() -> timedelta:
    """The processor time in which an interpreter starts and imports the modules."""
    program = f"import time, {_MODULES}; print(time.process_time())"
    told = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True
    )
    return timedelta(seconds=float(told.stdout))
