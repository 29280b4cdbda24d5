"""What a game with an HTTP service says of it: the `service` part of its `game.py`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from cardsharp.web import edge, openapi
from cardsharp.web.api import Api
from cardsharp.web.events import Handler
from cardsharp.web.reading import Json
from cardsharp.web.route import S


def _nothing(_environment: Mapping[str, str]) -> Sequence[Api[Any]]:
    """Serve no further API."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(Generic[S]):
    """A game's HTTP service.

    `store` is the environment variable that names where its games are kept, and `assemble` puts
    the use cases together as an environment describes them; it raises `ConfigError`. `beside` are
    further APIs to the same games, as an environment wants them.
    """

    api: Api[S]
    store: str
    assemble: Callable[[Mapping[str, str]], S]
    beside: Callable[[Mapping[str, str]], Sequence[Api[S]]] = _nothing

    def build(self, environment: Mapping[str, str]) -> Handler:
        """The handler that an environment describes.

        Raises:
            ConfigError: something in it cannot be used.
        """
        apis = (self.api, *self.beside(environment))
        return edge.build_all(apis, self.assemble(environment))

    def document(self) -> Json:
        """The OpenAPI document."""
        return openapi.document(self.api)

    def documents(self) -> Mapping[str, Json]:
        """The OpenAPI documents by the names of the APIs, as they are where nothing is set."""
        return {api.name: openapi.document(api) for api in (self.api, *self.beside({}))}
