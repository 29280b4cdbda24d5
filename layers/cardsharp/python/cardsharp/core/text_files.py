"""Text files of users, in whatever encoding and with whatever line ends they were saved.

What cannot be read is a `ConfigError` that names the file and the line and says what to do.
"""

import codecs
import json
import re
import tokenize
from pathlib import Path
from typing import NamedTuple

from cardsharp.errors import ConfigError

# Byte order marks at the beginning of a text. That of UTF-32 begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FALLBACK_ENCODINGS = ("cp1252", "latin-1")  # as older programs save; the last one reads any byte

_LINE_END_PATTERN = re.compile(r"\r\n|\r|\n")


class DecodedText(NamedTuple):
    """A text with plain line ends, its encoding, and whether the encoding was only guessed."""

    text: str
    encoding: str
    is_guess: bool = False

    @property
    def lines(self) -> list[str]:
        """The lines; not those of `str.splitlines`, which ends some within strings of JSON."""
        return self.text.removesuffix("\n").split("\n")


def decode_text(data: bytes, name: str, *, guess: bool = False) -> DecodedText:
    """Return the text of a file's bytes: UTF-8, or what a byte order mark says.

    With `guess` any other text is taken for Windows-1252, or for Latin-1 where it is not that.
    `name` is what messages call the file. Raises `ConfigError`.
    """
    bom, encoding = next(
        ((bom, encoding) for bom, encoding in _BYTE_ORDER_MARKS if data.startswith(bom)),
        (b"", "utf-8"),
    )
    body, names = data[len(bom) :], [encoding, *(_FALLBACK_ENCODINGS if guess and not bom else ())]
    for each in names:
        try:
            text = body.decode(each)
        except UnicodeDecodeError as error:
            if each == names[-1]:
                raise ConfigError(_describe_decode_error(body, error, name, bom)) from None
            continue
        if "\0" in text:
            line = text[: text.index("\0")].count("\n") + 1
            raise ConfigError(
                f"{name}, line {line}, is no text; save it as UTF-8, or give another."
            )
        return DecodedText(_LINE_END_PATTERN.sub("\n", text), each, each != encoding)
    raise AssertionError("the last encoding has returned or raised")


def _describe_decode_error(body: bytes, error: UnicodeDecodeError, name: str, bom: bytes) -> str:
    """Return a sentence on where a text is not in its encoding, and on what to do."""
    if bom and bom != codecs.BOM_UTF8:
        return f"{name} begins as {error.encoding.upper()} does and is not; save it as UTF-8."
    prefix = body[: error.start]
    start = max(prefix.rfind(b"\n"), prefix.rfind(b"\r")) + 1
    column = len(prefix[start:].decode("utf-8", "replace")) + 1
    return (
        f"{name}, line {_find_error_line(error)}, column {column}, is not in UTF-8; "
        "save it as UTF-8."
    )


def read_text(path: Path, *, guess: bool = False) -> DecodedText:
    """Return a file's text, as `decode_text` does; raises `ConfigError`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; check the path.") from None
    return decode_text(data, str(path), guess=guess)


def describe_json_error(text: str, first_line: int = 1) -> str | None:
    """Return why a text is not valid JSON, as the end of a sentence; None if it is valid.

    It is the part of a sentence that goes behind a file's name, such as ", line 3, column 9, is no
    JSON (Expecting value)".
    """
    if not text.strip():
        return " is empty"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        return f", line {line}, column {error.colno}, is no JSON ({error.msg})"
    except RecursionError:
        return " is no JSON that can be read: it is nested too deeply"
    return None


def read_valid_json_text(path: Path) -> str:
    """Return the text of a file that is one JSON document; raises `ConfigError` where it is not."""
    text = read_text(path).text
    fault = describe_json_error(text)
    if fault is not None:
        raise ConfigError(f"{path}{fault}; correct it, or give another file.")
    return text


def describe_source_encoding_error(path: Path) -> str | None:
    """Return why Python cannot decode a source file; None if it can, or if there is no file."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    marked = next(
        (encoding for bom, encoding in _BYTE_ORDER_MARKS[1:] if data.startswith(bom)), None
    )
    if marked is not None:
        return f"it is in {marked.upper()}; save it as UTF-8"
    try:
        encoding, _ = tokenize.detect_encoding(iter(data.splitlines(keepends=True)).__next__)
    except SyntaxError:  # no encoding of that name, or the first lines are not in UTF-8
        encoding = "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = _find_error_line(error)
        return (
            f"line {line} is not in {encoding.upper()}; save it as UTF-8, or name its encoding in "
            "the first line: # -*- coding: latin-1 -*-"
        )
    return "it is no text; save it as UTF-8" if "\0" in text else None


def _find_error_line(error: UnicodeDecodeError) -> int:
    prefix = error.object[: error.start].decode("latin-1")
    return len(_LINE_END_PATTERN.findall(prefix)) + 1
