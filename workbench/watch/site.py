"""The pages over a source of matches, served on this machine."""

from collections.abc import Callable
from typing import Self

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from cardsharp.viewer.site import Pages, application
from workbench.listening import Background, Server, listen, url_of
from workbench.watch.sources import NamedSource

HOST = "127.0.0.1"
BACKLOG = 64

OURS = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
"""A page of somebody else's whose name leads here is not answered."""


class WatchServer:
    """The pages over a source, served on a thread of its own while the `with` lasts.

    Raises:
        ConfigError: the port cannot be used.
    """

    def __init__(self, source: NamedSource, port: int = 0) -> None:
        pages = Pages(source)
        app = application(pages, [OURS])
        listening = listen("The page", HOST, port, BACKLOG)
        self.url = url_of(listening)

        def server(started: Callable[[], None]) -> Server:
            return Server(app, pages.close, started)

        self._background = Background("The page", listening, server)

    def __enter__(self) -> Self:
        self._background.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._background.stop()
