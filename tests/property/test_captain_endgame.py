"""The last cards are played exactly: the search against every order of the cards, by the rules."""

from dataclasses import replace
from random import Random
from statistics import fmean

import pytest
from support.matches import RunningMatch

from cardsharp.deadmansdraw.actions import DRAW, END_TURN
from cardsharp.deadmansdraw.bank import bank_of
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card, Suit
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import apply, start
from cardsharp.deadmansdraw.simulation import fair_chance
from cardsharp.deadmansdraw.state import State
from cardsharp.deadmansdraw.strategies import build

CALM = (Suit.ANCHOR, Suit.KEY, Suit.MERMAID)
"""Suits without an effect and without a bonus: nothing but the next card is left to chance."""


def calm_opening(rng: Random) -> State:
    """One to four cards left, of few suits, so that busts are likely."""
    deck = [card for card in SERVER_DECK if card.suit in CALM]
    rng.shuffle(deck)
    left = rng.randint(1, 4)
    pile, lying, first, second, thrown = (
        tuple(deck[:left]),
        tuple({card.suit: card for card in deck[4:6]}.values()),
        deck[6:9],
        deck[9:12],
        tuple(deck[12:]),
    )
    banks = bank_of(first), bank_of(second)
    return start(pile, thrown, rng.randrange(2), banks, lying)


def chance(state: State, player: int) -> float:
    """The chance of `player` when both play best: every action, every next card."""
    if state.outcome is not None:
        winner = state.outcome.winner
        return 0.5 if winner is None else float(winner == player)
    values = [drawn(state, player)]
    if state.play_area and not state.between_turns:
        values.append(chance(apply(state, END_TURN, _unasked)[0], player))
    return max(values) if state.active == player else min(values)


def drawn(state: State, player: int) -> float:
    """The mean over the next card."""
    return fmean(
        chance(apply(replace(state, draw_pile=order), DRAW, _unasked)[0], player)
        for order in _orders(state)
    )


def _orders(state: State) -> list[tuple[Card, ...]]:
    pile = state.draw_pile
    return [(card, *(other for other in pile if other != card)) for card in pile]


def _unasked(_pile: tuple[Card, ...], _number: int) -> tuple[Card, ...]:
    raise AssertionError("nothing here is picked from the discard pile")


def options(position: Position) -> dict[object, float]:
    decision = build("captain", Random(1)).decide(position)
    return {option.action: option.value for option in decision.options}


@pytest.mark.parametrize("seed", range(12))
def test_the_last_cards_are_weighed_exactly(seed: int) -> None:
    rng = Random(f"calm/{seed}")
    state = calm_opening(rng)
    weighed = options(RunningMatch(state, fair_chance(rng)).position())
    assert weighed[DRAW] == pytest.approx(drawn(state, state.player), abs=1e-12)
    stopped = chance(apply(state, END_TURN, _unasked)[0], state.player)
    assert weighed[END_TURN] == pytest.approx(stopped, abs=1e-12)
