"""Bodies of moves as few bytes: compressed with what most of a game's bodies have in common.

A body is a kilobyte or two and much like the one before it, but each is read by itself. So each is
compressed against a text that has the words of them all, and that the game brings (`Game.words`).
A packed body is in the format of zlib (RFC 1950), which names that text by its checksum.
"""

import zlib
from functools import cache
from typing import TYPE_CHECKING

from cardsharp import games

if TYPE_CHECKING:
    from zlib import _Decompress

_HEAD = b"\x78"
"""How everything begins that zlib writes with its header, and nothing that it writes without."""

_HAS_WORDS = 0x20
"""The bit of the second byte by which four more tell against which text it is compressed."""

_UNNAMED = 0x79509473
"""The checksum of the text with which bodies were packed before they named theirs."""


def pack(text: str) -> bytes:
    """A text as few bytes, with the words of whichever game make them fewest."""
    there = _words(games.MOUNTED).values()
    packers = [zlib.compressobj(zdict=words) for words in there] or [zlib.compressobj()]
    return min((one.compress(text.encode()) + one.flush() for one in packers), key=len)


def unpack(packed: bytes) -> str:
    """The text that `pack` made these bytes from; raises ValueError if they are none of its."""
    unpacker = _unpacker(packed)
    try:
        text = unpacker.decompress(packed) + unpacker.flush()
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not unpacker.eof:
        raise ValueError("cut short")
    return text.decode()


def _unpacker(packed: bytes) -> "_Decompress":
    """What reads these bytes; raises ValueError if no game brings the words that they need."""
    words = _words(games.MOUNTED)
    named = packed.startswith(_HEAD)
    if named and not (len(packed) > 1 and packed[1] & _HAS_WORDS):
        return zlib.decompressobj()
    checksum = int.from_bytes(packed[2:6], "big") if named else _UNNAMED
    if checksum not in words:
        raise ValueError(f"packed with words that no game here brings: {checksum:08x}")
    bits = zlib.MAX_WBITS if named else -zlib.MAX_WBITS
    return zlib.decompressobj(bits, zdict=words[checksum])


@cache
def _words(mounted: tuple[str, ...]) -> dict[int, bytes]:
    """The words of the games of those places, by their checksum as zlib names them."""
    parts = (games.mounted(place).words for place in mounted)
    texts = (part.load().encode() for part in parts if part is not None)
    return {zlib.adler32(words): words for words in texts}
