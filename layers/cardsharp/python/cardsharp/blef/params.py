"""Read the parameters of a request: uuids, numbers, nicknames (docs/spec/blef.md section 5)."""

import math
import re
import unicodedata
from http import HTTPStatus

from cardsharp.web.route import Refused

MAX_NICKNAME = 32  # characters
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_BLANKS = " \t\n\v\f\r"
# No two parts of it can share the same digits: a long text of them takes no longer than to read.
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[+-]?0x[0-9a-f]+(?:\.[0-9a-f]*)?(?:p[+-]?[0-9]+)?", re.IGNORECASE)
_INFINITE = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)
_WORD_CATEGORIES = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd"}


def read_uuid(text: str) -> str | None:
    """The uuid in lower case, None if the text as a whole is none."""
    return text.lower() if _UUID.fullmatch(text) else None


def is_random(uuid: str) -> bool:
    """Whether a uuid says of itself that it was made by chance: version 4, in lower case."""
    return _RANDOM.fullmatch(uuid) is not None


def read_number(text: str) -> float | None:
    """The number that the original's language reads from a text, None if it reads none.

    It takes `1`, `1.0`, `1e0`, `0x1`, `+1`, `Inf` and blanks around them.
    """
    bare = text.strip(_BLANKS)
    try:
        if _DECIMAL.fullmatch(bare):
            return float(bare)
        if _HEXADECIMAL.fullmatch(bare):
            return float.fromhex(bare)
    except OverflowError:
        return -math.inf if bare.startswith("-") else math.inf
    infinite = _INFINITE.fullmatch(bare)
    if infinite is None:
        return None
    return -math.inf if infinite[1] == "-" else math.inf


def read_whole(text: str) -> int | None:
    """The whole number that `read_number` reads, None if it reads none or another one."""
    number = read_number(text)
    return int(number) if number is not None and number.is_integer() else None


def is_nickname(text: str) -> bool:
    """Whether a text is an ASCII letter followed by letters, digits, marks and `_`."""
    first, rest = text[:1], text[1:].replace("_", "")
    words = all(unicodedata.category(character) in _WORD_CATEGORIES for character in rest)
    return first.isascii() and first.isalpha() and words


NO_GAME = "Game does not exist"
NO_PLAYER = "The UUID does not match any active player"  # in its own words (docs/spec/blef.md)


class Denied(Refused):
    """A refusal in the words of version 2.3, which `newer` has in those of today's generation.

    `parameter` is the one that is to blame, if one is, and `value` what was sent as it, None for
    nothing. `today` is the text of today's generation where that is another.
    """

    def __init__(
        self,
        text: str,
        parameter: str | None = None,
        value: str | None = None,
        status: int = HTTPStatus.BAD_REQUEST,
        today: str | None = None,
    ) -> None:
        super().__init__(status, text)
        self.parameter = parameter
        self.value = value
        self.today = text if today is None else today

    @property
    def newer(self) -> Refused:
        """The same in today's words: with the parameter, and what was sent as it, always 400."""
        if self.parameter is None:
            return Refused(self.status, self.today)
        told = f"\n{self.today}" if self.today else ""
        text = f"Bad input value in '{self.parameter}': {self.value}{told}"
        return Refused(HTTPStatus.BAD_REQUEST, text)
