"""Options for the arena and the user. They override the `CARDSHARP_...` variables."""

from dataclasses import dataclass, field
from pathlib import Path

from cardsharp_tools.cli.options import CommandOptions, ProxyAddress
from cardsharp_tools.cli.strategy_option import UserCodeOptions


@dataclass(frozen=True, kw_only=True)
class ArenaOptions(CommandOptions):
    """Options for the arena and the player; by default those of the environment."""

    url: str | None = None
    """The arena's address. Default: CARDSHARP_ARENA_URL."""
    user: str | None = None
    """Our user id at the arena. Default: CARDSHARP_USER."""
    digest: bool = False
    """Use Digest authentication instead of Basic."""
    insecure: bool = False
    """Allow to send the password over plain http. Only do this in a private network."""
    ca_file: Path | None = None
    """File with the certificates of a CA to trust, if the arena has its own CA."""
    proxy: ProxyAddress = None
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)
