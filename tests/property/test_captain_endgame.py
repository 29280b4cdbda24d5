"""The last cards are played exactly: the search against every order of the cards, by the rules."""

from random import Random

import pytest
from support.matches import RunningMatch
from support.perfect import values

from cardsharp.deadmansdraw.bank import bank_of
from cardsharp.deadmansdraw.cards import SERVER_DECK, Suit
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import start
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


def options(position: Position) -> dict[object, float]:
    decision = build("captain", Random(1)).decide(position)
    return {option.action: option.value for option in decision.options}


@pytest.mark.parametrize("seed", range(12))
def test_the_last_cards_are_weighed_exactly(seed: int) -> None:
    rng = Random(f"calm/{seed}")
    state = calm_opening(rng)
    weighed = options(RunningMatch(state, fair_chance(rng)).position())
    assert weighed == pytest.approx(values(state), abs=1e-12)
