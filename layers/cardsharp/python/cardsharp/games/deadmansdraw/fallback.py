"""Fallback action, for a strategy that is late or broken, or a state that is not understood."""

from collections.abc import Callable
from datetime import timedelta

from cardsharp.errors import RulesError
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, ActionType
from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.rules import apply
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, Strategy, TimeAware
from cardsharp.play.decision_runner import DecisionResult, DecisionRunner

HURRY_SHARE = 0.8  # share of the time limit after which a `TimeAware` strategy must hurry
_BLIND_END = Action(ActionType.END_TURN, answers_pending_effects=True)
_BLIND_DRAW = Action(ActionType.DRAW, answers_pending_effects=True)


def fallback_action(
    position: DeadMansDrawPosition, rejected_actions: frozenset[Action] = frozenset()
) -> Action:
    """Return the action with the lowest risk: end the turn, else an answer that does not bust.

    Actions in `rejected_actions`, which the arena has just rejected, come last.
    """
    lying = {card.suit for card in position.play_area}

    def risk(action: Action) -> tuple[bool, bool, bool]:
        busts = action.card is not None and action.card.suit in lying
        return action in rejected_actions, busts, action != END_TURN

    return min(position.legal_actions() or (DRAW,), key=risk)


def fallback_for_unreadable_match(
    play_area: tuple[Card, ...], rejected_actions: frozenset[Action] = frozenset()
) -> Action:
    """Return the action for a match that cannot be read, such as one with an unknown effect.

    It ends the turn and lets the server answer the pending effect. In no other case may the server
    choose for us. A turn with an empty play area cannot be ended (docs/spec/arena.md section 7), so
    it draws instead.
    """
    preferred_actions = (_BLIND_END, _BLIND_DRAW) if play_area else (_BLIND_DRAW, _BLIND_END)
    return next(
        (action for action in preferred_actions if action not in rejected_actions),
        preferred_actions[0],
    )


def decide_in_time(
    strategy: Strategy,
    position: DeadMansDrawPosition,
    timeout: timedelta,
    monotonic: Callable[[], float],
    rejected_actions: frozenset[Action] = frozenset(),
) -> DecisionResult[DeadMansDrawDecision]:
    """Return the decision, hurried if time is nearly up; see `DecisionRunner.decide`."""
    if isinstance(strategy, TimeAware):
        late = monotonic() + HURRY_SHARE * timeout.total_seconds()
        strategy = strategy.with_deadline(lambda: monotonic() > late)
    return DECISION_RUNNER.decide(strategy, position, timeout, monotonic, rejected_actions)


def _explain_refusal(position: DeadMansDrawPosition, action: Action) -> str | None:
    try:
        apply(position.to_state(), action, lambda pile, count: pile[:count])
    except RulesError as error:
        return f"the rules refuse '{action}': {str(error).rstrip('.')}"
    return None


DECISION_RUNNER = DecisionRunner(
    _explain_refusal,
    fallback_action,
    DeadMansDrawDecision,
    (Action,),
    DeadMansDrawPosition.legal_actions,
)
