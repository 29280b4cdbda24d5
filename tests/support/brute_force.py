"""Perfect play of endgames by the rules alone: every action, next card and pick is tried."""

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
from cardsharp.games.deadmansdraw.simulation import SimulatedDeadMansDrawMatch, match_from_state
from cardsharp.games.deadmansdraw.state import CardPicker, State, TurnStartPiles

T = TypeVar("T")
_VISIBLE_CARD_COUNT = 2  # an action brings a card and, where that is an Oracle, shows the next


def tiny_endgame(rng: Random, excluded_suits: Collection[Suit] = ()) -> SimulatedDeadMansDrawMatch:
    """Return an endgame of a tiny deck with one to three cards in the draw pile.

    The deck has all suits or only a few, so that some banks are deep.
    """
    allowed_suits = [suit for suit in SUIT_ORDER if suit not in excluded_suits]
    suits = rng.sample(allowed_suits, min(rng.choice((3, 4, 10)), len(allowed_suits)))
    cards = [card for card in SERVER_DECK if card.suit in suits]
    deck = rng.sample(cards, rng.randint(8, 12))
    pile_size, area_size = rng.randint(1, 3), rng.randint(0, 2)
    pile, area, rest = (
        deck[:pile_size],
        deck[pile_size : pile_size + area_size],
        deck[pile_size + area_size :],
    )
    area = [
        card for index, card in enumerate(area) if card.suit not in {c.suit for c in area[:index]}
    ]
    bank_cards, discard_pile = rest[:-4], rest[-4:]
    first_bank_size = rng.randint(0, len(bank_cards))
    banks = (
        bank_from_cards(bank_cards[:first_bank_size]),
        bank_from_cards(bank_cards[first_bank_size:]),
    )
    return match_from_state(
        start(tuple(pile), tuple(discard_pile), rng.randrange(2), banks, tuple(area))
    )


def action_values(state: State) -> dict[Action, float]:
    """Return the value of each action to the player to act.

    The top card is known if an Oracle is pending; otherwise the pile's order is unknown.
    """
    is_top_known = _is_top_visible(state)
    return {
        action: _action_value(state, action, is_top_known=is_top_known)
        for action in legal_actions(state)
    }


def _action_value(state: State, action: Action, *, is_top_known: bool) -> float:
    player = 1 - state.turn_player if state.is_between_turns else state.turn_player
    return fmean(
        fmean(
            _win_probability(
                _normalized_state(end, is_top_known=is_next_top_visible),
                player,
                is_top_known=is_next_top_visible,
            )
            for end in next_states
        )
        for order in _possible_orders(state.draw_pile, is_top_known=is_top_known)
        for next_states, is_next_top_visible in [
            _next_states(replace(state, draw_pile=order), action, is_top_known=is_top_known)
        ]
    )


@cache
def _win_probability(state: State, player: int, *, is_top_known: bool) -> float:
    """Return the probability that `player` wins, a tie counting half."""
    if state.outcome is not None:
        winner = state.outcome.winner
        return 0.5 if winner is None else float(winner == player)
    best = max(
        _action_value(state, action, is_top_known=is_top_known) for action in legal_actions(state)
    )
    return best if state.active_player == player else 1 - best


def _is_top_visible(state: State) -> bool:
    return (
        state.pending_effect is not None and state.pending_effect.effect_type is EffectType.ORACLE
    )


def _possible_orders(pile: tuple[Card, ...], *, is_top_known: bool) -> Iterator[tuple[Card, ...]]:
    """Yield the pile with each possible pair of first cards."""
    visible_count = min(_VISIBLE_CARD_COUNT, len(pile))
    for first in combinations(pile, visible_count):
        for pair in {first, first[::-1]}:
            if not is_top_known or pair[:1] == pile[:1]:
                yield (*pair, *(card for card in pile if card not in pair))


def _next_states(state: State, action: Action, *, is_top_known: bool) -> tuple[list[State], bool]:
    """Return the states after `action` with each discard pick, and True if the top is known."""
    states = [end for end, _ in all_outcomes(partial(apply, state, action))]
    is_top_unchanged = is_top_known and states[0].draw_pile[:1] == state.draw_pile[:1]
    return states, is_top_unchanged or _is_top_visible(states[0])


def all_outcomes(act: Callable[[CardPicker], T]) -> list[T]:
    """Return the outcomes of an action with each possible pick from the discard pile."""
    pick_requests: list[tuple[tuple[Card, ...], int]] = []

    def record_pick(pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
        pick_requests.append((pile, number))
        return pile[:number]

    outcomes = [act(record_pick)]
    for pile, count in pick_requests:
        outcomes = [act(lambda *_, pick=pick: pick) for pick in combinations(pile, count)]
    return outcomes


def _normalized_state(state: State, *, is_top_known: bool) -> State:
    """Return the state without irrelevant details, so that equal positions are computed once."""
    fixed_count, discard_pile = int(is_top_known), tuple(sorted(state.discard_pile))
    pile = (*state.draw_pile[:fixed_count], *sorted(state.draw_pile[fixed_count:]))
    turn_start = TurnStartPiles(pile, discard_pile, state.banks)
    return replace(
        state, draw_pile=pile, discard_pile=discard_pile, turn_start=turn_start, last_delta=None
    )
