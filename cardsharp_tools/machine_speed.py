"""Present slowness of this machine, for the few limits that are in seconds."""

import subprocess
import sys
from datetime import timedelta

_MODULES = "asyncio, email.message, http.client, json, logging.config, sqlite3, ssl, unittest"
"""Of Python's own; what is promised in seconds is spent on starts and imports, too."""

_NOMINAL_START_CPU_TIME = timedelta(milliseconds=60)
"""Import time expected on the machine for which the limits were set.

It is a fifth of what the import of a function may take there, and was not measured. Where the
modules take less, the limits stay as they are.
"""


def slowdown_factor(trials: int = 3) -> float:
    """Return how many times slower this machine is than the nominal one, at least 1.

    The worst of some trials counts. It is measured in processor time, so that sharing the
    machine with other programs does not matter. But a machine whose caches and memory others
    use may be three times as slow for an hour, and a limit in seconds would then be exceeded
    through no fault of ours.
    """
    return max(1.0, *(_measure_start_cpu_time() / _NOMINAL_START_CPU_TIME for _ in range(trials)))


def _measure_start_cpu_time() -> timedelta:
    """Return the processor time in which an interpreter starts and imports the modules."""
    program = f"import time, {_MODULES}; print(time.process_time())"
    result = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True
    )
    return timedelta(seconds=float(result.stdout))
