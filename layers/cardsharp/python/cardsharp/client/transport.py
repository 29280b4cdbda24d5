"""HTTP client of an arena with limits of time and size; every failure is an `ArenaError`.

It is independent of any game. Reads (GET) are retried on certain errors only, see
`RetryPolicy`. **Writes (POST, DELETE) are sent once and never again**: `requests` and urllib3
are configured without retries. The only second request is the answer to a Digest challenge, and
a challenged request was not carried out. A request that failed is not delivered late either,
see `connections`.

Proxies and .netrc of the environment are ignored (`trust_env` is off): the password goes to the
configured address only, and no request spends time on reading the environment. A proxy in the
`ServiceAddress` is asked for a tunnel (CONNECT), in which TLS reaches to the arena.
"""

import logging
import re
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from ssl import SSLCertVerificationError
from typing import Self

import requests
import stamina
import urllib3
from requests.auth import AuthBase, HTTPBasicAuth, HTTPDigestAuth
from requests.utils import parse_dict_header

from cardsharp.client.config import RequestLimits, ServiceAddress, normalize_base_url, proxy_to
from cardsharp.client.connections import DeadlineBody, DeadlineWatchdog, NoRetryAdapter
from cardsharp.client.proxy_errors import proxy_error
from cardsharp.client.request_budget import RequestPriority
from cardsharp.client.response_errors import error_from_response
from cardsharp.client.retry_policy import RetryPolicy
from cardsharp.client.session_state import ClientSessionState
from cardsharp.core.credentials import Credentials
from cardsharp.errors import (
    ArenaError,
    ConfigError,
    ResponseTooLarge,
    Unreachable,
    UntrustedCertificate,
)

_log = logging.getLogger("cardsharp.arena")

