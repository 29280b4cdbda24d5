"""Errors of requests that got no answer, or an incomplete one."""

from datetime import timedelta
from ssl import SSLCertVerificationError

import requests
import urllib3

from cardsharp.errors import ArenaError, Unreachable, UntrustedCertificate


def error_from_connection_failure(
    request: str, error: Exception, limit: timedelta, *, writes: bool
) -> ArenaError:
    """Return the error of a request without an answer, with its reason in one sentence.

    Its `outcome_unknown` is True if it `writes` and may have arrived.
    """
    outcome_unknown = writes and not is_connect_failure(error)
    if is_connect_failure(error):
        problem = "no connection; is the server running, and is the address right?"
    elif is_timeout(error):
        problem = f"no answer within {limit.total_seconds():g} s."
    elif isinstance(error, requests.exceptions.SSLError):
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        if any(
            isinstance(cause, SSLCertVerificationError) for cause in getattr(reason, "args", ())
        ):
            message = (
                f"{request}: its certificate is not trusted here; name its CA file, "
                "with --ca-file FILE."
            )
            return UntrustedCertificate(message, outcome_unknown=outcome_unknown)
        problem = "no trusted connection; check the certificate and the address."
    else:
        problem = "the connection broke before the response was complete."
    return Unreachable(f"{request}: {problem}", outcome_unknown=outcome_unknown)


def is_timeout(error: Exception) -> bool:
    """Return True if the time of a request was up, to connect or to answer."""
    return isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError)


def is_connect_failure(error: Exception) -> bool:
    """Return True if no connection was made, so that the arena cannot have seen the request."""
    if isinstance(error, requests.ConnectTimeout):
        return True
    cause = error.args[0] if error.args else None
    reason = getattr(cause, "reason", None)
    return isinstance(reason, urllib3.exceptions.NewConnectionError)
