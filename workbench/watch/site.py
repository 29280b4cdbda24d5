"""The pages over a source of matches, served on this machine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp

from cardsharp.viewer.site import Manner, Pages, Source, application
from workbench.listening import Server, listen, serving, url_of

HOST = "127.0.0.1"
BACKLOG = 64

OURS = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
"""A page of somebody else's whose name leads here is not answered."""


@contextmanager
def pages_over(
    source: Source,
    port: int = 0,
    manner: Manner | None = None,
    around: Callable[[Starlette], ASGIApp] = lambda app: app,
    closing: Callable[[], None] = lambda: None,
) -> Iterator[str]:
    """The address of the pages over a source, which are served while the block runs.

    `around` is what the server is to ask in their place, and `closing` is done at its end.

    Raises:
        ConfigError: the port cannot be used.
    """
    pages = Pages(source, manner or Manner())
    app = around(application(pages, [OURS]))
    listening = listen("The page", HOST, port, BACKLOG)

    def close() -> None:
        pages.close()
        closing()

    with serving("The page", listening, lambda started: Server(app, close, started)):
        yield url_of(listening)
