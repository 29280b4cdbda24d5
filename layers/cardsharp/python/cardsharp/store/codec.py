"""Encoding of bodies and timestamps, the same in every match log.

A body is a kilobyte or two and similar to the one before it, but each must be readable alone.
So each is compressed with a preset dictionary of common texts, which the game supplies
(`Game.compression_dictionary`). A compressed body has the zlib format (RFC 1950), which names
the dictionary by its checksum.
"""

import json
import re
import zlib
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from cardsharp.errors import StoreError
from cardsharp.play import catalog
from cardsharp.store.match_log import Body, DebugNote, MatchRecord, MoveRecord

if TYPE_CHECKING:
    from zlib import _Decompress

MAX_BODY_BYTES = 64_000  # 50 bodies fit into a transaction of DynamoDB; the same at home
NOTE_TTL = timedelta(days=14)  # how long a debugging note is kept
WITHDRAWN = "withdrawn"  # the kind of the note that keeps a move which the arena has lost
_HALF = re.compile("[\ud800-\udfff]")  # half a UTF-16 pair, which only JSON may name
_HEAD = b"\x78"  # everything begins so that zlib writes with its header, and nothing else
_HAS_DICTIONARY = 0x20  # bit of the second byte: four more tell which text was used
_DEFAULT_CHECKSUM = 0x79509473  # the checksum of the text of bodies that do not name theirs
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def encode(body: Body) -> str:
    """Return a body as JSON text; raise `StoreError` if it is no JSON or too large."""
    try:
        text = json.dumps(body, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        if not text.isascii() and _HALF.search(text):
            text = json.dumps(body, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise StoreError(f"The match log stores JSON only: {error}.") from error
    size = len(text.encode())
    if size > MAX_BODY_BYTES:
        raise StoreError(f"The match log stores at most {MAX_BODY_BYTES} bytes, not {size}.")
    return text


def decode(stored: str | bytes) -> dict[str, object]:
    """Return the body of a stored text, compressed or not; raise `StoreError` if it is none."""
    try:
        body = json.loads(stored if isinstance(stored, str) else decompress(stored))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"no JSON object: {error}") from None
    if not isinstance(body, dict):
        raise StoreError(f"no JSON object: a {type(body).__name__}")
    return body


def decode_all(**stored: str | bytes | None) -> tuple[dict[str, Body | None], str | None]:
    """Return the bodies by name, None for an unreadable one, and why they are unreadable."""
    bodies: dict[str, Body | None] = {}
    faults = []
    for name, text in stored.items():
        try:
            bodies[name] = None if text is None else decode(text)
        except StoreError as error:
            bodies[name] = None
            faults.append(f"its {name} is {error}")
    return bodies, "; ".join(faults) or None


def reopened_outcome(match: MatchRecord, timestamp: datetime) -> DebugNote:
    """Return the note that preserves the outcome of a match which is reopened."""
    finished = None if match.finished_at is None else match.finished_at.isoformat()
    return DebugNote("reopened", timestamp, {"outcome": match.outcome, "finished": finished})


def retracted_move(move: MoveRecord, timestamp: datetime) -> DebugNote:
    """Return the note that preserves a move which the arena no longer has."""
    body = {"sequence": move.sequence, "intent": move.intent, "facts": move.facts}
    return DebugNote(WITHDRAWN, timestamp, body)


def to_micros(moment: datetime) -> int:
    """Return a moment as whole microseconds since 1970, which sort and round-trip exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the moment of a number from `to_micros`."""
    return _EPOCH + micros * _MICROSECOND


def compress(text: str) -> bytes:
    """Return the compressed text, with the game dictionary that makes it shortest."""
    dictionaries = _dictionaries(catalog.GAME_MODULES).values()
    compressors = [zlib.compressobj(zdict=dictionary) for dictionary in dictionaries] or [
        zlib.compressobj()
    ]
    return min((packer.compress(text.encode()) + packer.flush() for packer in compressors), key=len)


def decompress(data: bytes) -> str:
    """Return the text that `compress` was given; raise ValueError for any other bytes."""
    decompressor = _decompressor(data)
    try:
        text = decompressor.decompress(data) + decompressor.flush()
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not decompressor.eof:
        raise ValueError("truncated")
    return text.decode()


def _decompressor(data: bytes) -> "_Decompress":
    """Return the decompressor of these bytes; raise ValueError if no game has the dictionary."""
    dictionary = _dictionaries(catalog.GAME_MODULES)
    has_zlib_header = data.startswith(_HEAD)
    if has_zlib_header and not (len(data) > 1 and data[1] & _HAS_DICTIONARY):
        return zlib.decompressobj()
    checksum = int.from_bytes(data[2:6], "big") if has_zlib_header else _DEFAULT_CHECKSUM
    if checksum not in dictionary:
        raise ValueError(f"compressed with a dictionary that no game here has: {checksum:08x}")
    bits = zlib.MAX_WBITS if has_zlib_header else -zlib.MAX_WBITS
    return zlib.decompressobj(bits, zdict=dictionary[checksum])


@cache
def _dictionaries(mounted: tuple[str, ...]) -> dict[int, bytes]:
    """Return the dictionaries of these games by their zlib checksum."""
    parts = (catalog.load_game(place).compression_dictionary for place in mounted)
    texts = (part.load().encode() for part in parts if part is not None)
    return {zlib.adler32(dictionary): dictionary for dictionary in texts}
