"""A legal action for when no strategy answers: late, broken or faced with something unknown."""

from collections.abc import Callable
from datetime import timedelta

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, Verb
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import apply
from cardsharp.deadmansdraw.strategies import Decision, Hurrying, Strategy
from cardsharp.deciding import Decided, Decider
from cardsharp.errors import RulesError

HURRY = 0.8  # the share of its time after which a strategy that can be hurried is
_BLIND_END = Action(Verb.END_TURN, autopick=True)
_BLIND_DRAW = Action(Verb.DRAW, autopick=True)


def safe_action(position: Position, refused: frozenset[Action] = frozenset()) -> Action:
    """The action that risks least: end the turn, else the first answer that does not bust.

    Actions in `refused`, which the arena has just turned down, come last.
    """
    lying = {card.suit for card in position.play_area}

    def risk(action: Action) -> tuple[bool, bool, bool]:
        busts = action.card is not None and action.card.suit in lying
        return action in refused, busts, action != END_TURN

    return min(position.legal_actions() or (DRAW,), key=risk)


def blind_action(play_area: tuple[Card, ...], refused: frozenset[Action] = frozenset()) -> Action:
    """The action for a match that cannot be read, such as one with an unknown effect pending.

    It ends the turn and lets the server answer what is pending: the only case in which the
    server may pick. A turn with an empty play area cannot be ended (docs/spec/arena.md section 7).
    """
    order = (_BLIND_END, _BLIND_DRAW) if play_area else (_BLIND_DRAW, _BLIND_END)
    return next((action for action in order if action not in refused), order[0])


def decide(
    strategy: Strategy,
    position: Position,
    limit: timedelta,
    monotonic: Callable[[], float],
    refused: frozenset[Action] = frozenset(),
) -> Decided[Decision]:
    """The strategy's decision, hurried when its time is nearly up; see `Decider.decide`."""
    if isinstance(strategy, Hurrying):
        late = monotonic() + HURRY * limit.total_seconds()
        strategy = strategy.hurried(lambda: monotonic() > late)
    return DECIDER.decide(strategy, position, limit, monotonic, refused)


def _refusal(position: Position, action: Action) -> str | None:
    try:
        apply(position.state(), action, lambda pile, number: pile[:number])
    except RulesError as error:
        return f"the rules refuse '{action}': {str(error).rstrip('.')}"
    return None


DECIDER = Decider(_refusal, safe_action, Decision, (Action,), Position.legal_actions)
