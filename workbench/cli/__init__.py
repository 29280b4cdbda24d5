"""The `cardsharp` command: one module a sub-command, imported when it is called."""

import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code.

    Until its modules are there, Ctrl-C ends the process in silence, as it ends `cat`: an exception
    would arise in the middle of whatever is being imported, and be shown with a traceback.
    """
    if isinstance(sys.stdin, TextIOWrapper):  # what is typed or piped in another encoding
        sys.stdin.reconfigure(errors="replace")
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from workbench.cli.commands import run  # noqa: PLC0415 - after the lines above

    signal.signal(signal.SIGINT, before)
    return run(list(sys.argv[1:] if arguments is None else arguments))
