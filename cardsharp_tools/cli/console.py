"""Console output of the commands: results to stdout, progress and errors to stderr."""

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import IO, Any, Literal, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from cardsharp.core.redaction import redact
from cardsharp.errors import ConfigError

DEFAULT_WIDTH = 80  # columns where the output is no terminal and nothing says how wide it is
MAX_WIDTH = 120  # columns beyond which lines are hard to read
_PICTURES_START = 0x2400  # where Unicode has the pictures of the control characters, in their order


def result_console() -> Console:
    """Return the console for results: plain text if stdout is not a terminal."""
    return _create_console(sys.stdout)


def message_console() -> Console:
    """Return the console for progress and errors; it ignores errors of a closed stderr."""
    return _create_console(cast("IO[str]", _BestEffortStream(sys.stderr)))


def help_console() -> Console:
    """Return the console for --help, without trailing spaces."""
    return Console(file=_trim_unless_terminal(sys.stdout))


def print_json(document: object) -> None:
    """Print a JSON document, indented on a terminal, with control characters escaped."""
    sys.stdout.write(_json_text(document) + "\n")
    sys.stdout.flush()


def print_json_array(documents: Iterable[object]) -> None:
    """Print documents as one JSON array, as `print_json` does, but each as soon as it is there."""
    is_indented, begin = sys.stdout.isatty(), "["
    for document in documents:
        text = _json_text(document)
        if is_indented:
            text = "\n" + indent(text, "  ")
        sys.stdout.write(begin + text)
        begin = "," if is_indented else ", "
    end = "[]" if begin == "[" else "\n]" if is_indented else "]"
    sys.stdout.write(end + "\n")
    sys.stdout.flush()


def _json_text(document: object) -> str:
    """Return a JSON document as text that stdout can encode and a terminal can show."""
    width = 2 if sys.stdout.isatty() else None
    text = json.dumps(document, indent=width, ensure_ascii=False, default=str)
    if not text.isascii() and not _is_encodable(text):
        text = json.dumps(document, indent=width, default=str)  # escapes, which any program reads
    if text.isprintable():
        return text
    return "".join(c if _is_displayable(c) or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _is_encodable(text: str) -> bool:
    """Return True if stdout can encode every character of the text."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def print_multiline(text: str) -> None:
    """Print a text of several lines."""
    for line in text.split("\n"):
        result_console().print(line, soft_wrap=True)


def print_error(message: str) -> None:
    """Print an error's sentences, each on a line of its own."""
    console = message_console()
    for line in message.splitlines():
        console.print(Text.assemble(("cardsharp: ", "bold red"), line), soft_wrap=True)


def print_notice(sentence: str) -> None:
    """Print a message beside the result, with secrets redacted."""
    message_console().print(redact(sentence), style="dim", soft_wrap=True)


def write_file(file: Path, text: str, mode: Literal["w", "x"] = "w") -> None:
    """Write text to a file; mode x requires a new one. Raise `ConfigError` if that fails.

    Half a character, as a stranger's JSON may have, becomes a question mark.
    """
    try:
        with file.open(mode, encoding="utf-8", errors="replace") as target:
            target.write(text)
    except FileExistsError:
        raise ConfigError(f"{file} exists already. Choose another name.") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from None


def borderless_table(
    *columns: str, right_aligned: Collection[str] = (), column_gap: int = 2
) -> Table:
    """Return a table without a frame.

    The columns in `right_aligned` are for figures; `column_gap` is the number of spaces on
    either side of each column.
    """
    headers = (
        Column(name, justify="right" if name in right_aligned else "left") for name in columns
    )
    return Table(*headers, box=None, padding=(0, column_gap), pad_edge=False)


def program_command() -> str:
    """Return the command that runs this program: its name if the shell finds it, else its path."""
    program_path = Path(sys.argv[0])
    if shutil.which("cardsharp") or program_path.name != "cardsharp":
        return "cardsharp"
    with suppress(ValueError):
        return str(program_path.resolve().relative_to(Path.cwd()))
    return str(program_path)


def print_json_or_lines(document: object, *lines: object, as_json: bool, style: str = "") -> None:
    """Print the document with `as_json`, else the lines or tables."""
    if as_json:
        print_json(document)
        return
    for line in lines:
        result_console().print(line, style=style or None, soft_wrap=isinstance(line, str))


def print_command(command: str, purpose: str = "", console: Console | None = None) -> None:
    """Print a command of this program, ready to be copied, and what it is for."""
    line = f"  {program_command()} {command}{purpose and f'   # {purpose}'}"
    (console or result_console()).print(
        line, style="dim", no_wrap=True, overflow="ignore", crop=False
    )


class _SanitizingConsole(Console):
    """Console for untrusted text, whose reader may go away before the end, as `head` does.

    Any printed text may contain a name that a stranger chose. So no text may control the
    terminal or begin a new line: characters that would are replaced by visible symbols, and
    each text stays on one line.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Return the segments of a renderable, with control characters in its texts replaced."""
        if isinstance(renderable, str):
            renderable = self.render_str(renderable, markup=False)
        if isinstance(renderable, Text) and not renderable.plain.isprintable():
            renderable = renderable.copy()
            renderable.plain = "".join(map(replace_control_char, renderable.plain))
        return super().render(renderable, options)

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ANN401 - as rich has it
        """Print; on a terminal a long sentence (`soft_wrap`) is broken between its words."""
        if options.get("soft_wrap") and self.is_terminal:
            options |= {"soft_wrap": False, "crop": False}
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Leave the end of the program to whoever started it; rich would exit with 1."""
        raise BrokenPipeError


class _TrimmingStream:
    """Stream other than a terminal, which drops the spaces at the ends of a table's lines."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text without spaces at the ends of lines; return its length."""
        self._stream.write(_TRAILING_SPACES_PATTERN.sub("\n", text))
        return len(text)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the stream has it
        return getattr(self._stream, name)


class _BestEffortStream:
    """Stream for additional messages, which drops a message that cannot be written."""

    def __init__(self, stream: IO[str] | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text if that is possible; return its length in any case."""
        with suppress(OSError, ValueError):  # it may be closed, too
            if self._stream is not None:
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is still in memory, where that is possible."""
        with suppress(OSError, ValueError):
            if self._stream is not None:
                self._stream.flush()

    def isatty(self) -> bool:
        """Return True if the stream is a terminal."""
        with suppress(ValueError):
            return self._stream is not None and self._stream.isatty()
        return False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the stream has it
        return getattr(self._stream, name)


_TRAILING_SPACES_PATTERN = re.compile(" +\n")


def _trim_unless_terminal(stream: IO[str]) -> IO[str]:
    return stream if stream.isatty() else cast("IO[str]", _TrimmingStream(stream))


def _create_console(stream: IO[str]) -> Console:
    console = _SanitizingConsole(
        file=_trim_unless_terminal(stream), highlight=False, markup=False, emoji=False
    )
    if "COLUMNS" not in os.environ:
        width = console.width if console.is_terminal else DEFAULT_WIDTH
        console.width = min(width, MAX_WIDTH)
    return console


def _is_displayable(character: str) -> bool:
    """Return True if a character is displayed unchanged and has no other effect."""
    return character.isprintable() or unicodedata.category(character) == "Zs"


def replace_control_char(character: str) -> str:
    """Return the character, or a visible replacement for a control character."""
    if _is_displayable(character):
        return character
    return chr(_PICTURES_START + ord(character)) if character < " " else "\N{REPLACEMENT CHARACTER}"
