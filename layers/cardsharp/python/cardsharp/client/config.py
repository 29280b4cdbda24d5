"""Configuration of a client: address, credentials, proxy and request limits."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

from cardsharp.core.limits import LONG_POLL_TIMEOUT
from cardsharp.core.redaction import register_secrets
from cardsharp.errors import ConfigError

MAX_NAME_LENGTH = 100  # characters that a player's name may have
_LOCAL_DOMAIN_SUFFIXES = (".local", ".lan", ".internal", ".home.arpa")


@dataclass(frozen=True, slots=True)
class Proxy:
    """HTTP proxy between this machine and an arena; only `url` has its user and password.

    Its text is scheme, host and port. The password is redacted from every log.
    """

    url: str = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the proxy of an address; raise `ConfigError`, which contains no password.

        A proxy is sent its password before anything else. So one with a password has an https
        address, unless it runs on this machine.
        """
        try:
            url_parts = urlsplit(text if "://" in text else f"http://{text}")
            host, user, _ = url_parts.hostname, url_parts.username, url_parts.port
        except ValueError:
            host, user = None, None
        if not host or url_parts.scheme not in {"http", "https"} or url_parts.path.strip("/"):
            raise ConfigError(
                "The address of the proxy must look like http://proxy.example:3128 or "
                "https://USER:PASSWORD@proxy.example:3128; other kinds, such as socks5, are not "
                "supported. Write special characters of the password in percent form, @ as %40."
            )
        if user is not None and url_parts.scheme == "http" and not _is_loopback(host):
            raise ConfigError(
                f"http://{host} would get the password of the proxy unencrypted. Give the proxy as "
                "https://..., or without user and password, or run a proxy on this machine that "
                "adds them."
            )
        register_secrets(
            *(
                secret
                for password in (url_parts.password or "",)
                for secret in (password, unquote(password))
            )
        )
        return cls(url_parts.geturl())

    def __str__(self) -> str:
        url_parts = urlsplit(self.url)
        return f"{url_parts.scheme}://{url_parts.netloc.rpartition('@')[2]}"


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Address of an arena or service, with the CA file to trust and the proxy to use.

    The certificates in `ca_file` are trusted instead of the usual ones. `allow_plain_http`
    allows http to a private network, where anybody in that network can read the password.
    """

    url: str
    ca_file: Path | None = None
    allow_plain_http: bool = False
    proxy: Proxy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """Limits of a request: timeouts, retries and sizes.

    `read_timeout`, `long_poll_timeout` and `action_timeout` hold for a complete response, to
    its last byte; a server that falls silent in the middle is given up at twice the limit at
    the latest. `long_poll_timeout` must be above the server's 30 s. A write is sent within
    `connect_timeout` of its call, or not at all. `total_timeout` bounds a read with all its
    retries; a long poll gets it in addition. `max_throttle_delay` is the longest delay by which
    the server slows a client down on purpose (docs/spec/arena.md section 2).
    """

    connect_timeout: timedelta = timedelta(seconds=3)
    read_timeout: timedelta = timedelta(seconds=10)
    long_poll_timeout: timedelta = LONG_POLL_TIMEOUT
    action_timeout: timedelta = timedelta(seconds=3)
    total_timeout: timedelta = timedelta(seconds=20)
    max_throttle_delay: timedelta = timedelta(seconds=10)
    max_attempts: int = 5
    backoff: timedelta = timedelta(milliseconds=200)
    max_backoff: timedelta = timedelta(seconds=5)
    max_body_bytes: int = 2 * 1024 * 1024


def normalize_base_url(base_url: str, *, insecure: bool = False) -> str:
    """Return the arena's address without a slash or `/api` at its end.

    Raises `ConfigError` if it is not an address, contains a password, or would send the password
    over http to another machine. With `insecure`, http is allowed within a private network.
    """
    try:
        url_parts = urlsplit(base_url)
        host, user, _ = url_parts.hostname, url_parts.username, url_parts.port
    except ValueError:
        host, user = None, None
    if user is not None:
        raise ConfigError("The address holds a user or password; give them separately.")
    if (
        not host
        or url_parts.scheme not in {"http", "https"}
        or url_parts.query
        or url_parts.fragment
    ):
        raise ConfigError("The address must look like https://example.org.")
    if url_parts.scheme == "http" and not (_is_private(host) if insecure else _is_loopback(host)):
        network = "a private network" if insecure else "this machine"
        raise ConfigError(
            f"http://{host} would send the password unencrypted; use https "
            f"(http is allowed for {network} only)."
        )
    return base_url.rstrip("/").removesuffix("/api")


def proxy_for_url(url: str, proxy: Proxy | None, *, secret: bool = True) -> Proxy | None:
    """Return the proxy for requests to an address; None if the address is on this machine.

    Raises `ConfigError` for http through a proxy if something `secret` is sent, because the
    proxy would read it.
    """
    url_parts = urlsplit(url)
    if proxy is None or _is_loopback(url_parts.hostname or ""):
        return None
    if secret and url_parts.scheme == "http":
        raise ConfigError(
            f"The proxy {proxy} would read the password, which http://{url_parts.hostname} gets "
            "unencrypted. Give an https address, or leave the proxy out (--proxy, CARDSHARP_PROXY)."
        )
    return proxy


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _is_private(host: str) -> bool:
    """Return True if a host is in a private network, by its address or by its domain."""
    with suppress(ValueError):
        return ip_address(host).is_private
    return "." not in host or host.lower().endswith(_LOCAL_DOMAIN_SUFFIXES)
