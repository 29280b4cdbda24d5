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
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from typing import Self

import requests
import stamina
import urllib3
from requests.auth import AuthBase, HTTPBasicAuth

from cardsharp.client.config import RequestLimits, ServiceAddress, normalize_base_url, proxy_for_url
from cardsharp.client.connection_errors import (
    error_from_connection_failure,
    is_connect_failure,
    is_timeout,
)
from cardsharp.client.connections import DeadlineWatchdog, NoRetryAdapter, RequestBodyWithDeadline
from cardsharp.client.digest_auth import LimitedDigestAuth
from cardsharp.client.proxy_errors import error_from_proxy_failure
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
)

_log = logging.getLogger("cardsharp.arena")

_CHUNK_BYTES = 64 * 1024
_WATCHDOG_GRACE = timedelta(seconds=0.5)  # from a request's limit until it is shut down


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
    """HTTP transport of a user's requests to an arena; for one thread at a time.

    Without credentials it sends anonymous requests. `counts` counts all requests by kind,
    and the retries among them as "retries". `session_state` is the state that all sessions
    of a user at this arena share.

    The shared budget delays a request in favour of more important ones. An action is
    exempt, because it must not wait once it is decided: its caller has waited for the
    budget before. When the budget is used up, the server delays each further request by at
    most 10 s. That is no failure, so timeouts are then extended by
    `RequestLimits.max_throttle_delay`; it is logged once per window and counted as
    "slowed". The same holds while the answers come late without a stated limit: a slow
    server is not a dead one, and a request that is given up and sent again only waits
    longer.
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
        self._base_url = normalize_base_url(
            service_address.url, insecure=service_address.allow_plain_http
        )
        self._proxy = proxy_for_url(self._base_url, service_address.proxy)
        self._limits = limits
        self._session = requests.Session()
        self._session.trust_env = False
        if self._proxy is not None:
            self._session.proxies = {"https": self._proxy.url}
        # Otherwise requests would follow a redirect and read its whole body, without any limit.
        self._session.get_redirect_target = lambda _: None  # type: ignore[assignment]
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, NoRetryAdapter(limits))
        if service_address.ca_file is not None:
            if not service_address.ca_file.is_file():
                raise ConfigError(
                    f"The file of certificates {service_address.ca_file} cannot be found."
                )
            self._session.verify = str(service_address.ca_file)
        self._use_digest_auth = use_digest_auth
        self._auth: AuthBase | None = None
        self._secrets: tuple[str, ...] = ()
        if credentials is not None:
            self.set_credentials(credentials)
        self._watchdog = DeadlineWatchdog()
        self.session_state = ClientSessionState() if session_state is None else session_state
        self.counts = self.session_state.request_counts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._base_url!r})"

    def set_credentials(self, credentials: Credentials) -> None:
        """Use these credentials from now on."""
        user, password = credentials.user, credentials.password
        # Bytes, because requests would encode text as Latin-1 and fail on other characters.
        basic = HTTPBasicAuth(user.encode(), password.encode())
        self._auth = LimitedDigestAuth(user, password) if self._use_digest_auth else basic
        # Errors must not contain the password, nor its form in the Basic header.
        self._secrets += password, b64encode(f"{user}:{password}".encode()).decode()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def send(self, request: ArenaRequest) -> ArenaResponse:
        """Return the response to `request`.

        Raises `ArenaError`; its `outcome_unknown` is True if a write may have been carried out.
        """
        limit = request.timeout
        if self.session_state.is_late_or_throttled:
            self.counts["slowed"] += 1
            limit += self._limits.max_throttle_delay
        limit = min(limit, request.max_timeout)
        if request.is_write:
            return self._send_once(request, limit)
        total = (
            limit + self._limits.total_timeout
            if request.is_long_poll
            else max(limit, self._limits.total_timeout)
        )
        retry_policy = RetryPolicy(total, self._limits.backoff, self._limits.max_backoff)
        attempts = stamina.retry_context(
            on=retry_policy, attempts=self._limits.max_attempts, timeout=None
        )
        for attempt in attempts.with_name(str(request), (), {}):  # for the log line of a retry
            with attempt:
                self.counts["retries"] += attempt.num > 1
                return self._send_once(request, min(limit, retry_policy.remaining_time))
        raise AssertionError("stamina returns or raises")

    def _send_once(self, request: ArenaRequest, limit: timedelta) -> ArenaResponse:
        """Send the request once, when the budget permits; no library retries it."""
        session_state, clock = self.session_state, self.session_state.clock
        if request.priority is not RequestPriority.ACT:
            session_state.wait_for_budget(
                request.priority, clock.monotonic() + request.max_budget_wait.total_seconds()
            )
        deadline = time.monotonic() + limit.total_seconds()
        self.counts[request.metric_name] += 1
        sent_at = clock.monotonic()
        request_number = session_state.request_budget.record_sent(sent_at)
        try:
            with (
                self._watchdog.enforce_timeout(limit + _WATCHDOG_GRACE),
                self._start_request(request, limit) as response,
            ):
                self.counts[request.metric_name] += len(response.history)  # a Digest challenge
                self._update_from_headers(request, response.headers, request_number, sent_at)
                body = self._read_body(request, response, deadline)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            if self._watchdog.has_expired or (is_timeout(error) and not is_connect_failure(error)):
                self._record_response_time(request, sent_at)
            if self._watchdog.has_expired:
                raise _too_slow_error(request) from error
            raise self._build_connection_error(request, error, limit) from error
        if response.status_code < requests.codes.ok:
            # After a 1xx the real response still comes. On this connection it would be taken for
            # the response to the next request.
            self._session.close()
        if response.status_code in request.accepted_statuses:
            return ArenaResponse(response.status_code, body, response.headers)
        raise error_from_response(response, body, self._secrets, is_write=request.is_write)

    def _update_from_headers(
        self, request: ArenaRequest, headers: Mapping[str, str], request_number: int, sent_at: float
    ) -> None:
        """Update the remote clock and the request budget from a response's headers."""
        session_state, date = self.session_state, None
        with suppress(ValueError, OverflowError):
            date = parsedate_to_datetime(headers.get("Date", "")).replace(tzinfo=UTC)
        answered = session_state.clock.monotonic()
        if not request.is_long_poll and date is not None:
            session_state.remote_clock.update_from_date_header(date, sent_at, answered)
        slowed = session_state.update_budget_from_headers(headers, request_number, date)
        if slowed is not None:
            _log.warning("The arena slows us down until %s.", slowed.isoformat())
        # After the headers, which tell whether the stated limit explains the delay.
        self._record_response_time(request, sent_at)

    def _record_response_time(self, request: ArenaRequest, sent_at: float) -> None:
        """Record the duration of a short request; that of a long poll depends on its event."""
        if not request.is_long_poll:
            current_time = self.session_state.clock.monotonic()
            self.session_state.request_budget.record_latency(current_time - sent_at, current_time)

    def _build_connection_error(
        self, request: ArenaRequest, error: Exception, limit: timedelta
    ) -> ArenaError:
        """Return the error of a failed request, whether it failed at the proxy or behind it."""
        fault = error_from_connection_failure(str(request), error, limit, writes=request.is_write)
        if self._proxy is None:
            return fault
        at_proxy = error_from_proxy_failure(
            str(request), self._proxy, error, writes=request.is_write
        )
        if at_proxy is None:
            fault.args = (f"{fault} The connection goes through the proxy {self._proxy}.",)
        return at_proxy or fault

    def _start_request(self, request: ArenaRequest, limit: timedelta) -> requests.Response:
        connect = min(self._limits.connect_timeout, limit).total_seconds()
        # Compressed bodies could grow beyond the size limit while they are unpacked.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        data: RequestBodyWithDeadline | None = None
        if request.body is not None:
            headers["Content-Type"] = "application/json"
            data = RequestBodyWithDeadline(str(request), request.body, time.monotonic() + connect)
        return self._session.request(
            request.method,
            self._base_url + request.path,
            params=request.params,
            data=data,
            headers=headers,
            auth=self._auth,
            # The type stubs of requests lack urllib3's timeout, which also limits the total.
            timeout=urllib3.Timeout(  # type: ignore[arg-type]
                total=limit.total_seconds(), connect=connect
            ),
            allow_redirects=False,
            stream=True,
        )

    def _read_body(
        self, request: ArenaRequest, response: requests.Response, deadline: float
    ) -> bytes:
        """Return the body; check its size and the time at each chunk."""
        body = bytearray()
        # read1 returns what is there; read(n) would wait for n bytes, however slow they drip.
        while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=False):
            body += chunk
            if len(body) > self._limits.max_body_bytes:
                limit = f"more than {self._limits.max_body_bytes:,} bytes"
                raise ResponseTooLarge(
                    f"{request}: the response is too long, {limit}.",
                    outcome_unknown=request.is_write,
                )
            if time.monotonic() > deadline:
                raise _too_slow_error(request)
        # A body without a length ends with its connection. If the watchdog has shut it down, the
        # body is incomplete although it looks complete.
        if self._watchdog.has_expired:
            raise _too_slow_error(request)
        return bytes(body)


class ServiceClient:
    """A player's requests to one arena or service; for one thread at a time, closed by `with`."""

    def __init__(self, transport: ArenaTransport, limits: RequestLimits) -> None:
        self._transport, self._limits = transport, limits

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


def _too_slow_error(request: ArenaRequest) -> Unreachable:
    return Unreachable(f"{request}: the answer came too slowly.", outcome_unknown=request.is_write)
