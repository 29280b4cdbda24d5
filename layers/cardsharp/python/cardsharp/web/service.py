"""What a game with an HTTP service says of it: the `service` part of its `game.py`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from cardsharp.web import edge, gate, openapi
from cardsharp.web.api import Api
from cardsharp.web.events import Context, Event, Handler, Response, checked
from cardsharp.web.reading import Json
from cardsharp.web.route import S

BOT_STORE, BOT_QUEUE, BOT_URL = "CARDSHARP_BOT_STORE", "CARDSHARP_BOT_QUEUE", "CARDSHARP_BOT_URL"
"""To a service that bots of ours can be invited to: their match log and queue, its own address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(Generic[S]):
    """A game's HTTP service.

    `store` is the environment variable that names where its games are kept, and `assemble` puts
    the use cases together as an environment describes them; it raises `ConfigError`. `beside` are
    further APIs to the same games, as an environment wants them, and `feed` makes what answers the
    handshakes of those who watch, where an environment names a feed. It `invites` if bots of ours
    can be asked to play there.
    """

    api: Api[S]
    store: str
    assemble: Callable[[Mapping[str, str]], S]
    beside: Callable[[Mapping[str, str]], Sequence[Api[S]]] = lambda _: ()
    feed: Callable[[S, Mapping[str, str]], Handler | None] | None = None
    invites: bool = False

    def build(self, environment: Mapping[str, str]) -> Handler:
        """The handler that an environment describes; raises `ConfigError` if it cannot."""
        service = self.assemble(environment)
        answer = edge.build_all((self.api, *self.beside(environment)), service)
        watch = (None if self.feed is None else self.feed(service, environment)) or gate.closed

        def either(event: Event, context: Context) -> Response:
            of_a_socket = "connectionId" in event["requestContext"]
            return (watch if of_a_socket else answer)(event, context)

        return checked(either, sockets=True)

    @property
    def base(self) -> str:
        """What all paths begin with."""
        return self.api.base

    def documents(self) -> Mapping[str, Json]:
        """The OpenAPI documents by the names of the APIs, as they are where nothing is set."""
        return {api.name: openapi.document(api) for api in (self.api, *self.beside({}))}
