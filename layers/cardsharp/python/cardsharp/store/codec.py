"""Bodies of documents and of the match log as JSON text."""

import json
import re
from collections.abc import Mapping

from cardsharp.errors import StoreError
from cardsharp.store.packed_bodies import unpack

StoredBody = str | bytes | Mapping[str, object]  # JSON text, packed by versions up to 0.3, or plain

MAX_STORED_BODY_BYTES = (
    64_000  # of JSON text; an item of DynamoDB has four bodies at most, and 400 KB
)
_HALF = re.compile("[\ud800-\udfff]")  # half a UTF-16 pair, which only JSON may name


def encode(body: Mapping[str, object], store_name: str = "document store") -> str:
    """Return a body as JSON text; raise `StoreError` if it is no JSON or too large.

    The error names the store as `store_name`.
    """
    try:
        text = json.dumps(body, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        if not text.isascii() and _HALF.search(text):
            text = json.dumps(body, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise StoreError(f"The {store_name} stores JSON only: {error}.") from error
    byte_count = len(text.encode())
    if byte_count > MAX_STORED_BODY_BYTES:
        raise StoreError(
            f"The {store_name} stores at most {MAX_STORED_BODY_BYTES} bytes, not {byte_count}."
        )
    return text


def decode(stored: StoredBody) -> dict[str, object]:
    """Return a stored body, of whatever version; raise `StoreError` if it is no JSON object."""
    if isinstance(stored, Mapping):
        return dict(stored)
    try:
        body = json.loads(stored if isinstance(stored, str) else unpack(stored))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"no JSON object: {error}") from None
    if not isinstance(body, dict):
        raise StoreError(f"no JSON object: a {type(body).__name__}")
    return body