_CHUNK = 64 * 1024
_GRACE = timedelta(seconds=0.5)  # beyond its limit, when a request is cut off
_MAX_CHALLENGE = 4 * 1024  # bytes that a challenge's body may have; requests reads it whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaRequest:
    """One request to an arena.

    `metric_name` is its name in the request counts, and `accepted_statuses` are the statuses
    that are not errors. `timeout` limits one attempt, which never exceeds `max_timeout` even if
    the server throttles us. `is_long_poll` marks a long poll, and `has_side_effects` a GET that
    writes, as an old service has it. According to its `priority` the request budget may delay
    it, for at most `max_budget_wait`.
    """

    metric_name: str
    path: str
    timeout: timedelta
    method: str = "GET"
    params: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    is_long_poll: bool = False
    priority: RequestPriority = RequestPriority.READ
    max_budget_wait: timedelta = timedelta(seconds=1)
    max_timeout: timedelta = timedelta.max
    has_side_effects: bool = False
    accepted_statuses: frozenset[int] = frozenset({200})

    @property
    def is_write(self) -> bool:
        """True if the request may change something at the arena."""
        return self.method != "GET" or self.has_side_effects

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class ArenaResponse:
    """An accepted response; header names are case-insensitive."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class ArenaTransport:
    """Session of a user at an arena; for one thread at a time.

    Without credentials it sends anonymous requests. `counts` counts all requests by kind, and
    the retries among them as "retries". `contact` is the state that all sessions of a user at
    this arena share.

    The shared budget delays a request in favour of more important ones. An action is exempt,
    because it must not wait once it is decided: its caller has waited for the budget before.
    When the budget is used up, the server delays each further request by at most 10 s. That is
    no failure, so timeouts are then extended by `RequestLimits.max_throttle_delay`; it is
    logged once per window and counted as "slowed".
    """

    def __init__(
        self,
        address: str | ServiceAddress,
        credentials: Credentials | None,
        limits: RequestLimits,
        use_digest_auth: bool = False,
        session_state: ClientSessionState | None = None,
    ) -> None:
        service_address = ServiceAddress(address) if isinstance(address, str) else address
        self._base = normalize_base_url(
            service_address.url, insecure=service_address.allow_plain_http
        )
        self._proxy = proxy_to(self._base, service_address.proxy)
        self._limits = limits
        self._session = requests.Session()
        self._session.trust_env = False
        if self._proxy is not None:
            self._session.proxies = {"https": self._proxy.url}
        # Else requests reads where a redirect leads, and its body to the end, without any limit.
        self._session.get_redirect_target = lambda _: None  # type: ignore[assignment]
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, NoRetryAdapter(limits))
        if service_address.ca_file is not None:
            if not service_address.ca_file.is_file():
                raise ConfigError(
                    f"The file of certificates {service_address.ca_file} cannot be found."
                )
            self._session.verify = str(service_address.ca_file)
        self._digest = use_digest_auth
        self._auth: AuthBase | None = None
        self._secrets: tuple[str, ...] = ()
        if credentials is not None:
            self.set_credentials(credentials)
        self._cutter = DeadlineWatchdog()
        self.contact = ClientSessionState() if session_state is None else session_state
        self.counts = self.contact.request_counts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._base!r})"

    def set_credentials(self, credentials: Credentials) -> None:
        """Use these credentials from now on."""
        user, password = credentials.user, credentials.password
        # Bytes, because requests would send text as Latin-1 and fail on the rest of the world.
        basic = HTTPBasicAuth(user.encode(), password.encode())
        self._auth = _Digest(user, password) if self._digest else basic
        # What must not be repeated: the password, and the Basic header's form of it.
        self._secrets += password, b64encode(f"{user}:{password}".encode()).decode()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def send(self, request: ArenaRequest) -> ArenaResponse:
        """Return the response to `request`.

        Raises `ArenaError`; its `doubtful` is True if a write may have been carried out.
        """
        limit = request.timeout
        if self.contact.is_throttled:
            self.counts["slowed"] += 1
            limit += self._limits.max_throttle_delay
        limit = min(limit, request.max_timeout)
        if request.is_write:
            return self._once(request, limit)
        total = (
            limit + self._limits.total_timeout
            if request.is_long_poll
            else max(limit, self._limits.total_timeout)
        )
        patience = RetryPolicy(total, self._limits.backoff, self._limits.max_backoff)
        tries = stamina.retry_context(on=patience, attempts=self._limits.max_attempts, timeout=None)
        for attempt in tries:
            with attempt:
                self.counts["retries"] += attempt.num > 1
                return self._once(request, min(limit, patience.remaining))
        raise AssertionError("stamina returns or raises")

    def _once(self, call: ArenaRequest, limit: timedelta) -> ArenaResponse:
        """Send once, when the budget permits; no library retries below this line."""
        contact, clock = self.contact, self.contact.clock
        if call.priority is not RequestPriority.ACT:
            contact.wait_for_budget(
                call.priority, clock.monotonic() + call.max_budget_wait.total_seconds()
            )
        deadline = time.monotonic() + limit.total_seconds()
        self.counts[call.metric_name] += 1
        sent_at = clock.monotonic()
        number = contact.request_budget.record_sent(sent_at)
        try:
            with self._cutter.limit(limit + _GRACE), self._open(call, limit) as response:
                self.counts[call.metric_name] += len(response.history)  # a Digest challenge
                self._learn(call, response.headers, number, sent_at)
                body = self._read(call, response, deadline)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            if self._cutter.has_cut:
                raise _too_slow(call) from error
            raise self._unreachable(call, error, limit) from error
        if response.status_code < requests.codes.ok:
            # The answer itself is still to come, and would be taken for that to the next question.
            self._session.close()
        if response.status_code in call.accepted_statuses:
            return ArenaResponse(response.status_code, body, response.headers)
        raise error_from_response(response, body, self._secrets, is_write=call.is_write)

    def _learn(
        self, call: ArenaRequest, headers: Mapping[str, str], number: int, sent_at: float
    ) -> None:
        """Update the remote clock and the request budget from a response's headers."""
        contact, date = self.contact, None
        with suppress(ValueError, OverflowError):
            date = parsedate_to_datetime(headers.get("Date", "")).replace(tzinfo=UTC)
        answered = contact.clock.monotonic()
        if not call.is_long_poll:
            contact.request_budget.record_latency(answered - sent_at)
            if date is not None:
                contact.remote_clock.update_from_date_header(date, sent_at, answered)
        slowed = contact.update_from_headers(headers, number, date)
        if slowed is not None:
            _log.warning("The arena slows us down until %s.", slowed.isoformat())

    def _unreachable(self, call: ArenaRequest, error: Exception, limit: timedelta) -> ArenaError:
        """Return the error of a failed request, whether it failed at the proxy or behind it."""
        fault = _unreachable(call, error, limit)
        if self._proxy is None:
            return fault
        at_proxy = proxy_error(str(call), self._proxy, error, writes=call.is_write)
        if at_proxy is None:
            fault.args = (f"{fault} The connection goes through the proxy {self._proxy}.",)
        return at_proxy or fault

    def _open(self, call: ArenaRequest, limit: timedelta) -> requests.Response:
        connect = min(self._limits.connect_timeout, limit).total_seconds()
        # Compressed bodies could grow beyond the size limit while they are unpacked.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        data: DeadlineBody | None = None
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            data = DeadlineBody(str(call), call.body, time.monotonic() + connect)
        return self._session.request(
            call.method,
            self._base + call.path,
            params=call.params,
            data=data,
            headers=headers,
            auth=self._auth,
            # The stubs of requests know no limit for connecting and waiting together.
            timeout=urllib3.Timeout(  # type: ignore[arg-type]
                total=limit.total_seconds(), connect=connect
            ),
            allow_redirects=False,
            stream=True,
        )

    def _read(self, call: ArenaRequest, response: requests.Response, deadline: float) -> bytes:
        """Return the body; its size and the time are checked whenever a part arrives."""
        body = bytearray()
        # read1 returns what is there; read(n) would wait for n bytes, however slow they drip.
        while chunk := response.raw.read1(_CHUNK, decode_content=False):
            body += chunk
            if len(body) > self._limits.max_body_bytes:
                limit = f"more than {self._limits.max_body_bytes:,} bytes"
                raise ResponseTooLarge(
                    f"{call}: the answer is too long, {limit}.", outcome_unknown=call.is_write
                )
            if time.monotonic() > deadline:
                raise _too_slow(call)
        if self._cutter.has_cut:  # where a body ends with its connection, that looks like its end
            raise _too_slow(call)
        return bytes(body)


