"""What a service refuses, and the answers that say so where a game has no manner of its own."""

from collections.abc import Iterable
from http import HTTPStatus

from pydantic import BaseModel

from cardsharp.errors import CardsharpError, StoreError
from cardsharp.web.route import Answer, ErrorBody


class Refused(CardsharpError):
    """A request that is answered with `status` and this text; nothing was changed."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class NoSuchPath(Refused):
    """404: no route has this path."""

    def __init__(self, path: str) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, "404 - Resource Not Found")
        self.path = path


class NoSuchMethod(Refused):
    """405: the path is there, and answers only these methods."""

    def __init__(self, path: str, methods: Iterable[str]) -> None:
        super().__init__(HTTPStatus.METHOD_NOT_ALLOWED, "405 - Method Not Allowed")
        self.methods = tuple(methods)
        self.path = path


def bad_request(text: str) -> Refused:
    """A refusal of what was sent."""
    return Refused(HTTPStatus.BAD_REQUEST, text)


def forbidden(text: str) -> Refused:
    """A refusal of who asks, or when."""
    return Refused(HTTPStatus.FORBIDDEN, text)


def explain(error: Exception, model: type[BaseModel] = ErrorBody) -> Answer:
    """The answer to a request that ended with this error; each field of the body says why."""
    if isinstance(error, Refused):
        status, text = error.status, error.text
    elif isinstance(error, StoreError):
        status, text = HTTPStatus.SERVICE_UNAVAILABLE, "503 - Service Unavailable, please try again"
    else:
        status, text = HTTPStatus.INTERNAL_SERVER_ERROR, "500 - Internal server error"
    return Answer(model(**dict.fromkeys(model.model_fields, text)), status)
