"""Basic and Digest authentication (RFC 7617, RFC 7616 with MD5 and qop=auth)."""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from datetime import timedelta

from cardsharp.core.clock import TimeSource
from cardsharp.core.credentials import DIGEST_REALM, digest_ha1
from cardsharp.games.deadmansdraw.arena.access.users import User, UserDirectory

NONCE_TTL = timedelta(minutes=10)
_TIMESTAMP_BYTES = 5
_RANDOM_BYTES = 8
_NONCE_COUNT_PATTERN = re.compile("[0-9a-fA-F]{8}")
_FIELD_PATTERN = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')


class AuthRequest:
    """Credentials of a request, and the parts of the request that they are bound to.

    `malformed` is True if the header holds no valid credentials: the response is a 400 and no
    further challenge is sent.
    """

    def __init__(self, method: str, target: str, authorization: str) -> None:
        self.method, self.target = method, target
        self.is_signed = bool(authorization)
        scheme, separator, rest = authorization.partition(" ")
        self.scheme = scheme.lower()
        if self.scheme == "basic":
            self.name, colon, self.password = _decode_credentials(rest).partition(":")
            self.malformed = not colon
            return
        matches = _FIELD_PATTERN.findall(rest)
        self.fields: dict[str, str] = {
            name.lower(): quoted or bare for name, quoted, bare in matches
        }
        self.name = self.fields.get("username", "")
        if self.scheme == "digest":
            self.malformed = not self.name or self.fields.get("uri") != target
        else:
            self.malformed = self.is_signed and not separator


class Authenticator:
    """Authentication of requests, and the challenges for requests without valid credentials.

    Nonces are authenticated with `nonce_key`: authenticators with the same key accept each
    other's. The counts that were used are recorded by each authenticator alone.
    """

    def __init__(
        self, users: UserDirectory, clock: TimeSource, nonce_key: Callable[[], bytes]
    ) -> None:
        self._users = users
        self._clock = clock
        self._nonce_key = nonce_key
        self._nonce_counts: dict[str, int] = {}
        """The highest request count used with each nonce, the oldest nonce first."""
        # The credentials of an unknown user are compared with this random proof. The comparison
        # takes as long as for a known user, so response times do not reveal which users exist.
        self._decoy_ha1 = secrets.token_hex(16)

    def authenticate(self, request: AuthRequest) -> User | None:
        """Return the user of these credentials; None if they are wrong, expired or missing."""
        if request.malformed:
            return None
        checks = {"basic": self._is_password_correct, "digest": self._is_new_digest}
        check = checks.get(request.scheme)
        return self._users.user(request.name) if check is not None and check(request) else None

    def claimed_user(self, request: AuthRequest) -> str | None:
        """Return the user name of the credentials, right or wrong; None without credentials.

        An unknown name becomes "nobody".
        """
        if request.malformed or not request.is_signed:
            return None
        return "nobody" if self._users.digest_ha1_of(request.name) is None else request.name

    def has_stale_nonce(self, request: AuthRequest) -> bool:
        """Return True if the digest is correct but its nonce has expired or was used already."""
        return request.scheme == "digest" and self._is_digest_correct(request)

    def challenges(self, request: AuthRequest) -> tuple[str, str]:
        """Return the values of the two WWW-Authenticate headers.

        A correct digest is reported as stale if its nonce has expired or its count does not
        rise. A browser then answers the new nonce by itself instead of asking its user again.
        """
        return (
            f'Digest realm="{DIGEST_REALM}", nonce="{self._create_nonce()}", qop="auth"'
            + (", stale=true" if self.has_stale_nonce(request) else ""),
            f'Basic realm="{DIGEST_REALM}"',
        )

    def _is_password_correct(self, request: AuthRequest) -> bool:
        return hmac.compare_digest(
            digest_ha1(request.name, request.password), self._find_expected_ha1(request)
        )

    def _is_digest_correct(self, request: AuthRequest) -> bool:
        """Return True if the digest matches the user's password, at any age of the nonce."""
        fields = request.fields
        if fields.get("uri") != request.target or fields.get("qop") != "auth":
            return False
        middle = ":".join(
            fields.get(field_name, "") for field_name in ("nonce", "nc", "cnonce", "qop")
        )
        bound = _md5(f"{request.method}:{request.target}")
        expected = _md5(f"{self._find_expected_ha1(request)}:{middle}:{bound}")
        return hmac.compare_digest(fields.get("response", "").encode(), expected.encode())

    def _is_new_digest(self, request: AuthRequest) -> bool:
        """Return True if the digest is correct, its nonce fresh and its count not used yet.

        A count is used once the same or a higher one was accepted.
        """
        nonce, count = request.fields.get("nonce", ""), request.fields.get("nc", "")
        if (
            not self._is_nonce_fresh(nonce)
            or not _NONCE_COUNT_PATTERN.fullmatch(count)
            or not self._is_digest_correct(request)
        ):
            return False
        if int(count, 16) <= self._nonce_counts.get(nonce, 0):
            return False
        while self._nonce_counts and not self._is_nonce_fresh(
            oldest := next(iter(self._nonce_counts))
        ):
            self._nonce_counts.pop(oldest, None)
        self._nonce_counts[nonce] = int(count, 16)
        return True

    def _find_expected_ha1(self, request: AuthRequest) -> str:
        stored_proof = self._users.digest_ha1_of(request.name)
        return self._decoy_ha1 if stored_proof is None else stored_proof

    def _create_nonce(self) -> str:
        """Return a new nonce, which contains its time and its signature."""
        stamp = int(self._clock().timestamp()).to_bytes(_TIMESTAMP_BYTES)
        payload = stamp + secrets.token_bytes(_RANDOM_BYTES)
        return base64.urlsafe_b64encode(payload + self._sign_nonce(payload)).decode()

    def _is_nonce_fresh(self, nonce: str) -> bool:
        try:
            raw = base64.urlsafe_b64decode(nonce.encode())
        except (binascii.Error, ValueError):
            return False
        end = _TIMESTAMP_BYTES + _RANDOM_BYTES
        payload, seal = raw[:end], raw[end:]
        age = self._clock().timestamp() - int.from_bytes(payload[:_TIMESTAMP_BYTES])
        # A nonce is stamped in whole seconds, so it can seem to be a little in the future.
        young = -1 <= age <= NONCE_TTL.total_seconds()
        return young and hmac.compare_digest(seal, self._sign_nonce(payload))

    def _sign_nonce(self, payload: bytes) -> bytes:
        return hmac.digest(self._nonce_key(), payload, "sha256")[:19]


def _decode_credentials(token: str) -> str:
    try:
        return base64.b64decode(token.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def _md5(text: str) -> str:
    # Digest authentication is defined with MD5; nothing else here relies on it.
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
