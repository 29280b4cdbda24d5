"""The pages over a source of matches, served on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from cardsharp.viewer.site import Pages, application
from workbench.listening import Server, listen, serving, url_of
from workbench.watch.sources import MatchSource

HOST = "127.0.0.1"
BACKLOG = 64

OURS = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
"""A page of somebody else's whose name leads here is not answered."""


@contextmanager
def pages_over(source: MatchSource, port: int = 0) -> Iterator[str]:
    """The address of the pages over a source, which are served while the block runs.

    Raises:
        ConfigError: the port cannot be used.
    """
    pages = Pages(source)
    app = application(pages, [OURS])
    listening = listen("The page", HOST, port, BACKLOG)
    with serving("The page", listening, lambda started: Server(app, pages.close, started)):
        yield url_of(listening)
