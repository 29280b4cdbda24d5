"""Sessions of HTTP that ask the environment for nothing, and the proxy that a user names."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import requests

from cardsharp.client.config import Proxy, proxy_to
from cardsharp.client.proxy_errors import proxy_error
from cardsharp.errors import Unreachable

PROXY = "CARDSHARP_PROXY"
"""The variable with the proxy's address, which the option --proxy overrides."""


def proxy_of(option: str | None = None) -> Proxy | None:
    """Return the proxy of an option, else of the environment; raises `ConfigError` for a bad one.

    HTTP_PROXY and HTTPS_PROXY are not read: what leads to an arena is named for it on purpose.
    """
    text = option or os.environ.get(PROXY, "").strip()
    return Proxy.parse(text) if text else None


@contextmanager
def proxy_option(option: str | None) -> Iterator[None]:
    """Let `proxy_of` return the proxy of an option while the block runs, if there is one."""
    previous_proxy = os.environ.get(PROXY)
    if option is not None:
        Proxy.parse(option)
        os.environ[PROXY] = option
    try:
        yield
    finally:
        if option is not None:
            os.environ.pop(PROXY)
            os.environ.update({} if previous_proxy is None else {PROXY: previous_proxy})


def http_session(url: str, proxy: Proxy | None = None, *, secret: bool = False) -> requests.Session:
    """Return a session for one server, through the proxy unless the server is this machine.

    Neither the environment's proxies nor a .netrc are used. Raises `ConfigError` where something
    `secret` would be sent by http through a proxy.
    """
    session = requests.Session()
    session.trust_env = False
    through = proxy_to(url, proxy, secret=secret)
    if through is not None:
        session.proxies = {"http": through.url, "https": through.url}
    return session


def failure_at_proxy(target: str, proxy: Proxy | None, error: Exception) -> Unreachable | None:
    """Return the error of a request that failed at the proxy; None where it failed elsewhere."""
    return None if proxy is None else proxy_error(target, proxy, error, writes=False)
