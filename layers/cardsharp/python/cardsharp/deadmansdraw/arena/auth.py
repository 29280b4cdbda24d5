"""Basic and Digest authentication (RFC 7617, RFC 7616 with MD5 and qop=auth)."""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from datetime import timedelta

from cardsharp.access import REALM, ha1
from cardsharp.cloud.clock import Now
from cardsharp.deadmansdraw.arena.players import Book, User

NONCE_LIFE = timedelta(minutes=10)
_STAMP_BYTES = 5
_CHANCE_BYTES = 8
_COUNT = re.compile("[0-9a-fA-F]{8}")
_FIELD = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')


class BoundRequest:
    """What a request's credentials say, and the parts of it that they are bound to.

    `malformed` are those that are no credentials at all: a 400, and nobody is asked again.
    """

    def __init__(self, method: str, target: str, authorization: str) -> None:
        self.method, self.target = method, target
        self.is_signed = bool(authorization)
        scheme, separator, rest = authorization.partition(" ")
        self.scheme = scheme.lower()
        if self.scheme == "basic":
            self.name, colon, self.password = _decoded(rest).partition(":")
            self.malformed = not colon
            return
        found = _FIELD.findall(rest)
        self.fields: dict[str, str] = {name.lower(): text or bare for name, text, bare in found}
        self.name = self.fields.get("username", "")
        if self.scheme == "digest":
            self.malformed = not self.name or self.fields.get("uri") != target
        else:
            self.malformed = self.is_signed and not separator


class Gatekeeper:
    """Tells users from strangers, and what a stranger is to be asked.

    Nonces are sealed with `key`: several that have the same know each other's. Which counts were
    used each knows of itself alone.
    """

    def __init__(self, book: Book, clock: Now, key: Callable[[], bytes]) -> None:
        self._book = book
        self._clock = clock
        self._key = key
        self._counts: dict[str, int] = {}
        """The highest count that each nonce was answered with, the oldest nonce first."""
        # A stranger's proof is compared with this one, which nobody knows, and takes as long.
        self._nobody = secrets.token_hex(16)

    def user(self, asked: BoundRequest) -> User | None:
        """The user whose credentials these are, None where they are wrong, old or missing."""
        if asked.malformed:
            return None
        checks = {"basic": self._is_password, "digest": self._is_new_answer}
        check = checks.get(asked.scheme)
        return self._book.user(asked.name) if check is not None and check(asked) else None

    def named(self, asked: BoundRequest) -> str | None:
        """Whom the credentials are of, right or wrong, or "nobody"; None where there are none."""
        if asked.malformed or not asked.is_signed:
            return None
        return "nobody" if self._book.proof_of(asked.name) is None else asked.name

    def is_stale(self, asked: BoundRequest) -> bool:
        """Whether it is a right answer to a nonce that has expired or was answered before."""
        return asked.scheme == "digest" and self._is_answer(asked)

    def challenges(self, asked: BoundRequest) -> tuple[str, str]:
        """The values of the two WWW-Authenticate headers.

        A right answer is called stale where the nonce has expired or its count does not rise, so
        that a browser answers the new one by itself instead of asking its user again.
        """
        return (
            f'Digest realm="{REALM}", nonce="{self._nonce()}", qop="auth"'
            + (", stale=true" if self.is_stale(asked) else ""),
            f'Basic realm="{REALM}"',
        )

    def _is_password(self, asked: BoundRequest) -> bool:
        return hmac.compare_digest(ha1(asked.name, asked.password), self._proof(asked))

    def _is_answer(self, asked: BoundRequest) -> bool:
        """Whether the user's password answers the nonce, however old that is."""
        fields = asked.fields
        if fields.get("uri") != asked.target or fields.get("qop") != "auth":
            return False
        middle = ":".join(fields.get(part, "") for part in ("nonce", "nc", "cnonce", "qop"))
        bound = _md5(f"{asked.method}:{asked.target}")
        expected = _md5(f"{self._proof(asked)}:{middle}:{bound}")
        return hmac.compare_digest(fields.get("response", "").encode(), expected.encode())

    def _is_new_answer(self, asked: BoundRequest) -> bool:
        """Whether it answers a fresh nonce, never answered with this count or a higher."""
        nonce, count = asked.fields.get("nonce", ""), asked.fields.get("nc", "")
        if not self._fresh(nonce) or not _COUNT.fullmatch(count) or not self._is_answer(asked):
            return False
        if int(count, 16) <= self._counts.get(nonce, 0):
            return False
        while self._counts and not self._fresh(oldest := next(iter(self._counts))):
            self._counts.pop(oldest, None)
        self._counts[nonce] = int(count, 16)
        return True

    def _proof(self, asked: BoundRequest) -> str:
        known = self._book.proof_of(asked.name)
        return self._nobody if known is None else known

    def _nonce(self) -> str:
        """A nonce of its own for each who is asked; it carries its time and its seal."""
        stamp = int(self._clock().timestamp()).to_bytes(_STAMP_BYTES)
        text = stamp + secrets.token_bytes(_CHANCE_BYTES)
        return base64.urlsafe_b64encode(text + self._seal(text)).decode()

    def _fresh(self, nonce: str) -> bool:
        try:
            raw = base64.urlsafe_b64decode(nonce.encode())
        except (binascii.Error, ValueError):
            return False
        end = _STAMP_BYTES + _CHANCE_BYTES
        text, seal = raw[:end], raw[end:]
        age = self._clock().timestamp() - int.from_bytes(text[:_STAMP_BYTES])
        # A nonce is stamped in whole seconds, so it can seem to be a little in the future.
        young = -1 <= age <= NONCE_LIFE.total_seconds()
        return young and hmac.compare_digest(seal, self._seal(text))

    def _seal(self, text: bytes) -> bytes:
        return hmac.digest(self._key(), text, "sha256")[:19]


def _decoded(token: str) -> str:
    try:
        return base64.b64decode(token.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def _md5(text: str) -> str:
    # Digest authentication is defined with MD5; nothing else here relies on it.
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
