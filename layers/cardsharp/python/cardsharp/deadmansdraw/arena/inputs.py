"""What players post, parsed once: bodies of at most 100 kB, actions in every form of the original.

A card may be written `{"suit","value"}`, `["Hook",3]` or `{"Hook":3}`; it
must exist in the deck; flags follow JavaScript's idea of truth
(docs/spec/arena.md section 4).
"""

import json
import math
import re
import zlib
from email.message import Message
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request

from cardsharp.deadmansdraw.actions import Response, Verb
from cardsharp.deadmansdraw.cards import Card, Suit, values_of
from cardsharp.errors import Malformed
from cardsharp.web.route import Refused

NO_VALUE = 0  # the value of a card that is readable and that nobody can hold
_MISSING = object()
_ID = re.compile("[0-9a-f]{24}")
_PLAIN_BYTES = 12


class Unconvertible(Malformed):
    """A field of a body cannot be read; the text names the field and quotes the value."""

    def __init__(self, field: str, value: object) -> None:
        super().__init__(
            f"Type conversion failed at field '{field}' with value '{inspect(value)}'."
        )


def _parsed(raw: bytes) -> dict[str, Any]:
    """The JSON object of a request body; nothing or a list is `{}`.

    Raises `Malformed` if it is not JSON, or a bare value, which the original's parser refuses.
    """
    if not raw.strip():
        return {}
    try:
        body = json.loads(raw, parse_constant=_refuse_constant, parse_float=_finite)
        json.dumps(body, ensure_ascii=False).encode()  # refuses halves of surrogate pairs
    except json.JSONDecodeError as error:
        raise Malformed(f"The body is not valid JSON: see position {error.pos}.") from None
    except (ValueError, RecursionError):
        raise Malformed("The body is not valid JSON.") from None
    if isinstance(body, list):
        return {}
    if not isinstance(body, dict):
        raise Malformed("The body is not valid JSON: an object or a list is expected.")
    return body


def _refuse_constant(name: str) -> None:
    """Python's reader takes NaN and Infinity, which JSON does not know."""
    raise ValueError(f"{name} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large a number")
    return number


def parse_id(text: str) -> str:
    """The id that `text` writes, or 12 characters, which nothing here has; raises `Malformed`."""
    lower = text.lower()
    if _ID.fullmatch(lower):
        return lower
    raw = text.encode()
    if len(raw) == _PLAIN_BYTES:
        return raw.hex()
    raise Malformed(
        "Argument passed in must be a string of 12 bytes or a string of 24 hex characters "
        "or an integer"
    )


def parse_card(value: object) -> Card | None:
    """The card that `value` names in one of the three forms, None where it names none."""
    pair: tuple[object, object] | None = None
    if isinstance(value, list) and len(value) == 2:  # noqa: PLR2004 - a pair: suit, value
        pair = (value[0], value[1])
    elif isinstance(value, dict) and "suit" in value:
        pair = (value["suit"], value.get("value"))
    elif isinstance(value, dict) and len(value) == 1:
        pair = next(iter(value.items()))
    return None if pair is None else _card_of(*pair)


def _card_of(name: object, value: object) -> Card | None:
    """A card by suit and value, None where the deck has no such suit or range.

    The original checks the range with JavaScript's conversion to a number and compares without
    it, so `"8"` and `2.5` pass this check and then equal no card: here they become value 0.
    """
    if not isinstance(name, str) or name not in set(Suit) or isinstance(value, bool):
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None
    values = values_of(Suit(name))
    if number is None or not values[0] <= number <= values[-1]:
        return None
    return Card(Suit(name), int(number) if value == int(number) else NO_VALUE)


def parse_response(body: dict[str, Any]) -> Response | None:
    """The answer to an effect in an action's body, or None; raises `Unconvertible`."""
    effect = body.get("effect")
    if not effect:
        return None
    if not isinstance(effect, dict):
        return Response("undefined")
    given = effect.get("card")
    card = parse_card(given) if truthy(given) else None
    if truthy(given) and card is None:
        raise Unconvertible("effect", effect)
    return Response(js_text(effect.get("effectType")), card)


