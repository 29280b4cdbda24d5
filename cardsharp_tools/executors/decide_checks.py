"""Checks of the form of a strategy's `decide` method, before it decides anything."""

import inspect
from pathlib import Path

from cardsharp.errors import ConfigError

_SIGNATURE_HINT = "write `def decide(self, position):`"


def check_decide(strategy: object, name: str) -> None:
    """Raise `ConfigError`, with what to write, if a strategy's `decide` cannot be called."""
    decide = getattr(strategy, "decide", None)
    kind = type(strategy)
    if not callable(decide):
        raise ConfigError(
            f"The strategy '{name}'{_format_source_location(kind)} has no method "
            "decide(self, position). Add it to "
            "the class."
        )
    subject = f"The strategy '{name}'{_format_source_location(getattr(kind, 'decide', None))}"
    if inspect.iscoroutinefunction(decide):
        raise ConfigError(
            f"{subject} has an async decide, which is not supported; {_SIGNATURE_HINT}."
        )
    if inspect.isgeneratorfunction(decide):
        raise ConfigError(f"{subject} has a decide that yields. It must `return` one Decision.")
    try:
        signature = inspect.signature(decide)
    except (TypeError, ValueError):  # native code has no signature that can be read
        return
    try:
        signature.bind(None)
    except TypeError:
        raise ConfigError(
            f"{subject} has a decide{inspect.signature(kind.decide)}, which cannot be called with "  # type: ignore[attr-defined]
            f"just a position; {_SIGNATURE_HINT}."
        ) from None


def _format_source_location(source_object: object) -> str:
    """Return the source location of a class or function in brackets, or "" if it is unknown."""
    try:
        file, (_, line) = inspect.getfile(source_object), inspect.getsourcelines(source_object)  # type: ignore[arg-type]
    except (OSError, TypeError):
        return ""
    return "" if source_object is None else f" ({Path(file).name}, line {line})"
