"""Table file: a header in JSON, then a body.

The body is mapped into memory, so that only the parts that are used are read.
"""

import json
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32, decompress
from zlib import error as zlib_error

from cardsharp.errors import ConfigError

INTEGER_BYTES = 4  # bytes of a number in the body; numbers are aligned to multiples of it


@dataclass(frozen=True, slots=True)
class MappedTableFile:
    """Table file mapped into memory: the command that produced it, its checksum, and its body."""

    producer: str
    checksum: int
    body: memoryview

    def is_intact(self) -> bool:
        """Return True if the body matches its checksum."""
        return crc32(self.body) == self.checksum


def map_round_tables(file: Path, format_: int) -> tuple[list[Any], MappedTableFile]:
    """Map a file of round tables into memory; return its header's rounds and the file.

    Raises `ConfigError` if it cannot be read, or has another format than `format_`.
    """
    try:
        with file.open("rb") as opened:
            mapped = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
        end = bytes(mapped[:65536]).index(b"\n")
        head = json.loads(bytes(mapped[:end]))
        file_format = head["format"]
        if file_format == format_:
            body = mapped[end + 1 :]
            return head["rounds"], MappedTableFile(head["made_by"], head["crc32"], body)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable_file_error(str(file)) from error
    raise ConfigError(f"{file} has format {file_format}, not {format_}; train it again.")


def decompress_section(body: memoryview, begin: int, end: int) -> bytes:
    """Decompress the section from `begin` to `end`; raise `ConfigError` if it is damaged."""
    try:
        return decompress(body[begin:end])
    except zlib_error as error:
        raise unreadable_file_error("A file") from error


def unreadable_file_error(file: str) -> ConfigError:
    """Return the error for a missing or damaged table file, with the remedy."""
    return ConfigError(
        f"{file} cannot be read as tables of Blef. If it came with Cardsharp, install Cardsharp "
        "again; otherwise give another file."
    )


def write_mapped_file(
    file: Path, format_: int, producer: str, rounds: Sequence[object], body: bytes
) -> None:
    """Write a file that `map_round_tables` can read."""
    head = {"format": format_, "made_by": producer, "crc32": crc32(body), "rounds": rounds}
    line = json.dumps(head).encode()
    line += b" " * (-(len(line) + 1) % INTEGER_BYTES) + b"\n"
    file.write_bytes(line + body)
