"""Sessions of HTTP that ask the environment for nothing."""

import requests

from cardsharp.client.config import Proxy, proxy_for_url
from cardsharp.client.proxy_errors import error_from_proxy_failure
from cardsharp.errors import Unreachable


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
