"""Exit codes of the command, the same everywhere (docs/cli.md), and signals to it."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType

from cardsharp import errors


class Exit(IntEnum):
    """What a command's exit code means."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    LATE = 3
    REPLACED = 4
    INTERRUPTED = 130


def exit_after(decisions: int, faults: int) -> Exit:
    """The exit code after so many decisions of a strategy, of which some failed.

    A strategy of which every decision failed has not played at all.
    """
    if not faults:
        return Exit.OK
    return Exit.FAILED if faults == decisions else Exit.REPLACED


@contextmanager
def signals_to(handler: Callable[[int, FrameType | None], object], *those: int) -> Iterator[None]:
    """Have those signals handled so while the block runs."""
    before = {one: signal.signal(one, handler) for one in those}
    try:
        yield
    finally:
        for one, then in before.items():
            signal.signal(one, then)


def exit_for(error: errors.CardsharpError) -> Exit:
    """The exit code that tells of an error."""
    wrong = errors.ConfigError | errors.RulesError | errors.Unauthorized | errors.Untrusted
    if isinstance(error, wrong):
        return Exit.USAGE
    if isinstance(error, errors.Unreachable | errors.Garbled | errors.RateLimited):
        return Exit.UNREACHABLE
    return Exit.FAILED
