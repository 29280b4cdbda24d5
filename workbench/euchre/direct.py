"""The real client's HTTP, straight into a handler in this process: no port, no thread."""

import requests
from requests.adapters import BaseAdapter

from cardsharp.cloud.clock import SystemClock
from cardsharp.web.events import Event, Handler, Response
from workbench.cloud.context import LambdaContext
from workbench.cloud.http_events import WireRequest, http_event
from workbench.euchre.remote import RemotePlayer
from workbench.stage.serving import TIMEOUT

BASE = "http://service"


class Direct(BaseAdapter):
    """Turns the requests of a session into events for a handler, and answers into responses."""

    def __init__(self, handler: Handler) -> None:
        super().__init__()
        self.handler = handler

    def player(self, token: str | None = None) -> RemotePlayer:
        """A player whose requests go this way."""
        http = requests.Session()
        http.mount(BASE, self)
        return RemotePlayer(BASE, token, http=http)

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        """Answer one request."""
        body = request.body or b""
        asked = WireRequest(
            str(request.method),
            request.path_url,
            tuple((str(name), str(value)) for name, value in request.headers.items()),
            body.encode() if isinstance(body, str) else body,
        )
        answer = self.answered(http_event(asked, SystemClock().now()))
        response = requests.Response()
        response.status_code = answer["statusCode"]
        response._content = answer["body"].encode()  # noqa: SLF001 - requests has no other way in
        response.url = str(request.url)
        return response

    def answered(self, event: Event) -> Response:
        """What the handler answers to an event."""
        return self.handler(event, LambdaContext("euchre", TIMEOUT, SystemClock()))

    def close(self) -> None:
        """Hold nothing."""
