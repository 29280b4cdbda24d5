"""A service in this process that may die under a request, and is called as by the real client."""

from collections.abc import Callable

import requests
from requests.adapters import BaseAdapter
from world.faults import Crash

from cardsharp.cloud.clock import SystemClock
from support.euchre_api import Json, Service
from workbench.cloud.http_events import WireRequest, http_event
from workbench.euchre.remote import RemotePlayer

TOKEN = "7f0e"
BASE = "http://service"


class Patient(BaseAdapter):
    """Starts a service again that died, and asks it the same once more; `deaths` counts.

    The requests of the client become events for the handler: no port, no thread.
    """

    def __init__(self, service: Service) -> None:
        super().__init__()
        self.service = service
        self.deaths = 0
        self.watch: Callable[[requests.PreparedRequest], None] = lambda _: None

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        self.watch(request)
        body = request.body or b""
        asked = WireRequest(
            str(request.method),
            request.path_url,
            tuple((str(name), str(value)) for name, value in request.headers.items()),
            body.encode() if isinstance(body, str) else body,
        )
        answer = self._answered(asked)
        response = requests.Response()
        response.status_code = answer["statusCode"]
        response._content = answer["body"].encode()
        response.url = str(request.url)
        return response

    def _answered(self, asked: WireRequest) -> Json:
        event = http_event(asked, SystemClock().now())
        try:
            return self.service.answer(event)
        except Crash:
            self.deaths += 1
            self.service.restart()
            return self.service.answer(event)

    def close(self) -> None:
        """Hold nothing."""


def direct_player(service: Service, token: str = TOKEN) -> tuple[RemotePlayer, Patient]:
    """A player that calls the service as the real client does, and what it calls through."""
    adapter, http = Patient(service), requests.Session()
    http.mount(BASE, adapter)
    return RemotePlayer(BASE, token, http=http), adapter
