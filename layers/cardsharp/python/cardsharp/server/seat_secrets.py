"""Secrets by which a service knows its players: it stores their digests alone."""

import hashlib
import hmac
from collections.abc import Iterable


def secret_digest(secret: str) -> str:
    """Return the digest under which a secret is stored; the secret is too random to guess."""
    return hashlib.sha256(secret.encode()).hexdigest()


def seat_of_digest(digests_by_seat: Iterable[str], digest: str) -> int | None:
    """Return the seat of the player with this digest, None for a spectator.

    It takes the same time whoever it is.
    """
    matches = [hmac.compare_digest(stored_digest, digest) for stored_digest in digests_by_seat]
    return matches.index(True) if True in matches else None
