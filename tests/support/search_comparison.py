"""Decisions of `captain` in recorded positions, to compare one search with another."""

from collections.abc import Iterator

from cardsharp.games.deadmansdraw.arena_bot.position_from_view import position_from_view
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import captain
from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE, Captain, OptionEvaluator
from cardsharp.games.deadmansdraw.strategies.search.compiled_search import build_turn_search
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import (
    SHORT_LIMITS,
    SearchLimits,
)
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model
from support.recordings import RecordedMatches, recorded_views

SEVERAL_LIMITS = (
    SearchLimits(),
    SHORT_LIMITS,
    SearchLimits(max_depth=3, max_second_draws=2, samples=2, root_samples=3),
    SearchLimits(endgame_cards=8, max_leaves=500),
)


def recorded_positions(matches: RecordedMatches) -> Iterator[DeadMansDrawPosition]:
    """Yield the positions of recorded matches, each of the player to act."""
    for match in matches.created_matches():
        for recorded_view in recorded_views(match):
            player = recorded_view.view.active_player_index
            if player is not None:
                yield position_from_view(recorded_view.view, player)


def evaluate(position: DeadMansDrawPosition, limits: SearchLimits) -> tuple[object, object, int]:
    """Return the decision with the values of all options, and the number of evaluated leaves."""
    captain._solve_endgame.cache_clear()
    model = load_model(WEIGHT_FILE)
    evaluator = OptionEvaluator(position, build_turn_search(model, limits))
    options = evaluator.evaluate_options()
    return (Captain(model, limits).decide(position), options, evaluator.evaluated_turn_end_count)
