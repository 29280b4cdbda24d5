"""Sessions of HTTP that ask the environment for nothing, and the proxy that a user names."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import requests

from cardsharp.client.config import Proxy, proxy_for_url
from cardsharp.client.proxy_errors import error_from_proxy_failure
from cardsharp.errors import Unreachable

PROXY = "CARDSHARP_PROXY"
"""The variable with the proxy's address, which the option --proxy overrides."""


def resolve_proxy(option: str | None = None) -> Proxy | None:
    """Return the proxy of an option, else of the environment; raises `ConfigError` for a bad one.

    HTTP_PROXY and HTTPS_PROXY are not read: what leads to an arena is named for it on purpose.
    """
    text = option or os.environ.get(PROXY, _kept_proxy).strip()
    return Proxy.parse(text) if text else None


_kept_proxy = ""


def keep_proxy() -> None:
    """Keep the environment's proxy for this process, which is about to remove the variable."""
    global _kept_proxy  # noqa: PLW0603 - of the process, as its environment
    _kept_proxy = os.environ.get(PROXY, _kept_proxy)


@contextmanager
def override_proxy_during_block(option: str | None) -> Iterator[None]:
    """Let `resolve_proxy` return the proxy of an option while the block runs, if there is one."""
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
    through = proxy_for_url(url, proxy, secret=secret)
    if through is not None:
        session.proxies = {"http": through.url, "https": through.url}
    return session


def proxy_failure(target: str, proxy: Proxy | None, error: Exception) -> Unreachable | None:
    """Return the error of a request that failed at the proxy, or None if it did not."""
    return None if proxy is None else error_from_proxy_failure(target, proxy, error, writes=False)
