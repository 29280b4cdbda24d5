"""Passes to private pages: signed texts that say until when they admit to what.

Whoever has one could try out passwords on it, so the key is made of the password by scrypt. With
another password all passes end.
"""

import base64
import hashlib
import hmac
import re
from datetime import UTC, datetime
from functools import lru_cache

EVERYTHING = "*"
"""What a password admits to; a pass may name a match instead."""

_PASS = re.compile(r"(\d{1,11})\.([\w-]{43})", re.ASCII)


def pass_to(what: str, until: datetime, password: str) -> str:
    """A pass to one match, or to everything."""
    end = int(until.timestamp())
    return f"{end}.{_seal(what, end, password)}"


def admits(given: str, what: str, now: datetime, password: str) -> bool:
    """Whether a pass admits to this; told in the same time whatever is wrong with its seal."""
    found = _PASS.fullmatch(given)
    if found is None:
        return False
    end = int(found[1])
    same = hmac.compare_digest(found[2], _seal(what, end, password))
    return same and now < datetime.fromtimestamp(end, UTC)


def is_password(given: str, password: str) -> bool:
    """Whether this is the password; told in the same time whatever is wrong with it."""
    return hmac.compare_digest(given.encode(), password.encode())


def _seal(what: str, end: int, password: str) -> str:
    signed = hmac.digest(_key(password), f"{end} {what}".encode(), "sha256")
    return base64.urlsafe_b64encode(signed).decode().rstrip("=")


@lru_cache(maxsize=2)
def _key(password: str) -> bytes:
    return hashlib.scrypt(password.encode(), salt=b"cardsharp viewer", n=2**14, r=8, p=1)
