"""The HTTP edge of the service: routes, parameters in, answers out; knows no rule of the game."""

import base64
import binascii
import json
import traceback
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from urllib.parse import parse_qsl, unquote

from aws_lambda_powertools.event_handler import CORSConfig, Request, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.utilities.data_classes.common import BaseProxyEvent
from aws_lambda_powertools.utilities.typing import LambdaContext

from cardsharp.blef import openapi
from cardsharp.blef.endpoints import BASE, ENDPOINTS, OK, VERSION_HEADER, Answer, Ask, Endpoint
from cardsharp.blef.refusals import (
    INTERNAL,
    NOT_ALLOWED,
    NOT_FOUND,
    TOO_LARGE,
    UNAVAILABLE,
    Refused,
    bad_request,
)
from cardsharp.blef.resolver import CONTEXT, Resolver
from cardsharp.blef.service import Blef, Patience
from cardsharp.blef.wire import ErrorBody
from cardsharp.cloud.telemetry import logger
from cardsharp.errors import ConfigError, StoreError

MAX_BODY = 8_192
"""Bytes of the largest request body that is read."""

LONGEST_WAIT = timedelta(seconds=25)
"""Of a long poll: below the 30 s after which API Gateway gives up."""

MARGIN = timedelta(seconds=3)
"""What is left of an invocation's time for the answer itself."""

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "TRACE")
_HEADERS = {
    "Cache-Control": "no-store",  # a GET can change a game
    "Referrer-Policy": "no-referrer",  # uuids are in addresses
    "X-Content-Type-Options": "nosniff",
}
_BAD_BODY = "The body must be a JSON object of texts and numbers, or a form"


def build_api(blef: Blef) -> Resolver:
    """The handler of an HTTP API's events; it may be called by several threads at once."""
    api = Resolver(cors=CORSConfig(expose_headers=[VERSION_HEADER], max_age=3600), debug=False)
    for endpoint in ENDPOINTS:
        rule = BASE + endpoint.path.replace("{game_uuid}", "<game_uuid>")
        _add(api, rule, endpoint.methods, _answering(blef, endpoint))
    _add(api, openapi.PATH, ("GET",), lambda **_: _response(OK, openapi.document_text()))
    api.exception_handler(NotFoundError)(lambda _: _error("404 - Resource Not Found", NOT_FOUND))
    api.exception_handler(StoreError)(_unavailable)
    api.exception_handler(Exception)(_failed)
    api.prepare()
    return api


def _add(
    api: Resolver, rule: str, methods: tuple[str, ...], answer: Callable[..., Response[str]]
) -> None:
    """Add a path, on which every other method is refused."""

    def refuse(**_: str) -> Response[str]:
        response = _error("405 - Method Not Allowed", NOT_ALLOWED)
        response.headers["Allow"] = ", ".join((*methods, "OPTIONS"))
        return response

    api.route(rule, method=list(methods))(answer)
    others = [method for method in _METHODS if method not in methods]
    api.route(rule, method=others, cors=False)(refuse)


def _answering(blef: Blef, endpoint: Endpoint) -> Callable[..., Response[str]]:
    """The function that answers requests of an endpoint."""

    def answer(request: Request, game_uuid: str = "") -> Response[str]:
        try:
            given = dict(_parameters(request))
            patience = _patience(request.context[CONTEXT])
            return _encoded(endpoint.act(blef, Ask(unquote(game_uuid), given, patience)))
        except Refused as refused:
            return _encoded(endpoint.refusal(refused.status, refused.text))

    return answer


def _patience(context: LambdaContext) -> Patience:
    """How long a long poll may still wait, counted from now."""
    end = context.get_remaining_time_in_millis()
    wait = min(LONGEST_WAIT, timedelta(milliseconds=end) - MARGIN)

    def left() -> timedelta:
        passed = timedelta(milliseconds=end - context.get_remaining_time_in_millis())
        return wait - passed

    return left


def _parameters(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the parameters that have a value; one that is sent twice cannot be any valid one.

    Raises:
        Refused: the body of a POST cannot be read.
    """
    given = dict(request.query_parameters or {})
    if request.method == "POST":
        for name, value in _body_parameters(request.resolved_event):
            # As API Gateway joins what a query string repeats.
            given[name] = f"{given[name]},{value}" if given.get(name) else value
    return ((name, value) for name, value in given.items() if value)


def _body_parameters(event: BaseProxyEvent) -> list[tuple[str, str]]:
    """The parameters in a body, a JSON object unless it says that it is a form."""
    text = _body_text(event)
    media_type = event.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "application/x-www-form-urlencoded":
        return parse_qsl(text)
    try:
        # Numbers stay the texts they are, for they are read as those of a query string.
        body = json.loads(text or "{}", parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        raise bad_request(_BAD_BODY) from None
    if not isinstance(body, dict):
        raise bad_request(_BAD_BODY)
    given = {name: value for name, value in body.items() if value is not None}
    if not all(isinstance(value, str) for value in given.values()):
        raise bad_request(_BAD_BODY)
    return list(given.items())


def _body_text(event: BaseProxyEvent) -> str:
    """The body as text; raises `Refused` if it is too large or no text."""
    raw = (event.get("body") or "").encode("utf-8", "surrogatepass")
    try:
        raw = base64.b64decode(raw, validate=True) if event.is_base64_encoded else raw
        if len(raw) > MAX_BODY:
            raise Refused(TOO_LARGE, f"The body is larger than {MAX_BODY} bytes")
        return raw.decode()
    except (binascii.Error, UnicodeDecodeError):
        raise bad_request(_BAD_BODY) from None


def _encoded(answer: Answer) -> Response[str]:
    response = _response(answer.status, answer.body.model_dump_json())
    if answer.version is not None:
        response.headers[VERSION_HEADER] = str(answer.version)
    return response


def _error(text: str, status: int) -> Response[str]:
    return _response(status, ErrorBody(error=text).model_dump_json())


def _response(status: int, text: str) -> Response[str]:
    return Response(status, "application/json", text, _HEADERS)


def _unavailable(error: Exception) -> Response[str]:
    _report(error)
    return _error("503 - Service Unavailable, please try again", UNAVAILABLE)


def _failed(error: Exception) -> Response[str]:
    _report(error)
    return _error("500 - Internal server error", INTERNAL)


def _report(error: Exception) -> None:
    """Log what failed and where, without the text of the error: it might quote a hand."""
    logger.error("a request failed", extra=dict(_account(error)))


def _account(error: BaseException) -> Mapping[str, object]:
    cause = error.__cause__ or error
    answer = getattr(cause, "response", None)
    code = answer.get("Error", {}).get("Code") if isinstance(answer, dict) else None
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        # A setting's fault says what to do about it, and knows of no game.
        "text": str(error) if isinstance(error, ConfigError) else None,
        "cause": type(cause).__name__,
        "aws_code": code,
        "frames": [f"{frame.name}:{frame.lineno}" for frame in frames],
    }
