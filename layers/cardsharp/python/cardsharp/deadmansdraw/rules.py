"""The rules of Dead Man's Draw as the running server plays them: pure functions over `State`.

Source: docs/spec/arena.md section 7, checked against every recorded match. Where the rule book
and the server differ (docs/rules.md), the server wins. Chance, the only thing that the
rules do not decide, is an argument: see `Chance`. The same functions serve the arena, which
knows the draw pile, and the strategies, which put a guess in its place.
"""

from dataclasses import replace

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.deadmansdraw.cards import Bank, Card
from cardsharp.deadmansdraw.draft import Draft, answers
from cardsharp.deadmansdraw.events import Comment, Event, MatchEnded
from cardsharp.deadmansdraw.state import Chance, State, TurnStart

MAX_TIMEOUTS = 5  # the fifth ends the match (docs/spec/arena.md section 5)


def start(
    draw_pile: tuple[Card, ...],
    discard_pile: tuple[Card, ...],
    player: int,
    banks: tuple[Bank, Bank] = (Bank(), Bank()),
    play_area: tuple[Card, ...] = (),
) -> State:
    """The state in which `player` is to begin; the initial play area triggers no effects."""
    opening = TurnStart(draw_pile, discard_pile, banks)
    return State(banks, draw_pile, discard_pile, player, opening, play_area=play_area)


def apply(state: State, action: Action, chance: Chance) -> tuple[State, tuple[Event, ...]]:
    """The state after `action` of the active player, and what happened, in order.

    Raises `Illegal` if the action is not allowed here, or the answer to an effect names no card;
    the text is the server's.
    """
    draft = Draft(state, chance)
    draft.open_turn()
    if action.autopick:
        draft.answer_pending()
    if not draft.between_turns:
        draft.perform(action)
    return draft.settle()


def force_turn_end(
    state: State, turn_comment: str, match_comment: str, chance: Chance
) -> tuple[State, tuple[Event, ...]]:
    """The state after the active player's time ran out (docs/spec/arena.md section 5, "Timeout").

    Pending effects are answered by autopick, the play area is banked, and the fifth timeout of
    a match ends it by points. An autopick that busts still gets its second, successful
    `TurnEnded`, as on the server.
    """
    draft = Draft(state, chance)
    draft.open_turn()
    draft.events.append(Comment(turn_comment))
    draft.timeouts += 1
    draft.answer_pending()
    draft.bank_turn()
    if draft.timeouts >= MAX_TIMEOUTS:
        draft.events.append(Comment(match_comment))
        draft.end_match(terminated=True)
    return draft.settle()


def terminate(
    state: State, winner: int | None, comment: str | None
) -> tuple[State, tuple[Event, ...]]:
    """The state after the match was ended by decision; `winner` None is a tie, not "by points"."""
    ended = MatchEnded(state.scores, winner, terminated=True)
    events: tuple[Event, ...] = (ended,) if comment is None else (Comment(comment), ended)
    return replace(state, outcome=ended), events


def legal_actions(state: State) -> tuple[Action, ...]:
    """The actions that differ in what they do, none once the match has ended.

    The server knows more spellings of the same action, such as Draw for taking the Oracle's card
    or answering the Kraken; they are left out.
    """
    if state.outcome is not None:
        return ()
    pending = state.pending
    if pending is None:
        return (DRAW, END_TURN) if state.play_area else (DRAW,)
    match pending.effect_type:
        case EffectType.KRAKEN:
            return (DRAW,)
        case EffectType.ORACLE:
            oracle = EffectType.ORACLE
            return (respond(oracle, pending.cards[0]), respond(oracle), END_TURN)
    cards = answers(pending, state.banks[state.player], state.banks[1 - state.player])
    return tuple(respond(pending.effect_type, card) for card in cards)
