"""Bodies of match logs as versions up to 0.3 packed them; nothing is packed any more.

A packed body is JSON text in the zlib format (RFC 1950). It was compressed against a preset
dictionary, which the header names by its checksum. The first bodies have no header.
"""

import zlib
from functools import cache
from pathlib import Path

_ZLIB_HEADER = b"\x78"  # the first byte of the zlib format with a header
_DICTIONARY_FLAG = 0x20  # bit of the second byte: the checksum of the dictionary follows
_DICTIONARY_CHECKSUM = 0x79509473  # of the only dictionary that was ever used


def unpack(packed: bytes) -> str:
    """Return the JSON text of a packed body; raise ValueError for any other bytes."""
    unpacker = _create_decompressor(packed)
    try:
        text = unpacker.decompress(packed) + unpacker.flush()
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not unpacker.eof:
        raise ValueError("cut short")
    return text.decode()


def _create_decompressor(packed: bytes) -> "zlib._Decompress":
    """Return a decompressor for these bytes; raise `ValueError` for an unknown dictionary."""
    has_header = packed.startswith(_ZLIB_HEADER)
    if has_header and not (len(packed) > 1 and packed[1] & _DICTIONARY_FLAG):
        return zlib.decompressobj()
    checksum = int.from_bytes(packed[2:6], "big") if has_header else _DICTIONARY_CHECKSUM
    if checksum != _DICTIONARY_CHECKSUM:
        raise ValueError(f"packed with an unknown dictionary: {checksum:08x}")
    bits = zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS
    return zlib.decompressobj(bits, zdict=_load_dictionary())


@cache
def _load_dictionary() -> bytes:
    return Path(__file__).with_suffix(".txt").read_bytes().removesuffix(b"\n")
