"""Positions of Dead Man's Draw for tests, from short texts."""

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
    """Return the cards of a text such as `Key5 Map3`."""
    return tuple(map(card, names.split()))


def effect(effect_type: EffectType, offered: str = "", owed: int = 0) -> PendingEffect:
    """Return a pending effect."""
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
    banks, play_area, discard_pile = (cards(bank), cards(other)), cards(area), cards(discard)
    is_map = pending is not None and pending.effect_type is EffectType.MAP
    visible_cards = (
        *banks[0],
        *banks[1],
        *play_area,
        *discard_pile,
        *(pending.cards if is_map else ()),
    )
    unseen_cards = cards_without(SERVER_DECK, visible_cards) if unseen is None else cards(unseen)
    return DeadMansDrawPosition(
        seat=0,
        banks=(bank_from_cards(banks[0]), bank_from_cards(banks[1])),
        play_area=play_area,
        pending=pending,
        discard_pile=discard_pile,
        unseen=unseen_cards,
        known_top=card(known_top) if known_top else None,
        refused_oracle_card=card(refused) if refused else None,
    )
