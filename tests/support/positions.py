"""Positions of Dead Man's Draw for tests, written by hand."""

from cardsharp.games.deadmansdraw.actions import EffectType, PendingEffect
from cardsharp.games.deadmansdraw.cards import (
    SERVER_DECK,
    Card,
    bank_from_cards,
    cards_without,
)
from cardsharp.games.deadmansdraw.history.replay import parse_card
from cardsharp.games.deadmansdraw.position import Position

card = parse_card  # that `Key5` names; also of a suit that nobody knows


def cards(names: str) -> tuple[Card, ...]:
    """The cards named in a string, such as `Key5 Map3`."""
    return tuple(map(card, names.split()))


def effect(effect_type: EffectType, offered: str = "", owed: int = 0) -> PendingEffect:
    """An effect that is pending."""
    return PendingEffect(effect_type, cards(offered), owed)


def position(  # noqa: PLR0913 - each part of a table is optional, and named where it is given
    *,
    own: str = "",
    other: str = "",
    area: str = "",
    discard: str = "",
    unseen: str | None = None,
    pending: PendingEffect | None = None,
    known: str = "",
    refused: str = "",
) -> Position:
    """Player 0's decision; the unseen cards are those named, or all that lie nowhere else."""
    banks, lying, thrown = (cards(own), cards(other)), cards(area), cards(discard)
    of_map = pending is not None and pending.effect_type is EffectType.MAP
    placed = (*banks[0], *banks[1], *lying, *thrown, *(pending.cards if of_map else ()))
    hidden = cards_without(SERVER_DECK, placed) if unseen is None else cards(unseen)
    return Position(
        seat=0,
        banks=(bank_from_cards(banks[0]), bank_from_cards(banks[1])),
        play_area=lying,
        pending=pending,
        discard_pile=thrown,
        unseen=hidden,
        known_top=card(known) if known else None,
        refused_oracle_card=card(refused) if refused else None,
    )
