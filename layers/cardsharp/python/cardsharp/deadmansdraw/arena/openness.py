"""Who can reach an arena, and how: this machine, everybody by TLS, or a private network without."""

import ssl
from ipaddress import IPv6Address, ip_address

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from cardsharp.deadmansdraw.arena.config import ArenaConfig
from cardsharp.errors import ConfigError


def check_openness(config: ArenaConfig) -> None:
    """Refuse settings by which passwords could be read on the way.

    Raises `ConfigError` if the certificate cannot be used, or there is none and other machines are
    listened to.
    """
    if config.tls is not None:
        certificate, key = config.tls
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        except OSError as error:
            raise ConfigError(
                f"The certificate {certificate} and its key {key} cannot be used: "
                f"{error.strerror or error}. docs/arena.md says how to make these PEM files."
            ) from None
    elif not config.insecure and not _is_here(config.host):
        raise ConfigError(
            f"On {config.host} passwords would cross the network in the clear. Give --tls CERT "
            "KEY, or put a proxy with TLS before an arena on 127.0.0.1, or say --insecure for a "
            "private network."
        )


class PrivateOnly:
    """ASGI middleware: only clients of this machine or of a private network are answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and not _is_private(scope["client"][0]):
            refusal = PlainTextResponse("This arena is for its private network only.\n", 403)
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_private(host: str) -> bool:
    address = ip_address(host)
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_private
