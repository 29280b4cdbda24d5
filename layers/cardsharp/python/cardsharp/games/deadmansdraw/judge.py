"""`captain` as the judge of Dead Man's Draw: win probabilities by its search."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cardsharp.analysis.judge import TIMED_OUT, Judge
from cardsharp.analysis.replay import DecisionPoint, StoredDecision
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.arena_bot.position_from_view import count_turn_results_and_moves
from cardsharp.games.deadmansdraw.events import MatchEnded
from cardsharp.games.deadmansdraw.history.decisions import (
    build_decision_point,
    steps_with_positions,
)
from cardsharp.games.deadmansdraw.history.replay import event_steps, parse_move_view
from cardsharp.games.deadmansdraw.luck import luck_of
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.rules import apply
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, ProbabilityOption
from cardsharp.games.deadmansdraw.strategies.captain import (
    REFUSE_ORACLE,
    WEIGHT_FILE,
    Captain,
    is_standard_deck,
)
from cardsharp.games.deadmansdraw.strategies.position_features import (
    busting_card_count,
    suits_in_play,
)
from cardsharp.games.deadmansdraw.strategies.search.search_budget import PLAIN_LIMITS
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model
from cardsharp.store.match_log import MatchRecord, MoveRecord


class CaptainJudge(Judge):
    """Judge by the search of `captain`, which expects both players to play as it does.

    It has the limits of plain Python everywhere. So an analysis does not depend on the machine, and
    it is faster: `stats` judges a hundred decisions a match.
    """

    name = WEIGHT_FILE

    def evaluate(
        self, position: DeadMansDrawPosition, extra_actions: Sequence[Action] = ()
    ) -> DeadMansDrawDecision | None:
        """Return captain's decision; None for a position that the usual start cannot lead to."""
        if not is_standard_deck(position):
            return None
        decision = Captain(load_model(WEIGHT_FILE), PLAIN_LIMITS).decide(position)
        if REFUSE_ORACLE not in extra_actions:
            return decision
        refusal_option = ProbabilityOption(
            REFUSE_ORACLE,
            _evaluate_oracle_refusal(position),
            "leaves the card, and then stops or draws it",
        )
        return DeadMansDrawDecision(
            decision.action, decision.reason, (*decision.options, refusal_option)
        )

    def first_side_result(self, _record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """Return 1 if the first player won, 0.5 for a tie, 0 for a loss, None if not finished."""
        events = (event for step in event_steps(moves) for event in step.events)
        end_event = next((event for event in events if isinstance(event, MatchEnded)), None)
        if end_event is None:
            return None
        return 0.5 if end_event.winner is None else float(end_event.winner == 0)

    def timeout_positions(self, moves: Sequence[MoveRecord]) -> Iterator[DecisionPoint]:
        """Yield the positions in which the arena ended a turn because its time was up."""
        for step, position, _ in steps_with_positions(moves):
            if position is not None and step.past_move.timed_out_player is not None:
                thought = StoredDecision(seat=step.seat, turn=step.turn, action=TIMED_OUT)
                yield build_decision_point(step, position, thought)

    def estimate_first_side_luck(self, _record: MatchRecord, moves: Sequence[MoveRecord]) -> float:
        """Return the luck of the first side: the sum of the luck of all cards that came.

        The luck of a card is its value less the mean of the possible ones.
        """
        brought = 0.0
        for step, position, _ in steps_with_positions(moves):
            if position is not None:
                luck = luck_of(position, step.past_move.events) or 0.0
                brought += luck if position.seat == 0 else -luck
        return brought

    def event_counts_by_side(self, moves: Sequence[MoveRecord]) -> Mapping[str, tuple[int, int]]:
        """Return busts, timeouts, banked turns, moves and autopicks by name, for each player."""
        return count_turn_results_and_moves(
            parse_move_view(move) for move in moves if move.facts is not None
        )

    def bust_risk(self, position: DeadMansDrawPosition) -> float | None:
        """Return the probability that the next card busts, None if an effect is pending."""
        if position.pending is not None or not position.unseen:
            return None
        if position.known_top is not None:
            return float(position.known_top.suit in suits_in_play(position))
        return busting_card_count(position) / len(position.unseen)


def _evaluate_oracle_refusal(position: DeadMansDrawPosition) -> float:
    """Return the win probability after leaving the Oracle's card on the pile.

    `captain` never refuses that card, so its own search does not evaluate this option.
    """
    state, _ = apply(position.to_state(), REFUSE_ORACLE, lambda pile, count: pile[:count])
    next_position = replace(
        position, pending=state.pending_effect, refused_oracle_card=position.known_top
    )
    return max(
        option.value
        for option in Captain(load_model(WEIGHT_FILE), PLAIN_LIMITS).decide(next_position).options
    )


JUDGE = CaptainJudge()
