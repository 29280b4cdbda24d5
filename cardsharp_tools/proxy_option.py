"""The proxy that a user names: the option --proxy, or a variable of the environment."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from cardsharp.client.config import Proxy

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
