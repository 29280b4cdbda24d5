"""A legal action for when no strategy answers: late, broken or faced with something unknown."""

from collections.abc import Callable
from datetime import timedelta

from cardsharp.errors import RulesError
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, ActionType
from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.rules import apply
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, Strategy, TimeAware
from cardsharp.play.decision_runner import DecisionResult, DecisionRunner

HURRY_SHARE = 0.8  # the share of its time after which a strategy that can be hurried is
_BLIND_END = Action(ActionType.END_TURN, answers_pending_effects=True)
_BLIND_DRAW = Action(ActionType.DRAW, answers_pending_effects=True)


def fallback_action(
    position: DeadMansDrawPosition, rejected_actions: frozenset[Action] = frozenset()
) -> Action:
    """Return the action with the lowest risk: end the turn, else the first answer without a bust.

    Actions in `rejected_actions`, which the arena has just rejected, come last.
    """
    lying = {card.suit for card in position.play_area}

    def risk(action: Action) -> tuple[bool, bool, bool]:
        busts = action.card is not None and action.card.suit in lying
        return action in rejected_actions, busts, action != END_TURN

    return min(position.legal_actions() or (DRAW,), key=risk)


def unreadable_fallback(
    play_area: tuple[Card, ...], rejected_actions: frozenset[Action] = frozenset()
) -> Action:
    """The action for a match that cannot be read, such as one with an unknown effect pending.

    It ends the turn and lets the server answer what is pending: the only case in which the
    server may pick. A turn with an empty play area cannot be ended (docs/spec/arena.md section 7).
    """
    order = (_BLIND_END, _BLIND_DRAW) if play_area else (_BLIND_DRAW, _BLIND_END)
    return next((action for action in order if action not in rejected_actions), order[0])


def decide(
    strategy: Strategy,
    position: DeadMansDrawPosition,
    timeout: timedelta,
    monotonic: Callable[[], float],
    rejected_actions: frozenset[Action] = frozenset(),
) -> DecisionResult[DeadMansDrawDecision]:
    """The strategy's decision, hurried when its time is nearly up; see `Decider.decide`."""
    if isinstance(strategy, TimeAware):
        late = monotonic() + HURRY_SHARE * timeout.total_seconds()
        strategy = strategy.with_deadline(lambda: monotonic() > late)
    return DECISION_RUNNER.decide(strategy, position, timeout, monotonic, rejected_actions)


def _refusal(position: DeadMansDrawPosition, action: Action) -> str | None:
    try:
        apply(position.to_state(), action, lambda pile, number: pile[:number])
    except RulesError as error:
        return f"the rules refuse '{action}': {str(error).rstrip('.')}"
    return None


DECISION_RUNNER = DecisionRunner(
    _refusal, fallback_action, DeadMansDrawDecision, (Action,), DeadMansDrawPosition.legal_actions
)