def parse_verb(body: dict[str, Any]) -> Verb:
    """The verb of an action's body, spelt exactly; raises `Malformed` for another word, or none."""
    etype = body.get("etype", _MISSING)
    try:
        return Verb(etype)
    except ValueError:
        shown = "undefined" if etype is _MISSING else js_text(etype)
        raise Malformed(f"Unknown action verb: {shown}") from None


def truthy(value: object) -> bool:
    """JavaScript's truth of a JSON value: empty lists and objects are true, `"false"` as well."""
    return isinstance(value, list | dict) or bool(value)


MAX_BODY = 100 * 1024  # bytes of the largest request body that is read, compressed or not
MAX_DISCARDED = 32 * 1024 * 1024  # bytes let pass unread, so that the client hears why
_ZLIB_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object of a body, `{}` where there is none or where it is of another type.

    Raises `Refused` if it is too large, or in an encoding or charset that is not known, and
    `Malformed` if it is not JSON, or not compressed as it says.
    """
    raw = await _read(request)
    kind = Message()
    kind["Content-Type"] = request.headers.get("content-type", "")
    if not raw or kind.get_content_type() != "application/json":
        return {}
    charset = kind.get_content_charset("utf-8")
    if not charset.startswith("utf-"):
        raise Refused(415, f'unsupported charset "{charset.upper()}"')
    return _parsed(_unpacked(raw, request.headers.get("content-encoding", "identity").lower()))


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form, the first of each name; raises `Refused` where it is too large."""
    fields = parse_qs((await _read(request)).decode("utf-8", "replace"))
    return {name: values[0] for name, values in fields.items()}


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


# --- JavaScript values as the original's error texts print them (`util.inspect`) ---------------

MAX_LISTS = 20

MAX_DEPTH = 2  # lists and objects that lie deeper are named, not shown, as by the original


def inspect(value: Any, depth: int = 0) -> str:  # noqa: ANN401 - any JSON value may be quoted back
    """One line that shows a JSON value in JavaScript's notation, e.g. `{ suit: 'Key', value: 3 }`.

    Long values are not broken over lines as the original does from 72 characters on.
    """
    if depth > MAX_DEPTH and value and isinstance(value, list | dict):
        return "[Array]" if isinstance(value, list) else "[Object]"
    match value:
        case str():
            return f"'{value}'"
        case list():
            items = (inspect(item, depth + 1) for item in value)
            return f"[ {', '.join(items)} ]" if value else "[]"
        case dict():
            fields = (f"{key}: {inspect(item, depth + 1)}" for key, item in value.items())
            return f"{{ {', '.join(fields)} }}" if value else "{}"
        case _:
            return js_scalar(value)


def js_scalar(value: str | float | None) -> str:
    """A JSON scalar as JavaScript's `String()` writes it: `42.0` is `42`, None is `null`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(plain_number(value))
        case _:
            return str(value)


def js_string(value: Any, depth: int = 0) -> str:  # noqa: ANN401 - any JSON value
    """A JSON value as JavaScript's `String()` makes a text of it: a list's items with commas.

    Raises `Malformed` if it is a list in a list in a list and so on, deeper than anybody means.
    """
    match value:
        case dict():
            return "[object Object]"
        case list() if depth > MAX_LISTS:
            raise Malformed("The value is nested too deeply.")
        case list():
            return ",".join("" if item is None else js_string(item, depth + 1) for item in value)
        case _:
            return js_scalar(value)


def plain_number(value: float) -> float:
    """A number as JavaScript has it: without a fraction it is whole, `42.0` is `42`."""
    whole = int(value)
    return whole if whole == value else value


def js_text(value: Any) -> str:  # noqa: ANN401 - any JSON value may be quoted back
    """A JSON value put into a JavaScript template string: strings bare, the rest as inspected."""
    return value if isinstance(value, str) else inspect(value)
