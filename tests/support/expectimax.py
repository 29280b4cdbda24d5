"""The plain way to the values that `lookahead.py` works out on sums: every card, by the rules.

Slow, and for small tables only: each draw tries every hidden card, each pick from the discard
pile every choice of cards.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from statistics import fmean

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, Effect, EffectType, Verb
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import State, apply, legal_actions


def value(position: Position, action: Action) -> float:
    """Expected points, own minus the opponent's, of `action` and what `steady` sees behind it.

    A draw is followed by a stop, an answer by the better of a stop and one more draw.
    """
    kraken = position.pending is not None and position.pending.effect_type is EffectType.KRAKEN
    more = action.verb is Verb.RESPOND and not kraken
    return _after(position.state(), action, known=position.known_top is not None, more=more)


def _after(state: State, action: Action, *, known: bool, more: bool) -> float:
    """The mean over the next hidden card and the picks from the discard pile."""
    draws = action.verb is not Verb.END_TURN and not known
    tops = state.draw_pile if draws and state.draw_pile else state.draw_pile[:1] or (None,)
    return fmean(
        fmean(
            _value(after, known=known and len(after.draw_pile) == len(state.draw_pile), more=more)
            for after in _outcomes(state if top is None else _with_top(state, top), action)
        )
        for top in tops
    )


def _value(state: State, *, known: bool, more: bool) -> float:
    pending = state.pending
    if state.between_turns:
        return state.scores[state.player] - state.scores[1 - state.player]
    if pending is None:
        stop = _after(state, END_TURN, known=known, more=False)
        return max(stop, _after(state, DRAW, known=known, more=False)) if more else stop
    if pending.effect_type is EffectType.ORACLE and not known:
        return fmean(
            _value(_with_top(state, top), known=True, more=more) for top in state.draw_pile
        )
    actions = legal_actions(state)
    if pending.effect_type is EffectType.ORACLE:
        take, _, end = actions  # to refuse and then draw is no better than to take
        actions = (take, end)
    if pending.effect_type is EffectType.CANNON:
        actions = (max(actions, key=lambda action: _scores_after(state, action)),)
    return max(_after(state, action, known=known, more=more) for action in actions)


def _scores_after(state: State, shot: Action) -> int:
    """Minus the opponent's points once a Cannon has shot: only the dearest target is thought of."""
    after, _ = apply(state, shot, lambda pile, number: pile[:number])
    return -after.scores[1 - state.player]


def _with_top(state: State, top: Card) -> State:
    """`state` with `top` as the next card, which a pending Oracle shows."""
    pending = state.pending
    if pending is not None and pending.effect_type is EffectType.ORACLE:
        pending = Effect(EffectType.ORACLE, (top,), pending.kraken_count)
    pile = (top, *(card for card in state.draw_pile if card != top))
    return replace(state, draw_pile=pile, pending=pending)


def _outcomes(state: State, action: Action) -> Iterator[State]:
    """The states after `action`, one for each choice of cards that chance may pick."""
    choices: list[tuple[Card, ...]] = []

    def note(pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
        assert not choices, "an action asks chance once at most"
        choices.extend(combinations(pile, number))
        return choices[0]

    first, _ = apply(state, action, note)
    yield first
    for choice in choices[1:]:
        yield apply(state, action, partial(_picked, choice))[0]


def _picked(choice: tuple[Card, ...], _pile: tuple[Card, ...], _number: int) -> tuple[Card, ...]:
    return choice
