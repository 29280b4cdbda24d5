"""A service in this process that may die under a request, and is called as by the real client."""

from collections.abc import Callable

import requests
from requests.adapters import BaseAdapter
from world.faults import Crash
from world.network import asked_of

from cardsharp.cloud.clock import SystemClock
from support.euchre_api import Service
from workbench.cloud.http_events import Answered
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
        answer = self._answered(request)
        response = requests.Response()
        response.status_code, response._content = answer.status, answer.body
        response.url = str(request.url)
        return response

    def _answered(self, request: requests.PreparedRequest) -> Answered:
        try:
            return asked_of(self.service.api, request, SystemClock())
        except Crash:
            self.deaths += 1
            self.service.restart()
            return asked_of(self.service.api, request, SystemClock())

    def close(self) -> None:
        """Hold nothing."""


def direct_player(service: Service, token: str = TOKEN) -> tuple[RemotePlayer, Patient]:
    """A player that calls the service as the real client does, and what it calls through."""
    adapter, http = Patient(service), requests.Session()
    http.mount(BASE, adapter)
    return RemotePlayer(BASE, token, http=http), adapter
