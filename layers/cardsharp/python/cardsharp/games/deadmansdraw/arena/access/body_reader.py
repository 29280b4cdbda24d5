"""Reading of request bodies over HTTP: at most 100 kB of JSON or of a form, perhaps compressed."""

import json
import math
import zlib
from email.message import Message
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request

from cardsharp.errors import InvalidInput
from cardsharp.server.routing import HttpError

MAX_REQUEST_BODY_BYTES = (
    100 * 1024
)  # bytes of the largest request body that is read, compressed or not
MAX_DRAINED_BYTES = 32 * 1024 * 1024  # bytes let pass unread, so that the client hears why
_ZLIB_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


async def read_json(request: Request) -> dict[str, Any]:
    """Return the JSON object of a body, `{}` if it is empty or of another type.

    Raises `HttpError` if the body is too large, or in an unknown encoding or charset, and
    `InvalidInput` if it is not JSON, or not compressed as its header says.
    """
    raw = await _read_body(request)
    kind = Message()
    kind["Content-Type"] = request.headers.get("content-type", "")
    if not raw or kind.get_content_type() != "application/json":
        return {}
    charset = kind.get_content_charset("utf-8")
    if not charset.startswith("utf-"):
        raise HttpError(415, f'unsupported charset "{charset.upper()}"')
    return _parse_json_object(
        _decompress(raw, request.headers.get("content-encoding", "identity").lower())
    )


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form, the first of each name; raise `HttpError` if it is too large."""
    fields = parse_qs((await _read_body(request)).decode("utf-8", "replace"))
    return {name: values[0] for name, values in fields.items()}


async def _read_body(request: Request) -> bytes:
    raw = bytearray()
    byte_count = 0
    async for chunk in request.stream():
        byte_count += len(chunk)
        if byte_count <= MAX_REQUEST_BODY_BYTES:
            raw += chunk
        elif byte_count > MAX_DRAINED_BYTES:
            break
    if byte_count > MAX_REQUEST_BODY_BYTES:
        raise _too_large_error()
    return bytes(raw)


def _decompress(raw: bytes, encoding: str) -> bytes:
    if encoding == "identity":
        return raw
    if encoding not in _ZLIB_WINDOWS:
        raise HttpError(415, f'unsupported content encoding "{encoding}"')
    inflater = zlib.decompressobj(_ZLIB_WINDOWS[encoding])
    try:
        plain = inflater.decompress(raw, MAX_REQUEST_BODY_BYTES + 1)
    except zlib.error:
        raise InvalidInput(f"The body is not compressed with {encoding}.") from None
    if len(plain) > MAX_REQUEST_BODY_BYTES:
        raise _too_large_error()
    return plain


def _too_large_error() -> HttpError:
    return HttpError(413, f"The body is larger than {MAX_REQUEST_BODY_BYTES} bytes.")


def _parse_json_object(raw: bytes) -> dict[str, Any]:
    """Return the JSON object of a request body; an empty body or a list gives `{}`.

    Raises `InvalidInput` for invalid JSON, or for a bare value, which the original's parser
    refuses.
    """
    if not raw.strip():
        return {}
    try:
        body = json.loads(raw, parse_constant=_reject_constant, parse_float=_parse_finite_float)
        json.dumps(body, ensure_ascii=False).encode()  # refuses halves of surrogate pairs
    except json.JSONDecodeError as error:
        raise InvalidInput(f"The body is not valid JSON: see position {error.pos}.") from None
    except (ValueError, RecursionError):
        raise InvalidInput("The body is not valid JSON.") from None
    if isinstance(body, list):
        return {}
    if not isinstance(body, dict):
        raise InvalidInput("The body is not valid JSON: an object or a list is expected.")
    return body


def _reject_constant(name: str) -> None:
    """Raise ValueError for NaN and Infinity: Python's parser takes them, JSON has neither."""
    raise ValueError(f"{name} is no JSON value")


def _parse_finite_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large a number")
    return number
