"""What a game with an HTTP service says of it: the `service` part of its `game.py`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic

from cardsharp.web import edge, openapi
from cardsharp.web.api import Api
from cardsharp.web.events import Handler
from cardsharp.web.reading import Json
from cardsharp.web.route import S


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(Generic[S]):
    """A game's HTTP service.

    `store` is the environment variable that names where its games are kept, and `assemble` puts
    the use cases together as an environment describes them; it raises `ConfigError`.
    """

    api: Api[S]
    store: str
    assemble: Callable[[Mapping[str, str]], S]

    def build(self, environment: Mapping[str, str]) -> Handler:
        """The handler that an environment describes.

        Raises:
            ConfigError: something in it cannot be used.
        """
        return edge.build(self.api, self.assemble(environment))

    def document(self) -> Json:
        """The OpenAPI document."""
        return openapi.document(self.api)
