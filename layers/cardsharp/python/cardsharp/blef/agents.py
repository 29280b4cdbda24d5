"""The port of the bots that can be invited: by which names, and how one takes its seat."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from cardsharp.blef.records import Player

DEFAULT_NAMES = "Dazhbog=reader; Porevit=threshold"
"""Bots by the names that the clients know, and the strategies by which they play."""


@dataclass(frozen=True, slots=True)
class Agents:
    """Bots of ours that play where they are invited; here players for whom somebody else plays.

    `names` are their strategies by the names under which they are invited.
    """

    names: Mapping[str, str] = field(default_factory=dict)

    def seat(self, game_uuid: str, player: Player, secret: str) -> AbstractContextManager[object]:
        """Have a bot ready to be this player while the block makes it one, and then play.

        Where the block raises, there is no such bot. Raises `Conflict` where somebody else is at
        the same, `StoreError` and `Refused` where none can be had.
        """
        del self, game_uuid, player, secret
        return nullcontext()


NO_AGENTS = Agents()
"""Nobody can be invited."""
