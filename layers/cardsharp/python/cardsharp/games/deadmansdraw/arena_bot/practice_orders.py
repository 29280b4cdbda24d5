"""Create practice matches: against oneself, or against the dummy, whose seat we play as well."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from cardsharp.bot.match_dispatcher import MatchDispatcher
from cardsharp.bot.queueing.orders import OperatorOrder
from cardsharp.core.limits import MAX_PRACTICE_MATCHES
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import dependencies_for
from cardsharp.games.deadmansdraw.arena_bot.client import DUMMY_ID, ArenaClient
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp.games.deadmansdraw.arena_bot.wire_views import Cards
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.play.game import InvocationContext

_log = logging.getLogger("cardsharp.practice")


class PracticeMatchOrder(OperatorOrder):
    """Order of an operator for practice matches; by default one match against itself."""

    refusal = "The practice order cannot be used."

    matches: Annotated[int, Field(ge=0, le=MAX_PRACTICE_MATCHES)] = 1
    """None only looks whether one could be created: the settings, and who we are at the arena."""
    opponent: Literal["self", "dummy"] = "self"
    tags: tuple[str, ...] = ()
    seed: str | None = None
    timeout_seconds: Annotated[int, Field(ge=1)] | None = None
    play_area: Cards | None = None
    draw_pile: Cards | None = None
    discard_pile: Cards | None = None
    banks: tuple[Cards, Cards] | None = None


def place_order(event: Mapping[str, Any], context: InvocationContext) -> Sequence[str]:
    """Carry out an order: create its practice matches and return their ids.

    Raises `InvalidInput` if the order is invalid, `ConfigError` if new matches are paused
    or the operator's strategy does not exist, and `ArenaError` if the arena refused, or
    failed after some matches were created.
    """
    order, assembly = PracticeMatchOrder.parse(event), dependencies_for(context)
    assembly.current_strategy_name()
    with assembly.build_client() as client:
        if not order.matches:
            client.whoami()
            return []
        return list(create_ordered_matches(order, assembly.player_id, client, assembly.dispatcher))


def create_ordered_matches(
    order: PracticeMatchOrder, player_id: str, arena: ArenaClient, dispatcher: MatchDispatcher
) -> Iterator[str]:
    """Create the matches of an order, queue each of them, and yield their ids.

    The arena would list only those in which it is our turn, so each is queued at once. If turns
    have a limit, no more are created than the arena's request limit allows at once, and a
    warning says so; matches that ran already are not counted. Raises `ConfigError` if new
    matches are paused.
    """
    if dispatcher.runtime_settings.read().paused:
        raise ConfigError("New matches are paused; `cardsharp cloud resume` ends that.")
    timeout = None if order.timeout_seconds is None else timedelta(seconds=order.timeout_seconds)
    params = MatchParams(
        player_ids=(player_id, DUMMY_ID if order.opponent == "dummy" else player_id),
        tags=order.tags,
        play_area=order.play_area,
        draw_pile=order.draw_pile,
        discard_pile=order.discard_pile,
        banks=order.banks,
        random_seed=order.seed,
        timeout=timeout,
    )
    for created in range(1, order.matches + 1):
        match_id = arena.create_match(params).id
        dispatcher.dispatch(match_id, GAME.name)
        yield match_id
        fed = arena.session_state.request_budget.max_sustainable_matches(timeout)
        if fed is not None and fed <= created < order.matches:
            message = "created %d of %d matches: the limit of requests feeds %d at once"
            _log.warning(message, created, order.matches, fed)
            return
