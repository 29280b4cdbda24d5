"""Positions so small that all that may come of them can be tried."""

from collections.abc import Collection
from random import Random

from cardsharp.deadmansdraw.bank import bank_of
from cardsharp.deadmansdraw.cards import SERVER_DECK, SUIT_ORDER, Suit
from cardsharp.deadmansdraw.rules import start
from cardsharp.deadmansdraw.simulation import Match, match_from


def tiny(dice: Random, without: Collection[Suit] = ()) -> Match:
    """One to three cards left of a tiny deck, of all suits or of few, so that banks are deep."""
    allowed = [suit for suit in SUIT_ORDER if suit not in without]
    suits = dice.sample(allowed, min(dice.choice((3, 4, 10)), len(allowed)))
    cards = [card for card in SERVER_DECK if card.suit in suits]
    deck = dice.sample(cards, dice.randint(8, 12))
    left, lying = dice.randint(1, 3), dice.randint(0, 2)
    pile, area, rest = deck[:left], deck[left : left + lying], deck[left + lying :]
    area = [card for at, card in enumerate(area) if card.suit not in {c.suit for c in area[:at]}]
    banked, thrown = rest[:-4], rest[-4:]
    cut = dice.randint(0, len(banked))
    banks = bank_of(banked[:cut]), bank_of(banked[cut:])
    return match_from(start(tuple(pile), tuple(thrown), dice.randrange(2), banks, tuple(area)))
