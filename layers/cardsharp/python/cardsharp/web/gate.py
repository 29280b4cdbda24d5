"""The WebSocket edge: who connects watches a topic, and is told what happens by the service's feed.

A WebSocket API sends an event for each handshake and each end; what clients send is not read.
"""

import hashlib
from collections.abc import Callable, Mapping
from http import HTTPStatus

from pydantic import BaseModel

from cardsharp.cloud.sockets import Feed
from cardsharp.cloud.telemetry import logger
from cardsharp.web.events import Context, Event, Handler, Response, response
from cardsharp.web.request import caller_at
from cardsharp.web.route import Answer, Refused, explain

Subscribe = Callable[[Mapping[str, str]], tuple[str, str]]
"""The topic that parameters ask for, and by which key is known what may be seen; or `Refused`."""


class MessageBody(BaseModel, frozen=True):
    """What was done."""

    message: str


def closed(_event: Event, _context: Context) -> Response:
    """Let nobody in, for there is nothing to be told."""
    return _response(explain(Refused(HTTPStatus.NOT_FOUND, "There is no feed here")))


def build(feed: Feed, subscribe: Subscribe) -> Handler:
    """The handler of a WebSocket API's events."""

    def answer(event: Event, _context: Context) -> Response:
        try:
            told = _carried_out(event, feed, subscribe)
        except Refused as refused:
            told = explain(refused)
        except Exception as error:  # noqa: BLE001 - the edge: a handshake ends with an answer
            logger.error("a handshake failed", extra={"error": type(error).__name__})
            told = explain(error)
        return _response(told)

    return answer


def _carried_out(event: Event, feed: Feed, subscribe: Subscribe) -> Answer:
    about = event["requestContext"]
    if about["routeKey"] == "$connect":
        headers, query = event.get("headers") or {}, event.get("queryStringParameters") or {}
        asked = {**{name.lower(): value for name, value in headers.items()}, **query}
        topic, key = subscribe(asked)
        caller = caller_at(about.get("identity", {}).get("sourceIp"))
        digest = "" if caller is None else hashlib.sha256(caller.encode()).hexdigest()
        if not feed.watch(topic, about["connectionId"], key, digest):
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "Too many watch this - please try later")
        return Answer(MessageBody(message="Connected"))
    if about["routeKey"] == "$disconnect":
        feed.leave(about["connectionId"])
        return Answer(MessageBody(message="Disconnected"))
    return Answer("")


def _response(told: Answer) -> Response:
    body = told.body if isinstance(told.body, str) else told.body.model_dump_json()
    return response(told.status, body)
