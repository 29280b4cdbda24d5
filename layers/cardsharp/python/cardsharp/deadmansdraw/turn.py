"""A turn played to its end by a strategy: over the network, or where the matches are kept."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Protocol

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.logbook import ends_turn
from cardsharp.deadmansdraw.reading import follow, rebuild
from cardsharp.deadmansdraw.strategies import Strategy
from cardsharp.deadmansdraw.wire_views import EventView, MatchView
from cardsharp.errors import MatchOver, NotYourTurn, StrategyFault
from cardsharp.trying import tried

LIMIT = timedelta(seconds=10)  # a later decision is the end: the arena's limit is over too


class TurnSeat(Protocol):
    """A player's place at an arena."""

    def view(self, match_id: str) -> MatchView:
        """The match as it is now, with all its moves."""

    def act(self, match_id: str, action: Action) -> list[EventView]:
        """What an action caused; raises `MatchOver` or `NotYourTurn`."""


def play_turn(
    seat: TurnSeat,
    player: str,
    match_id: str,
    strategy_for: Callable[[MatchView], Strategy],
    limit: timedelta | None = LIMIT,
) -> None:
    """Play until the turn has passed on; raises `StrategyFault` or `ArenaError`.

    The limit is that of a decision. Without one the strategy keeps its own time.
    """
    view = seat.view(match_id)
    strategy = strategy_for(view)
    try:
        while (
            view.active_player_index is not None
            and view.player_ids[view.active_player_index] == player
            and not _act_until_unclear(seat, view, strategy, limit)
        ):
            view = seat.view(match_id)
    except (MatchOver, NotYourTurn):
        return


def _act_until_unclear(
    seat: TurnSeat, view: MatchView, strategy: Strategy, limit: timedelta | None
) -> bool:
    """Whether the turn ended; False where only a new view tells what is so."""
    position = rebuild(view, view.active_player_index or 0)
    while True:
        found = tried(partial(strategy.decide, position), strategy, limit)
        if found.result is None:
            raise StrategyFault(found.fault)
        action = found.result.action
        answer = seat.act(view.id, action)
        if ends_turn(answer):
            return True
        following = follow(position, action, answer)
        if following is None:
            return False
        position = following
