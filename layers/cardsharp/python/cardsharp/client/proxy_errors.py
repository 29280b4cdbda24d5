"""Errors of an HTTP proxy between this machine and an arena, in sentences that say what to do."""

from collections.abc import Iterator
from ssl import SSLCertVerificationError

import requests
import urllib3

from cardsharp.client.config import Proxy
from cardsharp.errors import Unreachable, UntrustedCertificate

_TUNNEL_FAILURE_PREFIX = (
    "Tunnel connection failed: "  # begins urllib3's error for any answer but 200
)
_AUTH_REQUIRED_STATUS = "407"
_NO_TLS_TEXTS = ("wrong version number", "record layer failure")


def error_from_proxy_failure(
    call: str, proxy: Proxy, error: Exception, *, writes: bool
) -> Unreachable | None:
    """Return the error of a request that failed at the proxy; None if it may have passed.

    urllib3 also reports a connection that broke after the request was sent as a proxy error.
    Such an error is not included, because the arena may have carried the request out.
    """
    if not isinstance(error, requests.exceptions.ProxyError):
        return None
    for cause in _iter_causes(error):
        if isinstance(cause, urllib3.exceptions.ConnectTimeoutError | OSError) and (
            reason := _describe_connect_failure(proxy, cause)
        ):
            return Unreachable(f"{call}: {reason}")
        if isinstance(cause, SSLCertVerificationError):
            reason = f"the certificate of the proxy {proxy} is not trusted here; name its CA file"
            return UntrustedCertificate(
                f"{call}: {reason}, with --ca-file FILE.", outcome_unknown=writes
            )
        if any(words in str(cause).lower().replace("_", " ") for words in _NO_TLS_TEXTS):
            reason = f"{proxy} does not speak TLS; its address may have to begin with http://."
            return Unreachable(f"{call}: {reason}", outcome_unknown=writes)
    return None


def _describe_connect_failure(proxy: Proxy, cause: Exception) -> str | None:
    """Return a sentence on a proxy failure before the request was sent, else None."""
    error_message = str(cause)
    if error_message.startswith(_TUNNEL_FAILURE_PREFIX):
        response = error_message.removeprefix(_TUNNEL_FAILURE_PREFIX)
        if response.startswith(_AUTH_REQUIRED_STATUS):
            return (
                f"the proxy {proxy} refuses the user and password, or wants some; write them into "
                "CARDSHARP_PROXY, as https://USER:PASSWORD@HOST:PORT."
            )
        return (
            f"the proxy {proxy} makes no connection to it and answered {response}. Check the "
            "arena's address; whoever runs the proxy can say whether it allows this address."
        )
    if isinstance(cause, urllib3.exceptions.ConnectTimeoutError):  # also a refusal, or no such name
        return (
            f"no connection to the proxy {proxy}; check its address (--proxy or CARDSHARP_PROXY) "
            "and whether this machine reaches it."
        )
    return None


def _iter_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors inside an error of the library requests, the outermost first."""
    pending = [error]
    while pending:
        current = pending.pop(0)
        yield current
        wrapped = (getattr(current, "reason", None), *current.args)
        pending += [each for each in wrapped if isinstance(each, BaseException)]
