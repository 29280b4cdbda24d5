"""Positions of Dead Man's Draw for tests, written by hand."""

from cardsharp.games.deadmansdraw.actions import EffectType, PendingEffect
from cardsharp.games.deadmansdraw.cards import (
    SERVER_DECK,
    Card,
    bank_from_cards,
    cards_without,
)
from cardsharp.games.deadmansdraw.history.replay import parse_card
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition

card = parse_card  # that `Key5` names; also of a suit that nobody knows


def cards(names: str) -> tuple[Card, ...]:
    """The cards named in a string, such as `Key5 Map3`."""
    return tuple(map(card, names.split()))


def effect(effect_type: EffectType, offered: str = "", owed: int = 0) -> PendingEffect:
    """An effect that is pending."""
    return PendingEffect(effect_type, cards(offered), owed)


def position(  # noqa: PLR0913 - each part of a table is optional, and named where it is given
    *,
    bank: str = "",
    other: str = "",
    area: str = "",
    discard: str = "",
    unseen: str | None = None,
    pending: PendingEffect | None = None,
    known_top: str = "",
    refused: str = "",
) -> DeadMansDrawPosition:
    """Return a position of player 0; the unseen cards default to all cards not placed elsewhere."""
    banks, lying, thrown = (cards(bank), cards(other)), cards(area), cards(discard)
    of_map = pending is not None and pending.effect_type is EffectType.MAP
    placed = (*banks[0], *banks[1], *lying, *thrown, *(pending.cards if of_map else ()))
    hidden = cards_without(SERVER_DECK, placed) if unseen is None else cards(unseen)
    return DeadMansDrawPosition(
        seat=0,
        banks=(bank_from_cards(banks[0]), bank_from_cards(banks[1])),
        play_area=lying,
        pending=pending,
        discard_pile=thrown,
        unseen=hidden,
        known_top=card(known_top) if known_top else None,
        refused_oracle_card=card(refused) if refused else None,
    )
