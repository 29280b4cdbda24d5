"""The `cardsharp` command: one module a sub-command, imported when it is called."""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals by which a command is stopped; those that whoever started us ignores stay ignored."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code.

    Until its modules are there, a signal ends the process in silence, as it ends `cat`: an
    exception would arise in the middle of whatever is being imported, and be shown with a
    traceback. From then on the command ends in order. Both need handlers of ours, for the kernel
    ends no process 1 of a container by a signal's own action.
    """
    usual = (signal.SIG_DFL, signal.default_int_handler)
    before = {one: then for one in STOPS if (then := signal.getsignal(one)) in usual}
    for one in before:
        signal.signal(one, _end)
    try:
        from workbench.cli.commands import run  # noqa: PLC0415 - after the lines above
        from workbench.show.exits import stop_by  # noqa: PLC0415

        stop_by(before)
        return run(list(sys.argv[1:] if arguments is None else arguments))
    finally:
        for one, then in before.items():
            signal.signal(one, then)


def _end(number: int, _frame: FrameType | None) -> None:
    """End this process as the signal does; where it does not, by the exit code that tells of it."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)
