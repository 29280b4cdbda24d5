"""Repository of an arena's matches, and the topics that a long poll waits for."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from cardsharp.games.deadmansdraw.arena.match import ArenaMatch, ArenaMove


class WaitTopic(NamedTuple):
    """Event that a request can wait for: its `kind`, and the id of the player or match.

    The kinds are the constants below.
    """

    kind: str
    subject_id: str = ""


MATCH_CREATED = "new match"  # there is a new match of this player
TURN_STARTED = "turn"  # a match waits for this player's action
TURN_OVER = "match"  # the match has ended, or it is another player's turn
MOVE_PLAYED = "moved"  # somebody has moved in the match
ANY_MATCH_CREATED = WaitTopic("any match")  # there is a new match
MoveListener = Callable[
    [ArenaMatch], None
]  # told of every match that began or in which somebody has moved


def ignore_move(_match: ArenaMatch) -> None:
    """Do nothing: a `MoveListener` for an arena without listeners."""


class MatchRepository(Protocol):
    """Storage of the matches of one arena."""

    def get(self, match_id: str) -> ArenaMatch | None:
        """The match with this id."""

    def move_history(self, match_id: str) -> list[ArenaMove]:
        """Return all stored moves of a match."""

    def all_matches(self) -> Iterable[ArenaMatch]:
        """Every match."""

    def running_matches(self) -> Iterable[ArenaMatch]:
        """Every match that has not ended."""

    def matches_of(self, player_id: str) -> Iterable[ArenaMatch]:
        """The matches in which a player takes part."""

    def matches_waiting_for(self, player_id: str) -> Iterable[ArenaMatch]:
        """The matches that wait for a player's action."""

    def save_move(self, match: ArenaMatch, move: ArenaMove) -> None:
        """Store a match after a move, and notify the requests that wait for it.

        Raises `StoreError` if it could not be stored. Raises `WriteConflict` if the match has
        another move since it was read, or if the id of a new match is taken. Nothing has
        changed in these cases.
        """
