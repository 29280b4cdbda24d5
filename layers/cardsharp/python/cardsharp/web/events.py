"""What an HTTP API sends to its function, and what it takes for an answer (format 2.0)."""

from collections.abc import Callable
from typing import Any, Protocol

Event = dict[str, Any]
"""A request."""

Response = dict[str, Any]
"""An answer: `statusCode`, `headers`, `body`, `isBase64Encoded`."""


class Context(Protocol):
    """What is used of an invocation's context."""

    def get_remaining_time_in_millis(self) -> int:
        """How long the invocation may still take."""
        ...


Handler = Callable[[Event, Context], Response]
"""Answers an event; several threads may call it at once."""
