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


def tiny_endgame(rng: Random, without: Collection[Suit] = ()) -> SimulatedDeadMansDrawMatch:
    """Return an endgame of a tiny deck with one to three cards in the draw pile.

    The deck has all suits or only a few, so that some banks are deep.
    """
    allowed = [suit for suit in SUIT_ORDER if suit not in without]
    suits = rng.sample(allowed, min(rng.choice((3, 4, 10)), len(allowed)))
    cards = [card for card in SERVER_DECK if card.suit in suits]
    deck = rng.sample(cards, rng.randint(8, 12))
    pile_size, lying = rng.randint(1, 3), rng.randint(0, 2)
    pile, area, rest = (
        deck[:pile_size],
        deck[pile_size : pile_size + lying],
        deck[pile_size + lying :],
    )
    area = [card for at, card in enumerate(area) if card.suit not in {c.suit for c in area[:at]}]
    banked, thrown = rest[:-4], rest[-4:]
    cut = rng.randint(0, len(banked))
    banks = bank_from_cards(banked[:cut]), bank_from_cards(banked[cut:])
    return match_from_state(start(tuple(pile), tuple(thrown), rng.randrange(2), banks, tuple(area)))


def action_values(state: State) -> dict[Action, float]:
    """Return the value of each action to the player to act.

    The top card is known if an Oracle is pending; otherwise the pile's order is unknown.
    """
    is_top_known = _shows(state)
    return {
        action: _worth(state, action, is_top_known=is_top_known) for action in legal_actions(state)
    }


def _worth(state: State, action: Action, *, is_top_known: bool) -> float:
    player = 1 - state.turn_player if state.is_between_turns else state.turn_player
    return fmean(
        fmean(
            _chance(_plain(end, is_top_known=still), player, is_top_known=still) for end in picked
        )
        for order in _orders(state.draw_pile, is_top_known=is_top_known)
        for picked, still in [
            _ends(replace(state, draw_pile=order), action, is_top_known=is_top_known)
        ]
    )


@cache
def _chance(state: State, player: int, *, is_top_known: bool) -> float:
    """Return the probability that `player` wins, a tie counting half."""
    if state.outcome is not None:
        winner = state.outcome.winner
        return 0.5 if winner is None else float(winner == player)
    best = max(_worth(state, action, is_top_known=is_top_known) for action in legal_actions(state))
    return best if state.active_player == player else 1 - best


def _shows(state: State) -> bool:
    return (
        state.pending_effect is not None and state.pending_effect.effect_type is EffectType.ORACLE
    )


def _orders(pile: tuple[Card, ...], *, is_top_known: bool) -> Iterator[tuple[Card, ...]]:
    """Yield the pile with each possible pair of first cards."""
    visible_count = min(_VISIBLE_CARD_COUNT, len(pile))
    for first in combinations(pile, visible_count):
        for pair in {first, first[::-1]}:
            if not is_top_known or pair[:1] == pile[:1]:
                yield (*pair, *(card for card in pile if card not in pair))


def _ends(state: State, action: Action, *, is_top_known: bool) -> tuple[list[State], bool]:
    """Return the states after `action` with each discard pick, and True if the top is known."""
    ends = [end for end, _ in all_outcomes(partial(apply, state, action))]
    untouched = is_top_known and ends[0].draw_pile[:1] == state.draw_pile[:1]
    return ends, untouched or _shows(ends[0])


def all_outcomes(act: Callable[[CardPicker], T]) -> list[T]:
    """Return the outcomes of an action with each possible pick from the discard pile."""
    pick_requests: list[tuple[tuple[Card, ...], int]] = []

    def first(pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
        pick_requests.append((pile, number))
        return pile[:number]

    ends = [act(first)]
    for pile, number in pick_requests:
        ends = [act(lambda *_, pick=pick: pick) for pick in combinations(pile, number)]
    return ends


def _plain(state: State, *, is_top_known: bool) -> State:
    """Return the state without irrelevant details, so that equal positions are computed once."""
    top, thrown = int(is_top_known), tuple(sorted(state.discard_pile))
    pile = (*state.draw_pile[:top], *sorted(state.draw_pile[top:]))
    began = TurnStartPiles(pile, thrown, state.banks)
    return replace(state, draw_pile=pile, discard_pile=thrown, turn_start=began, last_delta=None)
