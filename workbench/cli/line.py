"""A command line, run to its exit code; what goes wrong is told in a sentence."""

import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from io import UnsupportedOperation
from pathlib import Path

import cyclopts

from cardsharp.cloud.redaction import redact
from cardsharp.errors import CardsharpError
from workbench.cli.commands import build_app, misused, narrow_examples
from workbench.show.exits import Exit, exit_for
from workbench.show.options import PASTED
from workbench.show.output import help_console, print_error, print_json

_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}


def run(given: list[str]) -> int:
    """Run a command line; the exit code. With --json a fault is `{"error": ...}` as well."""
    try:
        return _run(given)
    except BrokenPipeError:
        _drop_output()
        return Exit.OK


def _run(given: list[str]) -> int:
    try:
        app = build_app()
        if not {"--help", "-h"}.isdisjoint(given):
            narrow_examples(app, given)
        code = app(
            [PASTED if word == "-" else word for word in given],  # it would be taken for an option
            console=help_console(),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
    except cyclopts.CycloptsError as error:
        command = " ".join(("cardsharp", *(error.command_chain or ())))
        return _failed(f"{misused(error)} Try `{command} --help`.", Exit.USAGE, given)
    except CardsharpError as error:
        return _failed(str(error), exit_for(error), given)
    except KeyboardInterrupt:
        print_error("stopped.")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the end of the program
        if not isinstance(error, OSError) or error.errno not in _NO_ROOM:
            return _failed(keep_traceback(error), Exit.FAILED, given)
        where = error.filename or "The output"
        print_error(f"{where} cannot be written: {error.strerror}. Make room for it.")
        _drop_output()
        return Exit.FAILED
    return code if isinstance(code, int) else Exit.OK


def _failed(message: str, code: Exit, given: Sequence[str]) -> Exit:
    """Tell people, and the program that asked for JSON; the exit code."""
    print_error(message)
    if "--json" in given:
        print_json({"error": message})
    return code


def _drop_output() -> None:
    """Let what is left in the buffers go nowhere, else Python complains of it at its end."""
    with suppress(UnsupportedOperation):  # a program that calls us has a stdout of its own
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


ADDRESS = "under Issues on the project's GitHub page"  # where faults are told


def keep_traceback(error: Exception) -> str:
    """One sentence about a bug of ours, which says where its traceback lies."""
    text = redact("".join(traceback.format_exception(error)))
    with tempfile.NamedTemporaryFile(
        "w", prefix="cardsharp-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
    return (
        f"This is a fault of Cardsharp itself ({type(error).__name__}). "
        f"Please report it {ADDRESS}, with {Path(file.name)}."
    )
