"""What a command prints, and where: results to stdout, progress and errors to stderr."""

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.text import Text

PLAIN_WIDTH = 110
"""Columns where the output is no terminal and nothing says how wide it is."""

MOST_WIDTH = 120
"""Columns beyond which lines are hard to read."""


def results() -> Console:
    """The console of results: plain, without colour, where stdout is no terminal."""
    return _console(sys.stdout)


def messages() -> Console:
    """The console of progress and errors."""
    return _console(sys.stderr)


def print_json(document: object) -> None:
    """Print one JSON document, in lines where somebody looks at it."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(document, indent=indent, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def print_error(message: str) -> None:
    """Print an error's sentences, each on a line of its own."""
    console = messages()
    for line in message.splitlines():
        console.print(Text.assemble(("cardsharp: ", "bold red"), line), soft_wrap=True)


def program() -> str:
    """How this program is called from here: by its name if the shell would find it."""
    called = Path(sys.argv[0])
    if shutil.which("cardsharp") or called.name != "cardsharp":
        return "cardsharp"
    with suppress(ValueError):
        return str(called.resolve().relative_to(Path.cwd()))
    return str(called)


class _Piped(Console):
    """A console whose reader may go away before the end, as `head` does."""

    def on_broken_pipe(self) -> None:
        """Leave the end of the program to whoever started it; rich would exit with 1."""
        raise BrokenPipeError


def _console(stream: IO[str]) -> Console:
    console = _Piped(file=stream, highlight=False, markup=False, emoji=False)
    if "COLUMNS" not in os.environ:
        width = console.width if console.is_terminal else PLAIN_WIDTH
        console.width = min(width, MOST_WIDTH)
    return console
