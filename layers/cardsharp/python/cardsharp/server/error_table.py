"""Tables that map errors of use cases to HTTP: one for each API, beside its routes.

A use case raises an error that names the broken rule (`service_errors`). Only the table of the
API knows with which status and text this error is answered.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cardsharp.errors import CardsharpError
from cardsharp.server.routing import HttpError

ErrorTable = Mapping[type[CardsharpError], Callable[[Any], HttpError]]
"""For each class of errors what makes the HTTP error of it.

An entry also applies to the subclasses that have no entry of their own.
"""


@dataclass(frozen=True, slots=True)
class ErrorFormat:
    """Status and text of the response to an error; without `text` its own message is sent."""

    status: int
    text: str | None = None

    def __call__(self, error: CardsharpError) -> HttpError:
        """Return the HTTP error for an error."""
        return HttpError(self.status, str(error) if self.text is None else self.text)


def find_http_error(table: ErrorTable, error: Exception) -> HttpError | None:
    """Return the HTTP error for an error, or None if the table has none for it.

    An `HttpError`, which only the HTTP edge raises, is its own.
    """
    if isinstance(error, HttpError):
        return error
    formats = (table[cls] for cls in type(error).__mro__ if cls in table)
    error_format = next(formats, None)
    return None if error_format is None else error_format(error)
