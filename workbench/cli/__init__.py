"""The `cardsharp` command: one module a sub-command, imported when it is called."""

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import UnsupportedOperation

import cyclopts

from cardsharp.errors import CardsharpError
from workbench.cli.commands import build_app
from workbench.cli.crash import keep_traceback
from workbench.show.exits import Exit, exit_for
from workbench.show.output import print_error

_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code."""
    try:
        code = build_app()(
            None if arguments is None else list(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except cyclopts.CycloptsError as error:
        error.verbose = False
        print_error(f"{error} Try `cardsharp --help`.")
        return Exit.USAGE
    except CardsharpError as error:
        print_error(str(error))
        return exit_for(error)
    except KeyboardInterrupt:
        print_error("stopped.")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return Exit.OK
    except Exception as error:  # noqa: BLE001 - the end of the program
        full = _no_room(error)
        print_error(full or keep_traceback(error))
        if full is not None:
            _drop_output()
        return Exit.FAILED
    return code if isinstance(code, int) else Exit.OK


def _drop_output() -> None:
    """Let what is left in the buffers go nowhere, else Python complains of it at its end."""
    with suppress(UnsupportedOperation):  # a program that calls us has a stdout of its own
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _no_room(error: Exception) -> str | None:
    """What to say where a disk is full or a file may not grow; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in _NO_ROOM:
        return None
    return (
        f"{error.filename or 'The output'} cannot be written: {error.strerror}. Make room for it."
    )
