"""Read the parameters of a request: uuids, numbers, nicknames (docs/spec/blef.md section 5)."""

import math
import re
import unicodedata

MAX_NICKNAME = 32  # characters
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_BLANKS = " \t\n\v\f\r"
# No two parts of it can share the same digits: a long text of them takes no longer than to read.
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[+-]?0x[0-9a-f]+(?:\.[0-9a-f]*)?(?:p[+-]?[0-9]+)?", re.IGNORECASE)
_INFINITE = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)
_NICKNAME_CATEGORIES = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd"}


def parse_uuid_or_none(text: str) -> str | None:
    """Return the uuid in lower case, or None if the text is not one."""
    return text.lower() if _UUID.fullmatch(text) else None


def is_random_uuid(uuid: str) -> bool:
    """Return True for a lower-case version 4 (random) UUID."""
    return _RANDOM.fullmatch(uuid) is not None


def parse_lenient_number(text: str) -> float | None:
    """Parse a number like the original service's language; return None if it is not one.

    Accepts `1`, `1.0`, `1e0`, `0x1`, `+1`, `Inf` and surrounding blanks.
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


def parse_integer_or_none(text: str) -> int | None:
    """Return the integer that `parse_lenient_number` reads; None for anything else."""
    value = parse_lenient_number(text)
    return int(value) if value is not None and value.is_integer() else None


def is_nickname(text: str) -> bool:
    """Return True for an ASCII letter followed by letters, digits, marks and `_`."""
    first_character, rest = text[:1], text[1:].replace("_", "")
    words = all(unicodedata.category(character) in _NICKNAME_CATEGORIES for character in rest)
    return first_character.isascii() and first_character.isalpha() and words


NO_GAME = "Game does not exist"
NO_PLAYER = "The UUID does not match any active player"  # in its own words (docs/spec/blef.md)
