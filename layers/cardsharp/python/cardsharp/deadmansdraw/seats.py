"""Which seats of a match are ours to play."""

from dataclasses import dataclass
from typing import NamedTuple

from cardsharp.deadmansdraw.client import DUMMY_ID, ArenaClient
from cardsharp.deadmansdraw.strategies import Strategy
from cardsharp.deadmansdraw.wire_views import MatchView


class Seat(NamedTuple):
    """Somebody we play as: the client that speaks for the player, and the strategy."""

    player_id: str
    client: ArenaClient
    strategy: Strategy
    strategy_name: str


@dataclass(frozen=True, slots=True)
class Players:
    """Ourselves and, where we play both sides of our own practice matches, the dummy."""

    me: Seat
    dummy: Seat | None = None

    def seats(self, view: MatchView) -> dict[int, Seat]:
        """The seats that we play, by player index; worked out from the view alone.

        The dummy plays for everybody, so we play it only in matches that we created.
        """
        found = {}
        for index, player_id in enumerate(view.player_ids):
            if player_id == self.me.player_id:
                found[index] = self.me
            elif self.dummy is not None and self._is_our_dummy(player_id, view):
                found[index] = self.dummy
        return found

    def _is_our_dummy(self, player_id: str, view: MatchView) -> bool:
        return player_id == DUMMY_ID and view.created_by_player_id == self.me.player_id
