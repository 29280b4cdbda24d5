"""The client's HTTP, straight into a service in this process: no port, no thread."""

import json
from collections.abc import Callable

import requests
from requests.adapters import BaseAdapter

from support.euchre_api import Service, event
from workbench.euchre.remote import RemotePlayer

BASE = "http://service"
TOKEN = "7f0e"


class Died(BaseException):
    """The process died; nothing in it may catch this."""


class Direct(BaseAdapter):
    """Turns requests into events; `deaths` counts how often the service died under one.

    A service that dies is started again and asked the same once more, as by a patient client.
    """

    def __init__(self, service: Service) -> None:
        super().__init__()
        self.service = service
        self.sent = 0
        self.deaths = 0
        self.watch: Callable[[requests.PreparedRequest], None] = lambda _: None

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        self.sent += 1
        self.watch(request)
        body = request.body.decode() if isinstance(request.body, bytes) else request.body
        asked = event(str(request.method), request.path_url, body)
        try:
            answer = self.service.answer(asked)
        except Died:
            self.deaths += 1
            self.service.restart()
            answer = self.service.answer(asked)
        response = requests.Response()
        assert isinstance(answer["statusCode"], int)
        response.status_code = answer["statusCode"]
        response._content = str(answer["body"]).encode()
        response.url = str(request.url)
        return response

    def close(self) -> None:
        pass


def direct_player(
    service: Service, token: str = TOKEN, *, asks_defense: bool = False
) -> tuple[RemotePlayer, Direct]:
    """A player that calls the service as the real client does, and what it calls through."""
    adapter = Direct(service)
    http = requests.Session()
    http.mount(BASE, adapter)
    return RemotePlayer(BASE, token, asks_defense=asks_defense, http=http), adapter


def bodies(request: requests.PreparedRequest) -> dict[str, object]:
    """The JSON body of a request, empty without one."""
    found: dict[str, object] = json.loads(request.body) if request.body else {}
    return found
