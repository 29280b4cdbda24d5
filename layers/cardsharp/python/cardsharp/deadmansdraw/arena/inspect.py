"""JavaScript values as the original's error texts print them (its runtime's `util.inspect`)."""

from typing import Any

from cardsharp.errors import Malformed

MAX_LISTS = 20

MAX_DEPTH = 2
"""Lists and objects that lie deeper are named, not shown, as the original's runtime does."""


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
