"""Exit codes of the command, the same everywhere (docs/cli.md), and signals to it."""

import os
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from enum import IntEnum
from threading import Timer
from types import FrameType

from cardsharp import errors


class ExitCode(IntEnum):
    """Exit code of a command."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    LATE = 3
    REPLACED = 4
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


END_LIMIT = 8.0  # seconds in which a command ends in order; most kill it after ten
_REPEAT_SECONDS = 0.05  # seconds after which a signal whose exception was ignored is sent again


class StoppedBySignal(KeyboardInterrupt):
    """Interrupt of a command by a signal; the command ends as after Ctrl-C."""

    def __init__(self, signal_number: int) -> None:
        super().__init__()
        self.number = signal_number


def interrupt_exit_code(stop: KeyboardInterrupt) -> ExitCode:
    """Return the exit code of an interrupted command: 128 + signal, or that of Ctrl-C."""
    return (
        ExitCode(128 + stop.number) if isinstance(stop, StoppedBySignal) else ExitCode.INTERRUPTED
    )


def install_stop_signal_handlers(signals: Collection[int]) -> None:
    """Make the first of these signals raise `StoppedBySignal`; Ctrl-C stays as in Python.

    What has not ended `END_LIMIT` later is cut off, unless it was Ctrl-C, also where it is the end
    of the process that takes so long. Further signals change nothing, so that they break into no
    end that is under way.

    A stop or a Ctrl-C can come where Python ignores exceptions, as in a callback of its import
    lock. Then the signal is sent again: `sys.unraisablehook` is replaced for that.
    """
    is_stopping = False
    usual_hook = sys.unraisablehook

    def stop(signal_number: int, _frame: FrameType | None) -> None:
        nonlocal is_stopping
        if not is_stopping:
            is_stopping = True
            _start_timer(END_LIMIT, _kill_process, signal_number)
            raise StoppedBySignal(signal_number)

    def send_again(unraisable: "sys.UnraisableHookArgs") -> None:
        nonlocal is_stopping
        exception = unraisable.exc_value
        if not isinstance(exception, KeyboardInterrupt):
            usual_hook(unraisable)
            return
        signal_number = signal.SIGINT
        if isinstance(exception, StoppedBySignal):
            signal_number, is_stopping = signal.Signals(exception.number), False
        _start_timer(_REPEAT_SECONDS, os.kill, os.getpid(), signal_number)

    sys.unraisablehook = send_again
    for signal_number in signals:
        signal.signal(
            signal_number, signal.default_int_handler if signal_number == signal.SIGINT else stop
        )


def _start_timer(seconds: float, function: Callable[..., None], *arguments: int) -> None:
    timer = Timer(seconds, function, arguments)
    timer.daemon = True
    timer.start()


def _kill_process(signal_number: int) -> None:
    os.write(
        2,
        f"cardsharp: the command did not end within {END_LIMIT:g} s, so it was killed.\n".encode(),
    )
    os._exit(128 + signal_number)


def decision_exit_code(decisions: int, faults: int) -> ExitCode:
    """Return the exit code for a strategy's number of decisions and of failed decisions.

    A strategy of which every decision failed has not played at all.
    """
    if not faults:
        return ExitCode.OK
    return ExitCode.FAILED if faults == decisions else ExitCode.REPLACED


@contextmanager
def handle_signals(
    handler: Callable[[int, FrameType | None], object], *signals: int
) -> Iterator[None]:
    """Handle these signals with `handler` while the block runs."""
    previous_handlers = {
        signal_number: signal.signal(signal_number, handler) for signal_number in signals
    }
    try:
        yield
    finally:
        for signal_number, then in previous_handlers.items():
            signal.signal(signal_number, then)


def error_exit_code(error: errors.CardsharpError) -> ExitCode:
    """Return the exit code of an error."""
    wrong = (
        errors.ConfigError | errors.RulesError | errors.Unauthorized | errors.UntrustedCertificate
    )
    if isinstance(error, wrong):
        return ExitCode.USAGE
    if isinstance(error, errors.Unreachable | errors.MalformedResponse | errors.RateLimited):
        return ExitCode.UNREACHABLE
    return ExitCode.FAILED