class ServiceClient:
    """A player's requests to one arena or service; for one thread at a time, closed by `with`."""

    def __init__(self, transport: ArenaTransport, limits: RequestLimits) -> None:
        self._exchange, self._limits = transport, limits

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._exchange.close()


def _too_slow(call: ArenaRequest) -> Unreachable:
    return Unreachable(f"{call}: the answer came too slowly.", outcome_unknown=call.is_write)


class _Digest(HTTPDigestAuth):
    """Digest authentication that answers only complete, short challenges.

    The body of a challenge is read without limits.
    """

    def handle_401(self, r: requests.Response, **kwargs: object) -> requests.Response:
        length = r.headers.get("Content-Length", "")
        challenge = r.headers.get("WWW-Authenticate", "")
        fields = re.sub("digest ", "", challenge, count=1, flags=re.IGNORECASE)
        # The stubs of requests leave this function and the method untyped.
        challenge_params = parse_dict_header(fields)  # type: ignore[no-untyped-call]
        short = length.isdecimal() and int(length) <= _MAX_CHALLENGE
        if r.status_code == requests.codes.unauthorized and not (
            short and {"realm", "nonce"} <= challenge_params.keys()
        ):
            return r
        answer: requests.Response = super().handle_401(r, **kwargs)  # type: ignore[no-untyped-call]
        return answer


def _unreachable(call: ArenaRequest, error: Exception, limit: timedelta) -> ArenaError:
    """Return the error of a failed request in one sentence.

    Its `outcome_unknown` is True if a write may have arrived.
    """
    doubtful = call.is_write and not _never_sent(error)
    if _never_sent(error):
        problem = "no connection; is the server running, and is the address right?"
    elif isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
        problem = f"no answer within {limit.total_seconds():g} s."
    elif isinstance(error, requests.exceptions.SSLError):
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        if any(
            isinstance(cause, SSLCertVerificationError) for cause in getattr(reason, "args", ())
        ):
            message = (
                f"{call}: its certificate is not trusted here; name its CA file, with --ca FILE."
            )
            return UntrustedCertificate(message, outcome_unknown=doubtful)
        problem = "no trusted connection; check the certificate and the address."
    else:
        problem = "the connection broke before the whole answer was there."
    return Unreachable(f"{call}: {problem}", outcome_unknown=doubtful)


def _never_sent(error: Exception) -> bool:
    """Return True if no connection was made, so that the arena cannot have seen the request."""
    if isinstance(error, requests.ConnectTimeout):
        return True
    cause = error.args[0] if error.args else None
    reason = getattr(cause, "reason", None)
    return isinstance(reason, urllib3.exceptions.NewConnectionError)
