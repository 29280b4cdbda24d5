"""Basic and Digest authentication (RFC 7617, RFC 7616 with MD5 and qop=auth)."""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from cardsharp.access import REALM, ha1
from cardsharp.cloud.clock import Now
from cardsharp.deadmansdraw.arena.players import Book, User

NONCE_LIFE = timedelta(minutes=10)
_STAMP_BYTES = 5
_CHANCE_BYTES = 8
_COUNT = re.compile("[0-9a-fA-F]{8}")
_FIELD = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')


@dataclass(frozen=True, slots=True)
class BoundRequest:
    """The parts of a request that its credentials are bound to."""

    method: str
    target: str
    authorization: str


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
        # A stranger's proof is compared with this one, so that it takes as long.
        self._nobody = secrets.token_hex(16)

    def user(self, asked: BoundRequest) -> User | None:
        """The user whose credentials these are, None where they are wrong, old or missing."""
        scheme, _, rest = asked.authorization.partition(" ")
        match scheme.lower():
            case "basic":
                name = self._basic(rest)
            case "digest":
                name = self._counted(_fields(rest), asked)
            case _:
                name = None
        return None if name is None else self._book.user(name)

    def named(self, asked: BoundRequest) -> str | None:
        """Whom the credentials are of, right or wrong, or "nobody"; None where there are none."""
        if not asked.authorization or self.malformed(asked):
            return None
        scheme, _, rest = asked.authorization.partition(" ")
        is_basic = scheme.lower() == "basic"
        name = _decoded(rest).partition(":")[0] if is_basic else _fields(rest).get("username", "")
        return "nobody" if self._book.proof_of(name) is None else name

    def is_stale(self, asked: BoundRequest) -> bool:
        """Whether it is a right answer to a nonce that has expired or was answered before."""
        scheme, _, rest = asked.authorization.partition(" ")
        return scheme.lower() == "digest" and self._digest(_fields(rest), asked) is not None

    def malformed(self, asked: BoundRequest) -> bool:
        """Whether the credentials are no credentials at all: a 400, and nobody is asked again."""
        if not asked.authorization:
            return False
        scheme, separator, rest = asked.authorization.partition(" ")
        match scheme.lower():
            case "basic":
                return ":" not in _decoded(rest)
            case "digest":
                fields = _fields(rest)
                return not fields.get("username") or fields.get("uri") != asked.target
            case _:
                return not separator

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

    def _basic(self, token: str) -> str | None:
        name, separator, password = _decoded(token).partition(":")
        known = self._book.proof_of(name)
        same = hmac.compare_digest(ha1(name, password), self._nobody if known is None else known)
        return name if separator and same and known is not None else None

    def _digest(self, fields: dict[str, str], asked: BoundRequest) -> str | None:
        """The user whose password answers the nonce, however old that is."""
        if fields.get("uri") != asked.target or fields.get("qop") != "auth":
            return None
        name = fields.get("username", "")
        known = self._book.proof_of(name)
        secret = self._nobody if known is None else known
        middle = ":".join(fields.get(part, "") for part in ("nonce", "nc", "cnonce", "qop"))
        expected = _md5(f"{secret}:{middle}:{_md5(f'{asked.method}:{asked.target}')}")
        given = fields.get("response", "").encode()
        same = hmac.compare_digest(given, expected.encode())
        return name if same and known is not None else None

    def _counted(self, fields: dict[str, str], asked: BoundRequest) -> str | None:
        """The user, where the nonce is fresh and was never answered with this count or a higher."""
        nonce, count = fields.get("nonce", ""), fields.get("nc", "")
        if not self._fresh(nonce) or not _COUNT.fullmatch(count):
            return None
        name = self._digest(fields, asked)
        if name is None or int(count, 16) <= self._counts.get(nonce, 0):
            return None
        while self._counts and not self._fresh(oldest := next(iter(self._counts))):
            self._counts.pop(oldest, None)
        self._counts[nonce] = int(count, 16)
        return name

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


def _fields(text: str) -> dict[str, str]:
    return {name.lower(): quoted or bare for name, quoted, bare in _FIELD.findall(text)}


def _md5(text: str) -> str:
    # Digest authentication is defined with MD5; nothing else here relies on it.
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
