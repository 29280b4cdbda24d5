"""How fast this machine is just now, for the few promises that are in seconds."""

import time

_LOOPS = 250_000

_NOMINAL = 0.0275
"""Seconds of CPU that so many loops take on the machine for which the limits were set."""


def slowness(times: int = 3) -> float:
    """How many times slower this machine is now than that one, at worst of some trials; at least 1.

    A machine that is shared with others may be three times as slow for an hour, and a promise in
    seconds would be broken by it and not by us.
    """
    return max(1.0, *(_spent() / _NOMINAL for _ in range(times)))


def _spent() -> float:
    began, total = time.process_time(), 0
    for number in range(_LOOPS):
        total += number * number
    return time.process_time() - began
