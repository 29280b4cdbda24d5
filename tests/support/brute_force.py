"""Perfect play of the last cards, by the rules alone: every action, next card and pick is tried."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from random import Random
from statistics import fmean
from typing import TypeVar

from cardsharp.games.deadmansdraw.actions import Action, EffectType
from cardsharp.games.deadmansdraw.cards import (
    SERVER_DECK,
    SUIT_ORDER,
    Card,
    Suit,
    bank_from_cards,
)
from cardsharp.games.deadmansdraw.rules import apply, legal_actions, start
from cardsharp.games.deadmansdraw.simulation import SimulatedMatch, match_from_state
from cardsharp.games.deadmansdraw.state import CardPicker, State, TurnStartPiles

T = TypeVar("T")
_SHOWN = 2  # an action brings a card and, where that is an Oracle, shows the next


def tiny_endgame(rng: Random, without: Collection[Suit] = ()) -> SimulatedMatch:
    """One to three cards left of a tiny deck, of all suits or of few, so that banks are deep."""
    allowed = [suit for suit in SUIT_ORDER if suit not in without]
    suits = rng.sample(allowed, min(rng.choice((3, 4, 10)), len(allowed)))
    cards = [card for card in SERVER_DECK if card.suit in suits]
    deck = rng.sample(cards, rng.randint(8, 12))
    left, lying = rng.randint(1, 3), rng.randint(0, 2)
    pile, area, rest = deck[:left], deck[left : left + lying], deck[left + lying :]
    area = [card for at, card in enumerate(area) if card.suit not in {c.suit for c in area[:at]}]
    banked, thrown = rest[:-4], rest[-4:]
    cut = rng.randint(0, len(banked))
    banks = bank_from_cards(banked[:cut]), bank_from_cards(banked[cut:])
    return match_from_state(start(tuple(pile), tuple(thrown), rng.randrange(2), banks, tuple(area)))


def action_values(state: State) -> dict[Action, float]:
    """What each action is worth to the player to act.

    The first card is known where an Oracle is pending, otherwise nobody knows the pile's order.
    """
    known = _shows(state)
    return {action: _worth(state, action, known=known) for action in legal_actions(state)}


def _worth(state: State, action: Action, *, known: bool) -> float:
    player = 1 - state.turn_player if state.is_between_turns else state.turn_player
    return fmean(
        fmean(_chance(_plain(end, known=still), player, known=still) for end in picked)
        for order in _orders(state.draw_pile, known=known)
        for picked, still in [_ends(replace(state, draw_pile=order), action, known=known)]
    )


@cache
def _chance(state: State, player: int, *, known: bool) -> float:
    """The chance of `player`, a tie counting half."""
    if state.outcome is not None:
        winner = state.outcome.winner
        return 0.5 if winner is None else float(winner == player)
    best = max(_worth(state, action, known=known) for action in legal_actions(state))
    return best if state.active_player == player else 1 - best


def _shows(state: State) -> bool:
    return (
        state.pending_effect is not None and state.pending_effect.effect_type is EffectType.ORACLE
    )


def _orders(pile: tuple[Card, ...], *, known: bool) -> Iterator[tuple[Card, ...]]:
    """The pile with each pair of cards that may come first."""
    shown = min(_SHOWN, len(pile))
    for first in combinations(pile, shown):
        for pair in {first, first[::-1]}:
            if not known or pair[:1] == pile[:1]:
                yield (*pair, *(card for card in pile if card not in pair))


def _ends(state: State, action: Action, *, known: bool) -> tuple[list[State], bool]:
    """The states after `action` with each pick from the discard pile; whether the next is known."""
    ends = [end for end, _ in all_outcomes(partial(apply, state, action))]
    untouched = known and ends[0].draw_pile[:1] == state.draw_pile[:1]
    return ends, untouched or _shows(ends[0])


def all_outcomes(act: Callable[[CardPicker], T]) -> list[T]:
    """What comes of an action with each pick from the discard pile."""
    asked: list[tuple[tuple[Card, ...], int]] = []

    def first(pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
        asked.append((pile, number))
        return pile[:number]

    ends = [act(first)]
    for pile, number in asked:
        ends = [act(lambda *_, pick=pick: pick) for pick in combinations(pile, number)]
    return ends


def _plain(state: State, *, known: bool) -> State:
    """Without what makes no difference, so that equal positions are worked out once."""
    top, thrown = int(known), tuple(sorted(state.discard_pile))
    pile = (*state.draw_pile[:top], *sorted(state.draw_pile[top:]))
    began = TurnStartPiles(pile, thrown, state.banks)
    return replace(state, draw_pile=pile, discard_pile=thrown, turn_start=began, last_delta=None)
