"""Reference to a strategy as a field of parameters that are sent to a process as JSON.

It is apart from `strategy_reference`, which a command imports for its options: pydantic is slow to
import.
"""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated
from urllib.parse import quote, unquote

from pydantic import PlainSerializer, PlainValidator

from cardsharp_tools.executors.path_quoting import quote_path, unquote_path
from cardsharp_tools.executors.strategy_reference import (
    BuiltIn,
    Program,
    RemotePlayer,
    StrategyFile,
    StrategyReference,
    Submission,
    Weights,
)

_REFERENCE_CLASSES: dict[str, Callable[..., StrategyReference]] = {
    kind.__name__: kind
    for kind in (BuiltIn, RemotePlayer, StrategyFile, Weights, Program, Submission)
}


def _reference_from_field(value: object) -> StrategyReference:
    """Return the reference of a field; raise `ValueError` if there is none in it."""
    match value:
        case StrategyReference():
            return value
        case {"kind": str(kind), **values} if kind in _REFERENCE_CLASSES:
            arguments = {
                str(name): unquote(value, errors="surrogatepass")
                if isinstance(value, str)
                else value
                for name, value in values.items()
            }
            if values.get("folder") is not None:
                arguments["folder"] = unquote_path(str(values["folder"]))
            return _REFERENCE_CLASSES[kind](**arguments)
    raise ValueError("It must be a reference to a strategy.")


def _reference_to_field(reference: StrategyReference) -> dict[str, object]:
    """Return class and fields of a reference; texts are quoted, as JSON refuses bytes of paths."""

    def encode(value: object) -> object:
        if isinstance(value, Path):
            return quote_path(value)
        return quote(value, errors="surrogatepass") if isinstance(value, str) else value

    names = [field.name for field in fields(reference)]  # type: ignore[arg-type]  # a dataclass
    values = {name: encode(getattr(reference, name)) for name in names}
    return {"kind": type(reference).__name__, **values}


StrategyField = Annotated[
    StrategyReference, PlainValidator(_reference_from_field), PlainSerializer(_reference_to_field)
]
"""Field of parameters that are sent to a process as JSON: the value, whose text nobody parses."""
