"""Showing beside something that plays: a failure of it is reported, and playing goes on."""

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from io import UnsupportedOperation
from pathlib import Path

from cardsharp.errors import CardsharpError
from cardsharp_tools.cli.console import print_error

_log = logging.getLogger(__name__)
_CONTINUE_NOTE = "The match continues."


class DisplayErrorGuard:
    """Guard that runs display code and reports its failures instead of raising them.

    Each failure is reported once, in a plain sentence.
    """

    def __init__(self, report: Callable[[str], None] = print_error) -> None:
        self._report = report
        self._reported_errors: set[str] = set()

    def run(self, show: Callable[[], object], subject: str) -> bool:
        """Call `show`; return whether it succeeded. `subject` says what is shown."""
        try:
            show()
        except CardsharpError as error:
            self.report_once(f"{subject} cannot be shown: {error}")
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                _discard_output()
            reason = error.strerror or "its reader has gone"
            self.report_once(f"The output cannot be written: {reason}.")
        except Exception as error:  # noqa: BLE001 - what plays is worth more
            _log.exception("%s cannot be shown", subject)
            name = type(error).__name__
            self.report_once(f"{subject} cannot be shown, because of a bug in Cardsharp ({name}).")
        else:
            return True
        return False

    def report_once(self, sentence: str) -> None:
        """Report a failure, unless it was reported before."""
        if sentence not in self._reported_errors:
            self._reported_errors.add(sentence)
            self._report(f"{sentence} {_CONTINUE_NOTE}")


def _discard_output() -> None:
    """Redirect all later output to the null device.

    Otherwise a pipe without a reader would fail at the program's end, too.
    """
    with suppress(UnsupportedOperation, OSError, ValueError):  # a caller may have its own stdout
        output = sys.stdout.fileno()
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), output)
