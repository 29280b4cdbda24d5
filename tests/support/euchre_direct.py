"""A service in this process that may die under a request, and is called as by the real client."""

from collections.abc import Callable

import requests

from support.euchre_api import Json, Service
from workbench.cloud.events import Event
from workbench.euchre.direct import Direct
from workbench.euchre.remote import RemotePlayer

TOKEN = "7f0e"


class Died(BaseException):
    """The process died; nothing in it may catch this."""


class Patient(Direct):
    """Starts a service again that died, and asks it the same once more; `deaths` counts."""

    def __init__(self, service: Service) -> None:
        super().__init__(lambda event, _: service.answer(event))
        self.service = service
        self.deaths = 0
        self.watch: Callable[[requests.PreparedRequest], None] = lambda _: None

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        self.watch(request)
        return super().send(request)

    def answered(self, event: Event) -> Json:
        try:
            return super().answered(event)
        except Died:
            self.deaths += 1
            self.service.restart()
            return super().answered(event)


def direct_player(service: Service, token: str = TOKEN) -> tuple[RemotePlayer, Patient]:
    """A player that calls the service as the real client does, and what it calls through."""
    adapter = Patient(service)
    return adapter.player(token), adapter
