"""How bodies and moments are stored, the same in every match log.

A body is a kilobyte or two and much like the one before it, but each is read by itself. So each is
compressed against a text that has the words of them all, and that the game brings (`Game.words`).
A packed body is in the format of zlib (RFC 1950), which names that text by its checksum.
"""

import json
import re
import zlib
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from cardsharp import games
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord, NoteRecord
from cardsharp.errors import StoreError

if TYPE_CHECKING:
    from zlib import _Decompress

MAX_BODY_BYTES = 64_000  # 50 bodies fit into a transaction of DynamoDB; the same at home
NOTE_LIFE = timedelta(days=14)  # how long a debugging note is kept
WITHDRAWN = "withdrawn"  # the kind of the note that keeps a move which the arena has lost
_HALF = re.compile("[\ud800-\udfff]")  # half a UTF-16 pair, which only JSON may name
_HEAD = b"\x78"  # everything begins so that zlib writes with its header, and nothing else
_HAS_WORDS = 0x20  # bit of the second byte: four more tell which text was used
_UNNAMED = 0x79509473  # the checksum of the text of bodies that do not name theirs
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def encode(body: Body) -> str:
    """A body as JSON text; raises `StoreError` if it is no JSON or too large."""
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
    """The body that `encode` made this text from, packed or not; raises `StoreError` if none."""
    try:
        body = json.loads(stored if isinstance(stored, str) else unpack(stored))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"no JSON object: {error}") from None
    if not isinstance(body, dict):
        raise StoreError(f"no JSON object: a {type(body).__name__}")
    return body


def readable(**stored: str | bytes | None) -> tuple[dict[str, Body | None], str | None]:
    """The bodies by their names, None for one that cannot be read, and which and why that is."""
    bodies: dict[str, Body | None] = {}
    faults = []
    for name, text in stored.items():
        try:
            bodies[name] = None if text is None else decode(text)
        except StoreError as error:
            bodies[name] = None
            faults.append(f"its {name} is {error}")
    return bodies, "; ".join(faults) or None


def reopened(match: MatchRecord, now: datetime) -> NoteRecord:
    """What stays of the outcome of a match that is opened again."""
    finished = None if match.finished is None else match.finished.isoformat()
    return NoteRecord("reopened", now, {"outcome": match.outcome, "finished": finished})


def withdrawn(move: MoveRecord, now: datetime) -> NoteRecord:
    """What stays of a move that the arena no longer has."""
    body = {"sequence": move.sequence, "intent": move.intent, "facts": move.facts}
    return NoteRecord(WITHDRAWN, now, body)


def to_micros(moment: datetime) -> int:
    """A moment as whole microseconds since 1970, which order and round-trip exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The moment that `to_micros` made this number from."""
    return _EPOCH + micros * _MICROSECOND


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
