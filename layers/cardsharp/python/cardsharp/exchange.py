"""HTTP to an arena within limits of time and size; every failure is an `ArenaError`.

Knows no game. Reads (GET) are repeated on named errors only, see `Patience`. **Writes (POST,
DELETE) are sent once and never again**, by nobody: `requests` and urllib3 retry nothing here.
The only second sending is the answer to a Digest challenge, and what was challenged was not
carried out.

What was sent in vain is not sent later either, see `connections`.

The environment is not asked for proxies or a .netrc (`trust_env` is off): the password goes to
the given address and nowhere else, and no request pays for reading the environment. A proxy that
the `Address` names is asked for a tunnel (CONNECT), in which TLS reaches to the arena.
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

from cardsharp.access import Address, Credentials, Limits, checked_address, proxy_to
from cardsharp.budget import Purpose
from cardsharp.connections import Connections, Cutter, Prompt
from cardsharp.contact import Contact
from cardsharp.errors import ArenaError, ConfigError, TooLong, Unreachable, Untrusted
from cardsharp.proxy_errors import proxy_error
from cardsharp.refusal import Patience, refusal

_log = logging.getLogger("cardsharp.arena")

_CHUNK = 64 * 1024
_GRACE = timedelta(seconds=0.5)  # beyond its limit, when a request is cut off
_MAX_CHALLENGE = 4 * 1024  # bytes that a challenge's body may have; requests reads it whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request; `kind` is its name in the counts, `accept` the statuses that are answers.

    `limit` is for one attempt, which lasts no longer than `most` even where the server slows us
    down; `waits` marks a long poll, and `changes` a GET that writes, as an old service has it.
    By its `purpose` the budget of requests may hold it back, for as long as its `patience`.
    """

    kind: str
    path: str
    limit: timedelta
    method: str = "GET"
    params: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    waits: bool = False
    purpose: Purpose = Purpose.LOOK
    patience: timedelta = timedelta(seconds=1)
    most: timedelta = timedelta.max
    changes: bool = False
    accept: frozenset[int] = frozenset({200})

    @property
    def writes(self) -> bool:
        """Whether it may change something at the arena."""
        return self.method != "GET" or self.changes

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An accepted answer; the names of its headers in any case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Exchange:
    """The one session to an arena; for one thread at a time.

    Without credentials it asks as nobody. `counts` counts every request sent by its kind, and the
    repetitions among them as "retries".
    `contact` is what all sessions of a user at this arena learn from its answers.
    By its budget a request goes when others have gone that matter more; an action, which must not
    wait once it is decided, has asked before. When nothing is left of the budget the server delays
    each further request, at most by 10 s. That is no fault, so limits are longer then by
    `Limits.slow_down`; it is logged once a window and counted as "slowed".
    """

    def __init__(
        self,
        address: str | Address,
        credentials: Credentials | None,
        limits: Limits,
        digest: bool = False,
        contact: Contact | None = None,
    ) -> None:
        where = Address(address) if isinstance(address, str) else address
        self._base = checked_address(where.url, insecure=where.insecure)
        self._proxy = proxy_to(self._base, where.proxy)
        self._limits = limits
        self._session = requests.Session()
        self._session.trust_env = False
        if self._proxy is not None:
            self._session.proxies = {"https": self._proxy.url}
        # Else requests reads where a redirect leads, and its body to the end, without any limit.
        self._session.get_redirect_target = lambda _: None  # type: ignore[assignment]
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, Connections(limits))
        if where.ca is not None:
            if not where.ca.is_file():
                raise ConfigError(f"The file of certificates {where.ca} cannot be found.")
            self._session.verify = str(where.ca)
        self._digest = digest
        self._auth: AuthBase | None = None
        self._secrets: tuple[str, ...] = ()
        if credentials is not None:
            self.sign_in(credentials)
        self._cutter = Cutter()
        self.contact = Contact() if contact is None else contact
        self.counts = self.contact.counts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._base!r})"

    def sign_in(self, credentials: Credentials) -> None:
        """Ask by these credentials from now on."""
        user, password = credentials.user, credentials.password
        # Bytes, because requests would send text as Latin-1 and fail on the rest of the world.
        basic = HTTPBasicAuth(user.encode(), password.encode())
        self._auth = _Digest(user, password) if self._digest else basic
        # What must not be repeated: the password, and the Basic header's form of it.
        self._secrets += password, b64encode(f"{user}:{password}".encode()).decode()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def send(self, call: Call) -> Answer:
        """The answer to `call`; `ArenaError` is `doubtful` where a write may have been done."""
        limit = call.limit
        if self.contact.is_slowed:
            self.counts["slowed"] += 1
            limit += self._limits.slow_down
        limit = min(limit, call.most)
        if call.writes:
            return self._once(call, limit)
        total = limit + self._limits.total if call.waits else max(limit, self._limits.total)
        patience = Patience(total, self._limits.backoff, self._limits.backoff_max)
        tries = stamina.retry_context(on=patience, attempts=self._limits.attempts, timeout=None)
        for attempt in tries:
            with attempt:
                self.counts["retries"] += attempt.num > 1
                return self._once(call, min(limit, patience.left))
        raise AssertionError("stamina returns or raises")

    def _once(self, call: Call, limit: timedelta) -> Answer:
        """Send once, when it is its turn; no retry of any library is left below this line."""
        contact, clock = self.contact, self.contact.clock
        if call.purpose is not Purpose.ACT:
            contact.admit(call.purpose, clock.monotonic() + call.patience.total_seconds())
        deadline = time.monotonic() + limit.total_seconds()
        self.counts[call.kind] += 1
        asked = clock.monotonic()
        number = contact.budget.send(asked)
        try:
            with self._cutter.within(limit + _GRACE), self._open(call, limit) as response:
                self.counts[call.kind] += len(response.history)  # a Digest challenge
                self._learn(call, response.headers, number, asked)
                body = self._read(call, response, deadline)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            if self._cutter.has_cut:
                raise _too_slow(call) from error
            raise self._unreachable(call, error, limit) from error
        if response.status_code < requests.codes.ok:
            # The answer itself is still to come, and would be taken for that to the next question.
            self._session.close()
        if response.status_code in call.accept:
            return Answer(response.status_code, body, response.headers)
        raise refusal(response, body, self._secrets, writes=call.writes)

    def _learn(self, call: Call, headers: Mapping[str, str], number: int, asked: float) -> None:
        """What an answer's head says of the arena's clock and of our budget of requests."""
        contact, date = self.contact, None
        with suppress(ValueError, OverflowError):
            date = parsedate_to_datetime(headers.get("Date", "")).replace(tzinfo=UTC)
        answered = contact.clock.monotonic()
        if not call.waits:
            contact.budget.answered(answered - asked)
            if date is not None:
                contact.far.dated(date, asked, answered)
        slowed = contact.hear(headers, number, date)
        if slowed is not None:
            _log.warning("The arena slows us down until %s.", slowed.isoformat())

    def _unreachable(self, call: Call, error: Exception, limit: timedelta) -> ArenaError:
        """What went wrong on the way, at the proxy or behind it."""
        fault = _unreachable(call, error, limit)
        if self._proxy is None:
            return fault
        at_proxy = proxy_error(str(call), self._proxy, error, writes=call.writes)
        if at_proxy is None:
            fault.args = (f"{fault} The connection goes through the proxy {self._proxy}.",)
        return at_proxy or fault

    def _open(self, call: Call, limit: timedelta) -> requests.Response:
        connect = min(self._limits.connect, limit).total_seconds()
        # Compressed bodies could grow beyond the size limit while they are unpacked.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        data: Prompt | None = None
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            data = Prompt(str(call), call.body, time.monotonic() + connect)
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

    def _read(self, call: Call, response: requests.Response, deadline: float) -> bytes:
        """The body; checked for size and time whenever some of it has arrived."""
        body = bytearray()
        # read1 returns what is there; read(n) would wait for n bytes, however slow they drip.
        while chunk := response.raw.read1(_CHUNK, decode_content=False):
            body += chunk
            if len(body) > self._limits.body:
                limit = f"more than {self._limits.body:,} bytes"
                raise TooLong(f"{call}: the answer is too long, {limit}.", doubtful=call.writes)
            if time.monotonic() > deadline:
                raise _too_slow(call)
        if self._cutter.has_cut:  # where a body ends with its connection, that looks like its end
            raise _too_slow(call)
        return bytes(body)


