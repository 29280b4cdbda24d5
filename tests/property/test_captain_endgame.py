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

CERTAIN = [suit for suit in Suit if suit not in {Suit.MAP, Suit.CHEST}]
"""Suits with which nothing but the next card is left to chance: no Map's offer, and no bonus."""


def opening(rng: Random) -> State:
    """One to three cards left, of few suits, so that busts are likely."""
    suits = rng.sample(CERTAIN, 3)
    deck = [card for card in SERVER_DECK if card.suit in suits]
    rng.shuffle(deck)
    left = rng.randint(1, 3)
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


@pytest.mark.parametrize("seed", range(40))
def test_the_last_cards_are_weighed_exactly(seed: int) -> None:
    rng = Random(f"certain/{seed}")
    state = opening(rng)
    weighed = options(RunningMatch(state, fair_chance(rng)).position())
    assert weighed == pytest.approx(values(state), abs=1e-12)
