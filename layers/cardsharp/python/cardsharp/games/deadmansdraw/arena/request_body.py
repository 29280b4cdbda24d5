"""Parsing of the fields of request bodies, with actions in every form of the original.

A card may be written `{"suit","value"}`, `["Hook",3]` or `{"Hook":3}` and must be in the deck.
Flags are true or false as in JavaScript (docs/spec/arena.md section 4).
"""

import re
from typing import Any

from cardsharp.errors import InvalidInput
from cardsharp.games.deadmansdraw.actions import ActionType, EffectResponse
from cardsharp.games.deadmansdraw.cards import Card, Suit, values_of

IMPOSSIBLE_VALUE = 0  # the value of a card that is readable and that nobody can hold
_MISSING = object()
_ID_PATTERN = re.compile("[0-9a-f]{24}")
_RAW_ID_BYTES = 12


class UnreadableField(InvalidInput):
    """A field of a body cannot be read; the text names the field and quotes the value."""

    def __init__(self, field: str, value: object) -> None:
        super().__init__(
            f"Type conversion failed at field '{field}' with value '{js_inspect(value)}'."
        )


def parse_id(text: str) -> str:
    """Return the id that `text` denotes: 24 hex digits in lower case.

    As in the original, a text of 12 bytes is read as an id, too; no match here has such an id.
    Raises `InvalidInput` for any other text.
    """
    lower = text.lower()
    if _ID_PATTERN.fullmatch(lower):
        return lower
    raw = text.encode()
    if len(raw) == _RAW_ID_BYTES:
        return raw.hex()
    raise InvalidInput(
        "Argument passed in must be a string of 12 bytes or a string of 24 hex characters "
        "or an integer"
    )


def parse_card(value: object) -> Card | None:
    """Return the card that `value` names in one of the three forms, None if it names none."""
    pair: tuple[object, object] | None = None
    if isinstance(value, list) and len(value) == 2:  # noqa: PLR2004 - a pair: suit, value
        pair = (value[0], value[1])
    elif isinstance(value, dict) and "suit" in value:
        pair = (value["suit"], value.get("value"))
    elif isinstance(value, dict) and len(value) == 1:
        pair = next(iter(value.items()))
    return None if pair is None else _to_card(*pair)


def _to_card(name: object, value: object) -> Card | None:
    """Return a card by suit and value, None if the deck has no such suit or values.

    The original checks the range with JavaScript's conversion to a number but compares
    without it. So `"8"` and `2.5` pass this check and then equal no card: here they become
    value 0.
    """
    if not isinstance(name, str) or name not in set(Suit) or isinstance(value, bool):
        return None
    try:
        numeric_value = float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None
    values = values_of(Suit(name))
    if numeric_value is None or not values[0] <= numeric_value <= values[-1]:
        return None
    return Card(Suit(name), int(numeric_value) if value == int(numeric_value) else IMPOSSIBLE_VALUE)


def parse_effect_response(body: dict[str, Any]) -> EffectResponse | None:
    """Return the response to an effect in an action's body, or None; raise `UnreadableField`."""
    effect = body.get("effect")
    if not effect:
        return None
    if not isinstance(effect, dict):
        return EffectResponse("undefined")
    raw_card = effect.get("card")
    card = parse_card(raw_card) if js_truthy(raw_card) else None
    if js_truthy(raw_card) and card is None:
        raise UnreadableField("effect", effect)
    return EffectResponse(js_template_text(effect.get("effectType")), card)


def parse_action_type(body: dict[str, Any]) -> ActionType:
    """Return the action type of a body; raise `InvalidInput` if it is not spelt exactly."""
    etype = body.get("etype", _MISSING)
    try:
        return ActionType(etype)
    except ValueError:
        verb_text = "undefined" if etype is _MISSING else js_template_text(etype)
        raise InvalidInput(f"Unknown action verb: {verb_text}") from None


def js_truthy(value: object) -> bool:
    """JavaScript's truth of a JSON value: empty lists and objects are true, `"false"` as well."""
    return isinstance(value, list | dict) or bool(value)


# --- JavaScript values as the original's error texts print them (`util.inspect`) ---------------

MAX_LISTS = 20

MAX_DEPTH = 2  # lists and objects that lie deeper are named, not shown, as by the original


def js_inspect(value: Any, depth: int = 0) -> str:  # noqa: ANN401 - any JSON value may be quoted back
    """One line that shows a JSON value in JavaScript's notation, e.g. `{ suit: 'Key', value: 3 }`.

    Long values are not broken over lines as the original does from 72 characters on.
    """
    if depth > MAX_DEPTH and value and isinstance(value, list | dict):
        return "[Array]" if isinstance(value, list) else "[Object]"
    match value:
        case str():
            return f"'{value}'"
        case list():
            items = (js_inspect(item, depth + 1) for item in value)
            return f"[ {', '.join(items)} ]" if value else "[]"
        case dict():
            fields = (f"{key}: {js_inspect(item, depth + 1)}" for key, item in value.items())
            return f"{{ {', '.join(fields)} }}" if value else "{}"
        case _:
            return js_scalar_string(value)


def js_scalar_string(value: str | float | None) -> str:
    """A JSON scalar as JavaScript's `String()` writes it: `42.0` is `42`, None is `null`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(to_integer_if_whole(value))
        case _:
            return str(value)


def js_string(value: Any, depth: int = 0) -> str:  # noqa: ANN401 - any JSON value
    """Return a JSON value as JavaScript's `String()` converts it: a list's items with commas.

    Raises `InvalidInput` if lists are nested too deeply.
    """
    match value:
        case dict():
            return "[object Object]"
        case list() if depth > MAX_LISTS:
            raise InvalidInput("The value is nested too deeply.")
        case list():
            return ",".join("" if item is None else js_string(item, depth + 1) for item in value)
        case _:
            return js_scalar_string(value)


def to_integer_if_whole(value: float) -> float:
    """Return a number as JavaScript writes it: without a fraction an integer (`42.0` is `42`)."""
    integer = int(value)
    return integer if integer == value else value


def js_template_text(value: Any) -> str:  # noqa: ANN401 - any JSON value may be quoted back
    """A JSON value put into a JavaScript template string: strings bare, the rest as inspected."""
    return value if isinstance(value, str) else js_inspect(value)
