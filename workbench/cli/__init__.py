"""The `cardsharp` command: one module a sub-command, imported when it is called."""

import errno
import os
import sys
from collections.abc import Sequence

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
        # What is left in the buffers goes nowhere, else Python complains at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except Exception as error:  # noqa: BLE001 - the end of the program
        print_error(_no_room(error) or keep_traceback(error))
        return Exit.FAILED
    return code if isinstance(code, int) else Exit.OK


def _no_room(error: Exception) -> str | None:
    """What to say where a disk is full or a file may not grow; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in _NO_ROOM:
        return None
    return (
        f"{error.filename or 'The output'} cannot be written: {error.strerror}. Make room for it."
    )
