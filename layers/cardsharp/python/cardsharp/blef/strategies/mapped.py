"""A file of tables: a head in JSON, then a body.

The body is mapped into memory, so that only what is looked up is read.
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

NUMBER = 4  # bytes of a number in the body; numbers lie where such may lie


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a file has beside its rounds: which command made it, and the body with its checksum."""

    made_by: str
    checksum: int
    body: memoryview

    def is_whole(self) -> bool:
        """Whether the body is as it was written."""
        return crc32(self.body) == self.checksum


def read_mapped(file: Path, format_: int) -> tuple[list[Any], Mapped]:
    """The entries of the rounds in the head, and the rest; raises `ConfigError`."""
    try:
        with file.open("rb") as opened:
            mapped = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
        end = bytes(mapped[:65536]).index(b"\n")
        head = json.loads(bytes(mapped[:end]))
        found = head["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable(str(file)) from error
    if found != format_:
        raise ConfigError(f"{file} has format {found}, not {format_}; train it again.")
    return head["rounds"], Mapped(head["made_by"], head["crc32"], mapped[end + 1 :])


def unpack(body: memoryview, begin: int, end: int) -> bytes:
    """What lies compressed from `begin` to `end`; raises `ConfigError` if it is damaged."""
    try:
        return decompress(body[begin:end])
    except zlib_error as error:
        raise unreadable("A file") from error


def unreadable(file: str) -> ConfigError:
    """What to do about a file that is not there, or is no longer what was shipped."""
    return ConfigError(f"{file} of Blef's tables cannot be read; install Cardsharp again.")


def write_mapped(
    file: Path, format_: int, made_by: str, rounds: Sequence[object], body: bytes
) -> None:
    """Write a file that `read_mapped` reads."""
    head = {"format": format_, "made_by": made_by, "crc32": crc32(body), "rounds": rounds}
    line = json.dumps(head).encode()
    line += b" " * (-(len(line) + 1) % NUMBER) + b"\n"
    file.write_bytes(line + body)