class Client:
    """A player's requests to one arena or service; for one thread at a time, closed by `with`."""

    def __init__(self, exchange: Exchange, limits: Limits) -> None:
        self._exchange, self._limits = exchange, limits

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._exchange.close()


def _too_slow(call: Call) -> Unreachable:
    return Unreachable(f"{call}: the answer came too slowly.", doubtful=call.writes)


class _Digest(HTTPDigestAuth):
    """Digest that answers only whole, short challenges: their body is read without limits."""

    def handle_401(self, r: requests.Response, **kwargs: object) -> requests.Response:
        length = r.headers.get("Content-Length", "")
        said = r.headers.get("WWW-Authenticate", "")
        fields = re.sub("digest ", "", said, count=1, flags=re.IGNORECASE)
        # The stubs of requests leave this function and the method untyped.
        asked = parse_dict_header(fields)  # type: ignore[no-untyped-call]
        short = length.isdecimal() and int(length) <= _MAX_CHALLENGE
        if r.status_code == requests.codes.unauthorized and not (
            short and {"realm", "nonce"} <= asked.keys()
        ):
            return r
        answer: requests.Response = super().handle_401(r, **kwargs)  # type: ignore[no-untyped-call]
        return answer


def _unreachable(call: Call, error: Exception, limit: timedelta) -> ArenaError:
    """What went wrong on the way, in one sentence, and whether the request may have arrived."""
    doubtful = call.writes and not _never_sent(error)
    if _never_sent(error):
        what = "no connection; is the server running, and is the address right?"
    elif isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
        what = f"no answer within {limit.total_seconds():g} s."
    elif isinstance(error, requests.exceptions.SSLError):
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        if any(isinstance(one, SSLCertVerificationError) for one in getattr(reason, "args", ())):
            said = f"{call}: its certificate is not trusted here; name its CA file, with --ca FILE."
            return Untrusted(said, doubtful=doubtful)
        what = "no trusted connection; check the certificate and the address."
    else:
        what = "the connection broke before the whole answer was there."
    return Unreachable(f"{call}: {what}", doubtful=doubtful)


def _never_sent(error: Exception) -> bool:
    """Whether no connection was made at all, so that nothing can have been carried out."""
    if isinstance(error, requests.ConnectTimeout):
        return True
    cause = error.args[0] if error.args else None
    reason = getattr(cause, "reason", None)
    return isinstance(reason, urllib3.exceptions.NewConnectionError)
