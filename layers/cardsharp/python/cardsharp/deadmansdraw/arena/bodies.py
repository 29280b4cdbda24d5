"""Request bodies, as the original takes them: JSON of at most 100 kB, perhaps compressed."""

import zlib
from email.message import Message
from typing import Any

from starlette.requests import Request

from cardsharp.deadmansdraw.arena.inputs import parse_body
from cardsharp.errors import Malformed
from cardsharp.web.refusals import Refused

MAX_BODY = 100 * 1024
"""Bytes of the largest request body that is read, compressed or not."""

MAX_DISCARDED = 32 * 1024 * 1024
"""Bytes that are let pass unread, so that the client hears why before the line is cut."""

_ZLIB_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object of a body, `{}` where there is none or where it is of another type.

    Raises:
        Refused: it is too large, or in an encoding or charset that is not known.
        Malformed: it is not JSON, or not compressed as it says.
    """
    raw = await _read(request)
    kind = Message()
    kind["Content-Type"] = request.headers.get("content-type", "")
    is_json = kind.get_content_type() == "application/json"
    if is_json and raw:
        charset = kind.get_content_charset("utf-8")
        if not charset.startswith("utf-"):
            raise Refused(415, f'unsupported charset "{charset.upper()}"')
        raw = _unpacked(raw, request.headers.get("content-encoding", "identity").lower())
    return parse_body(raw, is_json=is_json)


async def _read(request: Request) -> bytes:
    raw = bytearray()
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= MAX_BODY:
            raw += chunk
        elif size > MAX_DISCARDED:
            break
    if size > MAX_BODY:
        raise _too_large()
    return bytes(raw)


def _unpacked(raw: bytes, encoding: str) -> bytes:
    if encoding == "identity":
        return raw
    if encoding not in _ZLIB_WINDOWS:
        raise Refused(415, f'unsupported content encoding "{encoding}"')
    inflater = zlib.decompressobj(_ZLIB_WINDOWS[encoding])
    try:
        plain = inflater.decompress(raw, MAX_BODY + 1)
    except zlib.error:
        raise Malformed(f"The body is not compressed with {encoding}.") from None
    if len(plain) > MAX_BODY:
        raise _too_large()
    return plain


def _too_large() -> Refused:
    return Refused(413, f"The body is larger than {MAX_BODY} bytes.")
