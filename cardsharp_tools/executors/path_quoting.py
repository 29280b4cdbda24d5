"""Text form of a path, of ASCII characters, for module names, JSON and stored names.

A path may have bytes that no text has: under a locale of ASCII, Python reads a name with an
umlaut as lone surrogates, which JSON and UTF-8 refuse. So the bytes are quoted, as in an address.
"""

import os
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes


def quote_path(path: Path, safe: str = "/") -> str:
    """Return the path with all characters quoted but letters, digits, `_.-~` and `safe`."""
    return quote_from_bytes(os.fsencode(path), safe=safe)


def unquote_path(text: str) -> Path:
    """Return the path of such a text."""
    return Path(os.fsdecode(unquote_to_bytes(text)))
