"""All matches of an arena, as its referee, its pages and those who wait see them."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from cardsharp.deadmansdraw.arena.match import Match, Move


class Signal(NamedTuple):
    """What can be waited for: `kind`, one of those below, of the player or match `of`."""

    kind: str
    of: str = ""


NEW_MATCH = "new match"  # there is a new match of this player
TURN = "turn"  # a match waits for this player's action
MATCH = "match"  # the match has ended, or it is another player's turn
MOVED = "moved"  # somebody has moved in the match
ANY_MATCH = Signal("any match")  # there is a new match
Moved = Callable[[Match], None]  # told of every match that began or in which somebody has moved


def nobody_told(_match: Match) -> None:
    """Tell nobody of it."""


class Lobby(Protocol):
    """Where the matches of one arena are kept and found."""

    def find(self, match_id: str) -> Match | None:
        """The match with this id."""

    def history(self, match_id: str) -> list[Move]:
        """All moves of a match that there is."""

    def all(self) -> Iterable[Match]:
        """Every match."""

    def running(self) -> Iterable[Match]:
        """Every match that has not ended."""

    def of_player(self, player_id: str) -> Iterable[Match]:
        """The matches in which a player takes part."""

    def at_turn(self, player_id: str) -> Iterable[Match]:
        """The matches that wait for a player's action."""

    def commit(self, match: Match, move: Move) -> None:
        """Store a match after a move, and let those know who wait for it.

        Raises `StoreError` if it could not be stored; nothing has changed. Raises `Conflict` if
        somebody else has moved since the match was looked at, or a new match's id is another's;
        nothing has changed.
        """
