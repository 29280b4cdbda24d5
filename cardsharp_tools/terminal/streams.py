"""The standard streams of a command: whatever their encoding, no text ends the command.

A character that a terminal cannot show is replaced: those of our own drawings by a similar one,
a letter by itself without its accent, anything else by a question mark. Each becomes exactly one
character, so columns stay in line.
"""

import codecs
import io
import os
import sys
import unicodedata
from contextlib import suppress
from typing import NoReturn, Self, TextIO, cast

from cardsharp.errors import ConfigError

HANDLER = "cardsharp.similar"

_LOOKALIKE_TABLE = str.maketrans(
    {
        **dict(zip("▁▂▃▄▅▆▇█", ".:-=+*#@", strict=True)),
        **dict.fromkeys("─━═╌", "-"),
        **dict.fromkeys("│┃║", "|"),
        **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰", "+"),
        **dict.fromkeys("‐‑‒–—−", "-"),  # noqa: RUF001 - the very characters
        **dict.fromkeys("‘’′", "'"),  # noqa: RUF001 - the same
        **dict.fromkeys("“”″", '"'),
        **dict.fromkeys("·•●", "*"),
        **dict.fromkeys("→›", ">"),  # noqa: RUF001 - the same
        **dict.fromkeys("←‹", "<"),  # noqa: RUF001 - the same
        "♠": "S",
        "♥": "H",
        "♦": "D",
        "♣": "C",
        "×": "x",  # noqa: RUF001 - the same
        "±": "~",
        "…": ".",
    }
)


def ascii_lookalike(text: str) -> str:
    """Return similar ASCII text, one character for each."""
    return "".join(_to_ascii(character) for character in text.translate(_LOOKALIKE_TABLE))


def _to_ascii(character: str) -> str:
    plain = [c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c)]
    return plain[0] if len(plain) == 1 and plain[0].isascii() else "?"


def _replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return ascii_lookalike(error.object[error.start : error.end]), error.end


def prepare_streams() -> None:
    """Make the standard streams accept any text; raise `ConfigError` without stdout.

    A closed stream leaves its number to the next file that is opened, which would then be written
    to as if it were the stream. So the number becomes that of /dev/null here: what a closed stderr
    would show is lost, and who reads a closed stdin gets a `ConfigError`. Results that nobody can
    get are a fault.
    """
    lacks_output = sys.stdout is None
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, _open_null_stream(descriptor))
            if descriptor == 0:
                sys.stdin = cast("TextIO", _UnreadableInput())
    codecs.register_error(HANDLER, _replace_unencodable)
    _set_error_handler(sys.stdin, "replace")
    _set_error_handler(sys.stdout, HANDLER)
    _set_error_handler(sys.stderr, HANDLER)
    if lacks_output:
        raise ConfigError(
            "The standard output is closed, so there is nowhere to write results. Send it to a "
            "file, or to /dev/null (> /dev/null instead of >&-)."
        )


class _UnreadableInput(io.TextIOBase):
    """Stream in place of a closed stdin; reading it raises an error that tells what to do."""

    @property
    def buffer(self) -> Self:
        """This stream itself, so that reading bytes fails in the same way."""
        return self

    def isatty(self) -> bool:
        """Return False, because nobody can type here."""
        return False

    def fileno(self) -> int:
        """Return the stream's descriptor, which is now that of /dev/null."""
        return 0

    def read(self, _size: int | None = -1, /) -> NoReturn:
        """Raise `ConfigError`."""
        raise ConfigError(
            "The standard input is closed, and this command reads from it. Run it in a terminal, "
            "or give its input by a file or a pipe (< FILE instead of <&-)."
        )

    readline = read


def _open_null_stream(descriptor: int) -> io.TextIOWrapper:
    """Return /dev/null, opened as the stream with this descriptor."""
    null = os.open(os.devnull, os.O_RDWR)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)
    os.set_inheritable(descriptor, True)  # noqa: FBT003 - as Python has it
    mode = "r" if descriptor == 0 else "w"
    return io.TextIOWrapper(io.FileIO(descriptor, mode, closefd=False), encoding="utf-8")


def _set_error_handler(stream: object, errors: str) -> None:
    """Set the error handler of a text stream, so that it replaces what its encoding lacks.

    A stream of another type is not changed.
    """
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=errors)


def check_working_folder() -> None:
    """Raise `ConfigError` if the current folder is deleted or not accessible.

    Relative names, the settings file and every child process depend on it.
    """
    try:
        folder = os.getcwd()  # noqa: PTH109 - a Path of it would say no more
    except OSError as error:
        raise ConfigError(
            f"The current folder cannot be used ({error.strerror}); it may have been deleted. "
            "Change to another, for example with `cd`, and run the command again."
        ) from None
    if not os.access(folder, os.X_OK):
        raise ConfigError(
            f"The current folder {folder} is closed to this user. Change to another, for example "
            "with `cd`, and run the command again."
        )


def discard_pending_output() -> None:
    """Discard the buffered output of stdout, so that Python does not fail at exit."""
    # A program that calls us has a stdout of its own.
    with suppress(io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
