"""Decisions of a stored match, as positions in which a strategy can decide again.

They are derived from the moves alone, as a bot at the table does it. Therefore the decisions of
both players are available, also in a match that another program recorded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cardsharp.analysis.replay import DecisionPoint, StoredDecision
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.events import action_from_events
from cardsharp.games.deadmansdraw.history.log_records import position_body
from cardsharp.games.deadmansdraw.history.replay import (
    EventReplayStep,
    event_steps,
    parse_stored_position,
)
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, PastMove, PublicInfoTracker
from cardsharp.store.match_log import MatchRecord, MoveRecord

StepLook = tuple[EventReplayStep, DeadMansDrawPosition | None, Action | None]
"""Step, the position of the player who made it, and the action; None for an unknown one."""


def decisions(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[DecisionPoint]:
    """Return every decision of either player, in order.

    A decision is left out if the log records another position for it, as for an unusual start.
    Raises `ConfigError` if the match says so itself, and `StoreError` if a move cannot be read.
    """
    if "opening" in record.header:
        raise ConfigError(
            f"Match {record.match_id} began with other cards than the usual ones, so what its "
            "players knew is not recorded."
        )
    for step, position, action in steps_with_positions(moves):
        if position is None or action is None:
            continue
        observed_decision = StoredDecision(
            seat=step.seat, turn=step.turn, action=str(action), position=position_body(position)
        )
        thought = step.decision or observed_decision
        if _is_same_position(thought, observed_decision):
            yield build_decision_point(step, position, thought)


def _is_same_position(first: StoredDecision, second: StoredDecision) -> bool:
    """Return True if two decisions were made in the same position; raise `StoreError`.

    Equal bodies need not be parsed, which takes longer than evaluating the position.
    """
    return first.position == second.position or (
        parse_stored_position(first) == parse_stored_position(second)
    )


def build_decision_point(
    step: EventReplayStep, position: DeadMansDrawPosition, decision: StoredDecision
) -> DecisionPoint:
    """Return the step with its recorded decision, the position and the legal actions."""
    legal = {action: str(action) for action in position.legal_actions()}
    return DecisionPoint(replace(step, decision=decision), position, legal)


def steps_with_positions(moves: Sequence[MoveRecord]) -> Iterator[StepLook]:
    """Return the steps of a match with the position at each, if known; raise `StoreError`."""
    public_info, history = PublicInfoTracker(), tuple[PastMove, ...]()
    for step, move in zip(event_steps(moves), moves, strict=True):
        if move.facts is None:
            return
        position = (
            None if step.seat is None else public_info.position_for(step.seat, step.turn, history)
        )
        yield step, position, action_from_events(step.events)
        public_info.apply_move(step.past_move)
        history = (*history, step.past_move)
