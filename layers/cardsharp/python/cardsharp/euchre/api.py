"""The HTTP edge: an event of an HTTP API (format 2.0) in, its answer out.

No router of a library: sixteen fixed paths need none, and Powertools' keeps the present event in
a class attribute, so that one process could not answer two clients at once.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cardsharp.cloud.telemetry import logger
from cardsharp.errors import Malformed
from cardsharp.euchre import openapi
from cardsharp.euchre.operations import OPERATIONS, Operation
from cardsharp.euchre.reading import read_message
from cardsharp.euchre.service import EuchreService
from cardsharp.euchre.wire import Refusal

Event = dict[str, Any]
Response = dict[str, object]

_ROUTES: Mapping[str, Mapping[str, Operation]] = {
    path: {one.method: one for one in OPERATIONS if one.path == path}
    for path in {one.path for one in OPERATIONS}
}


def build_api(service: EuchreService) -> Callable[[Event], Response]:
    """The function that answers an event; several threads may call it at once."""

    def answer(event: Event) -> Response:
        request = APIGatewayProxyEventV2(event)
        # A base URL that ends with a slash makes the client ask for //session.
        path = re.sub("/+", "/", request.path)
        try:
            return _answer(service, request, path)
        except Malformed as error:
            return _refuse(HTTPStatus.BAD_REQUEST, "malformed", str(error))
        except Exception:  # noqa: BLE001 - the edge: a client gets an answer in any case
            logger.exception("a request failed", extra={"path": path})
            text = "The service failed; its log says why."
            return _refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "failed", text)

    return answer


def _answer(service: EuchreService, request: APIGatewayProxyEventV2, path: str) -> Response:
    method = request.http_method.upper()
    if path == openapi.PATH:
        if method != "GET":
            return _wrong_method(path, {"GET"})
        return _response(HTTPStatus.OK, openapi.document_text())
    if path not in _ROUTES:
        return _refuse(HTTPStatus.NOT_FOUND, "unknown_path", f"There is no {path[:100]}.")
    operation = _ROUTES[path].get(method)
    if operation is None:
        return _wrong_method(path, _ROUTES[path])
    message = read_message(request, operation.request)
    return _response(HTTPStatus.OK, operation.act(service, message).model_dump_json(by_alias=True))


_HEADERS = {"Content-Type": "application/json", "Cache-Control": "no-store"}


def _response(status: HTTPStatus, body: str) -> Response:
    return {
        "statusCode": status.value,
        "headers": _HEADERS,
        "body": body,
        "isBase64Encoded": False,
    }


def _wrong_method(path: str, methods: Iterable[str]) -> Response:
    allowed = ", ".join(sorted(methods))
    text = f"{path} knows {allowed}."
    response = _refuse(HTTPStatus.METHOD_NOT_ALLOWED, "unknown_method", text)
    return {**response, "headers": {**_HEADERS, "Allow": allowed}}


def _refuse(status: HTTPStatus, error: str, message: str) -> Response:
    return _response(status, Refusal(error=error, message=message).model_dump_json())
