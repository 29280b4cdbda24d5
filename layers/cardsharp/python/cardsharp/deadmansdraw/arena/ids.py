"""Match and player ids: 24 hexadecimal digits, as the original's database makes them."""

import itertools
import re
import secrets
from datetime import datetime

from cardsharp.errors import Malformed

DUMMY_ID = "0" * 24  # the player whose password everybody knows (docs/spec/arena.md section 4)
_HEX = re.compile("[0-9a-f]{24}")
_PLAIN_BYTES = 12


class IdMaker:
    """Makes ids that ascend with time: seconds, five random bytes a process, a counter."""

    def __init__(self) -> None:
        self._process = secrets.token_hex(5)
        self._count = itertools.count(secrets.randbelow(1 << 23))

    def __call__(self, now: datetime) -> str:
        """A new id for something made at `now`."""
        count = next(self._count) & 0xFFFFFF
        return f"{int(now.timestamp()) & 0xFFFFFFFF:08x}{self._process}{count:06x}"


def parse_id(text: str) -> str:
    """The id that `text` writes, or 12 characters, which nothing here has; raises `Malformed`."""
    lower = text.lower()
    if _HEX.fullmatch(lower):
        return lower
    raw = text.encode()
    if len(raw) == _PLAIN_BYTES:
        return raw.hex()
    raise Malformed(
        "Argument passed in must be a string of 12 bytes or a string of 24 hex characters "
        "or an integer"
    )
