"""A message out of an event of an HTTP API (format 2.0): from its body or its query string."""

import base64
import binascii
from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import parse_qs

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from cardsharp.errors import Malformed
from cardsharp.euchre import wire

MAX_BYTES = 8_192
"""Of a body or a query string; the client's stay below 300."""

M = TypeVar("M", bound=wire.Message)

_LISTS = {"swappableCards", "playableCards"}


def read_message(event: APIGatewayProxyEventV2, kind: type[M]) -> M:
    """The message that a request carries, in the query string of a GET and else in the body.

    Raises:
        Malformed: it cannot be read as one; the text says what is wrong.
    """
    try:
        if event.http_method == "GET":
            return kind.model_validate(_query(event))
        # Whatever the content type says, the body must be JSON.
        return kind.model_validate_json(_body(event), strict=True)
    except ValidationError as error:
        raise Malformed(" ".join(map(_sentence, error.errors(include_url=False)))) from None


def _query(event: APIGatewayProxyEventV2) -> Mapping[str, object]:
    """Query parameters by name; only the lists keep more than the last value."""
    raw = event.get("rawQueryString")
    if raw is None:
        given = {name: [value] for name, value in event.query_string_parameters.items()}
    elif len(raw) > MAX_BYTES:
        raise Malformed(f"The query string is longer than {MAX_BYTES} bytes.")
    else:
        given = parse_qs(raw, keep_blank_values=True)
    return {
        name: ",".join(values).split(",") if name in _LISTS else values[-1]
        for name, values in given.items()
    }


def _body(event: APIGatewayProxyEventV2) -> bytes:
    try:
        raw = (event.body or "").encode()
        body = base64.b64decode(raw, validate=True) if event.is_base64_encoded else raw
    except (binascii.Error, UnicodeEncodeError):
        raise Malformed("The body is no text.") from None
    if len(body) > MAX_BYTES:
        raise Malformed(f"The body is longer than {MAX_BYTES} bytes.")
    return body


def _sentence(fault: ErrorDetails) -> str:
    """What is wrong with one field; never quotes what was sent."""
    where = ".".join(map(str, fault["loc"])) or "The request"
    return f"{where}: {fault['msg']}."
