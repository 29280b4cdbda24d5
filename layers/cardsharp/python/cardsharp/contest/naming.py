"""How a team may be called, and the password that it is given."""

import secrets
import unicodedata
from collections.abc import Iterable

from cardsharp.access import LONGEST_NAME
from cardsharp.contest.entries import Entrant
from cardsharp.errors import ConfigError


def check_name(name: str, others: Iterable[Entrant]) -> None:
    """Raise `ConfigError` where no team can be called so beside those others."""
    if not name.strip() or len(name) > LONGEST_NAME:
        raise ConfigError(f"A team's name has 1 to {LONGEST_NAME} characters, and is not empty.")
    if not name.isprintable() or name != name.strip():
        raise ConfigError(
            f"The team's name {name!r} has characters that nobody sees, or blanks around it; "
            "leave them out, so that no two names look alike."
        )
    alike = next((other.name for other in others if _seen(other.name) == _seen(name)), None)
    if alike is not None:
        raise ConfigError(f"There is a team called {alike} already.")


def new_password() -> str:
    """A password of 128 bits, in characters that every command line takes."""
    return secrets.token_hex(16)


def _seen(name: str) -> str:
    """A name as people tell names apart: capitals, widths and ligatures make no other one."""
    return unicodedata.normalize("NFKC", name).casefold()
