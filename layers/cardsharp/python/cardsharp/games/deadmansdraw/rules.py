"""Rules of Dead Man's Draw as the running server plays them: pure functions over `State`.

Source: docs/spec/arena.md section 7, checked against every recorded match. Where the rule book and
the server differ (docs/rules.md), the server is right. The rules do not decide random picks, so
these are an argument of type `CardPicker`. The arena, which knows the draw pile, and the
strategies, which guess it, use the same functions.
"""

from dataclasses import replace

from cardsharp.errors import IllegalAction
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.games.deadmansdraw.cards import Bank, Card
from cardsharp.games.deadmansdraw.events import Comment, Event, MatchEnded
from cardsharp.games.deadmansdraw.state import CardPicker, State, TurnStartPiles
from cardsharp.games.deadmansdraw.transitions import (
    MATCH_IS_OVER,
    StateBuilder,
    effect_targets,
)

MAX_TIMEOUTS = 5  # the fifth timeout ends the match (docs/spec/arena.md section 5)


def start(
    draw_pile: tuple[Card, ...],
    discard_pile: tuple[Card, ...],
    player: int,
    banks: tuple[Bank, Bank] = (Bank(), Bank()),
    play_area: tuple[Card, ...] = (),
) -> State:
    """Return the state in which `player` begins; cards of the initial play area have no effects."""
    opening = TurnStartPiles(draw_pile, discard_pile, banks)
    return State(banks, draw_pile, discard_pile, player, opening, play_area=play_area)


def apply(state: State, action: Action, pick_cards: CardPicker) -> tuple[State, tuple[Event, ...]]:
    """Return the state after `action` of the active player, and its events in order.

    Raises `IllegalAction` if the action is not allowed here, or if the answer to an effect names no
    card. The message is the server's.
    """
    draft = StateBuilder(state, pick_cards)
    draft.begin_turn_if_ended()
    if action.answers_pending_effects:
        draft.autopick_pending()
    if not draft.between_turns:
        draft.apply_action(action)
    return draft.finish()


def force_turn_end(
    state: State,
    turn_comment: str,
    match_comment: str,
    pick_cards: CardPicker,
    *,
    can_get_stuck: bool = False,
) -> tuple[State, tuple[Event, ...]]:
    """Return the state after the active player's time ran out.

    See docs/spec/arena.md section 5, "Timeout". Pending effects are answered by autopick, the
    play area is banked, and the fifth timeout of a match ends it by points. If an autopick
    busts, a second, successful `TurnEnded` follows, as on the server.

    With `can_get_stuck` a fault of the original is repeated. If the autopick of the fifth timeout
    leaves no card to draw, the match is over before the timeout ends it, and a match that is over
    cannot be ended: `IllegalAction` is raised at every attempt, and the match stays as it is.
    """
    draft = StateBuilder(state, pick_cards)
    draft.begin_turn_if_ended()
    draft.events.append(Comment(turn_comment))
    draft.timeouts += 1
    draft.autopick_pending()
    draft.bank_turn()
    if draft.timeouts >= MAX_TIMEOUTS:
        if can_get_stuck and not draft.draw_pile:
            raise IllegalAction(MATCH_IS_OVER)
        draft.events.append(Comment(match_comment))
        draft.end_match(terminated=True)
    return draft.finish()


def terminate(
    state: State, winner: int | None, comment: str | None
) -> tuple[State, tuple[Event, ...]]:
    """Return the state after a termination; `winner` None is a tie, not a decision "by points"."""
    outcome = MatchEnded(state.scores, winner, was_terminated=True)
    events: tuple[Event, ...] = (outcome,) if comment is None else (Comment(comment), outcome)
    return replace(state, outcome=outcome), events


def legal_actions(state: State) -> tuple[Action, ...]:
    """Return the actions that differ in their effect, none once the match has ended.

    The server accepts more forms of the same action, such as Draw for taking the Oracle's card
    or for answering the Kraken; they are left out.
    """
    if state.outcome is not None:
        return ()
    pending = state.pending_effect
    if pending is None:
        return (DRAW, END_TURN) if state.play_area else (DRAW,)
    match pending.effect_type:
        case EffectType.KRAKEN:
            return (DRAW,)
        case EffectType.ORACLE:
            oracle = EffectType.ORACLE
            return (respond(oracle, pending.cards[0]), respond(oracle), END_TURN)
    cards = effect_targets(
        pending, state.banks[state.turn_player], state.banks[1 - state.turn_player]
    )
    return tuple(respond(pending.effect_type, card) for card in cards)
