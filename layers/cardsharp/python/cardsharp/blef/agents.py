"""The port of the bots that can be invited: by which names, and how one takes its seat."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from cardsharp.blef.records import Player


class Agents(Protocol):
    """Bots of ours that play where they are invited."""

    @property
    def names(self) -> Mapping[str, str]:
        """Their strategies by the names under which they are invited."""
        ...

    def seat(self, game_uuid: str, player: Player, secret: str) -> AbstractContextManager[object]:
        """Have a bot ready to be this player while the block makes it one, and then play.

        Where the block raises, there is no such bot. Raises `Conflict` where somebody else is at
        the same, `StoreError` and `Refused` where none can be had.
        """
        ...


@dataclass(frozen=True, slots=True)
class IdleAgents:
    """Bots that are players, and for whom somebody else plays."""

    names: Mapping[str, str] = field(default_factory=dict)

    def seat(self, game_uuid: str, player: Player, secret: str) -> AbstractContextManager[object]:
        """Do nothing."""
        del game_uuid, player, secret
        return nullcontext()


NO_AGENTS = IdleAgents()
"""Nobody can be invited."""
