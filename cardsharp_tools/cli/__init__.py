"""The `cardsharp` command: one module a sub-command, imported when it is called."""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals by which a command is stopped; those that whoever started us ignores stay ignored."""

_MAX_UNSEARCHED_OBJECTS = 100_000  # `analyse` creates 80,000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code.

    Until the modules are imported, a signal ends the process in silence, as it ends `cat`: an
    exception would arise in the middle of an import and be shown with a traceback. After that
    the command ends in order. Both need signal handlers of our own, because the kernel does not
    end process 1 of a container by a signal's default action.
    """
    usual = (signal.SIG_DFL, signal.default_int_handler)
    previous_handlers = {
        signal_number: then
        for signal_number in STOP_SIGNALS
        if (then := signal.getsignal(signal_number)) in usual
    }
    previous_hook = sys.unraisablehook
    for signal_number in previous_handlers:
        signal.signal(signal_number, _exit_by_signal)
    _delay_garbage_collection()
    # At the end Python searches all objects for garbage, which takes an eighth of a short command.
    atexit.register(gc.freeze)
    # pydantic would read the metadata of every installed package to look for its plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if arguments == ["--version"] and _print_version():
            return 0
        from cardsharp_tools.cli.app import run  # noqa: PLC0415 - after the lines above
        from cardsharp_tools.cli.exit_codes import install_stop_signal_handlers  # noqa: PLC0415

        install_stop_signal_handlers(previous_handlers)
        return run(arguments)
    finally:
        for signal_number, then in previous_handlers.items():
            signal.signal(signal_number, then)
        sys.unraisablehook = previous_hook


def _delay_garbage_collection() -> None:
    """Let Python search for garbage only once there are more objects than a short command creates.

    It would search a hundred times while modules are imported, which takes a twentieth of such a
    command. After the first search it goes on as usual, so a long command needs no more memory.
    """
    thresholds = gc.get_threshold()

    def restore_thresholds(_phase: str, _search: dict[str, int]) -> None:
        """Go on as usual; Python calls this at the beginning of the first search."""
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(restore_thresholds)

    if thresholds[0] < _MAX_UNSEARCHED_OBJECTS:
        gc.callbacks.append(restore_thresholds)
        gc.set_threshold(_MAX_UNSEARCHED_OBJECTS)


def _print_version() -> bool:
    """Print the version without the modules of the commands; return False if that fails.

    A command line with more in it, or without a usable output, is left to `run`.
    """
    from importlib.metadata import version  # noqa: PLC0415 - after the signal handlers

    try:
        print(version("cardsharp"), flush=True)  # noqa: T201 - the result
    except OSError:
        return False
    return sys.stdout is not None


def _exit_by_signal(signal_number: int, _frame: FrameType | None) -> None:
    """End this process by a signal; if that fails, by the exit code that stands for it."""
    signal.signal(signal_number, signal.SIG_DFL)
    os.kill(os.getpid(), signal_number)
    os._exit(128 + signal_number)
