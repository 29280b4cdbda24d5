"""Play of a complete turn by a strategy, over the network or in the arena's process."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Protocol

from cardsharp.errors import MatchOver, NotYourTurn, StrategyError
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import (
    next_position,
    position_from_view,
)
from cardsharp.games.deadmansdraw.arena_bot.wire_views import EventView, MatchView
from cardsharp.games.deadmansdraw.history.log_records import ends_turn
from cardsharp.games.deadmansdraw.strategies import Strategy
from cardsharp.play.guarded_call import call_guarded
from cardsharp.server.service_errors import OutOfTurn

HOUSE_DECISION_TIMEOUT = timedelta(
    seconds=10
)  # a later decision is the end: the arena's limit is over too


class TurnClient(Protocol):
    """Client through which one player reads matches and sends actions."""

    def get_match(self, match_id: str) -> MatchView:
        """The match as it is now, with all its moves."""

    def act(self, match_id: str, action: Action) -> list[EventView]:
        """Send an action and return its events.

        Raises `MatchOver` or `NotYourTurn`, and in the arena's own process `OutOfTurn`.
        """


def play_turn(
    client: TurnClient,
    player_id: str,
    match_id: str,
    strategy_for: Callable[[MatchView], Strategy],
    limit: timedelta | None = HOUSE_DECISION_TIMEOUT,
) -> None:
    """Play until the turn of `player_id` has ended; raise `StrategyError` or `ArenaError`.

    `limit` is the time limit of one decision. Without one the strategy keeps its own time.
    """
    view = client.get_match(match_id)
    strategy = strategy_for(view)
    try:
        while (
            view.active_player_index is not None
            and view.player_ids[view.active_player_index] == player_id
            and not _act_until_unclear(client, view, strategy, limit)
        ):
            view = client.get_match(match_id)
    except (MatchOver, NotYourTurn, OutOfTurn):
        return


def _act_until_unclear(
    client: TurnClient, view: MatchView, strategy: Strategy, limit: timedelta | None
) -> bool:
    """Play actions until the turn ends; return False if only a new view can tell this."""
    position = position_from_view(view, view.active_player_index or 0)
    while True:
        guarded_result = call_guarded(partial(strategy.decide, position), strategy, limit)
        if guarded_result.result is None:
            raise StrategyError(guarded_result.error)
        action = guarded_result.result.action
        response = client.act(view.id, action)
        if ends_turn(response):
            return True
        following = next_position(position, action, response)
        if following is None:
            return False
        position = following
