"""Positions for tests of what is decided in them."""

from dataclasses import replace

from cardsharp.deadmansdraw.actions import Effect, EffectType
from cardsharp.deadmansdraw.bank import bank_of
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card, Suit, lowest_of_each_suit, without
from cardsharp.deadmansdraw.position import Position

OWN = (Card(Suit.KEY, 5), Card(Suit.MERMAID, 8))
OTHER = (Card(Suit.CHEST, 4), Card(Suit.KEY, 7))
DISCARDED = lowest_of_each_suit(SERVER_DECK)


def opening() -> Position:
    """A turn that begins: nothing lies in the play area."""
    return Position(
        me=0,
        banks=(bank_of(OWN), bank_of(OTHER)),
        play_area=(),
        pending=None,
        discard_pile=DISCARDED,
        unseen=without(SERVER_DECK, (*DISCARDED, *OWN, *OTHER)),
    )


def position_with(*cards: Card, pending: Effect | None = None) -> Position:
    """A turn in which these cards lie in the play area."""
    before = opening()
    return replace(before, play_area=cards, pending=pending, unseen=without(before.unseen, cards))


def effect_pending(effect: EffectType, *lying: Card) -> Position:
    """A turn whose last card's effect waits for its answer."""
    offered: tuple[Card, ...] = ()
    if effect is EffectType.MAP:
        offered = DISCARDED[:3]
    elif effect is EffectType.ORACLE:
        offered = (Card(Suit.ANCHOR, 5),)
    count = 2 if effect is EffectType.KRAKEN else 0
    card = Card(Suit(effect.value), 6)
    return position_with(*lying, card, pending=Effect(effect, offered, count))
