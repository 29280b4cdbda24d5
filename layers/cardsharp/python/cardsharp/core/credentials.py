"""Credentials of a user at an arena, for HTTP Digest authentication."""

import hashlib
from dataclasses import dataclass, field

from cardsharp.errors import ConfigError

DIGEST_REALM = "SLCEE-2023-PC"  # the realm of the competition's Digest authentication


def digest_ha1(user: str, password: str) -> str:
    """Return the HA1 hash of Digest authentication; whoever has it can play as the user.

    Digest is defined with MD5. Generated passwords are too long for a brute-force attack.
    """
    digest_input = f"{user}:{DIGEST_REALM}:{password}"
    return hashlib.md5(digest_input.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Credentials:
    """User and password; the password shows in no repr."""

    user: str
    password: str = field(repr=False)

    def __post_init__(self) -> None:
        if not self.user or not self.password:
            raise ConfigError("The arena needs a user and a password; give both.")
        if ":" in self.user:
            raise ConfigError("A user name with a colon cannot be sent; check user and password.")
