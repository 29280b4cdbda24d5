"""The champion decides as OPPONENTS.md describes it, rule by rule."""

from random import Random

import pytest
from support.positions import card, effect, position

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType, respond
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import build

HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN


def chosen(table: Position) -> str:
    """The card with which the champion answers."""
    response = build("champion", Random(0)).decide(table).action.response
    assert response is not None
    return str(response.card)


@pytest.mark.parametrize(
    ("table", "action"),
    [
        (position(), DRAW),
        (position(area="Anchor7 Mermaid9"), DRAW),
        (position(area="Anchor7 Mermaid9 Map2"), END_TURN),
        (position(area="Anchor3 Key3 Map3", own="Anchor3 Key4 Map5"), DRAW),
        (position(area="Anchor3 Key3 Map3", own="Anchor2 Key4 Map5"), END_TURN),
        (position(area="Chest3 Key3", own="Chest7 Key7"), END_TURN),
        (position(area="Oracle3", refused="Oracle4"), END_TURN),
        (position(area="Oracle3", known="Oracle4"), DRAW),
        (position(area="Kraken3", pending=effect(KRAKEN, owed=2)), DRAW),
    ],
    ids=str,
)
def test_when_it_draws_and_when_it_stops(table: Position, action: object) -> None:
    assert build("champion", Random(0)).decide(table).action == action


@pytest.mark.parametrize(
    ("area", "shown", "owed", "taken"),
    [
        ("Oracle3", "Key4", 0, True),
        ("Key3 Oracle3", "Key4", 0, False),
        ("Oracle3", "Kraken4", 0, True),
        ("Key3 Oracle3", "Kraken4", 0, False),
        ("Kraken3 Oracle3", "Kraken4", 1, True),
    ],
)
def test_which_oracle_cards_it_takes(area: str, shown: str, owed: int, *, taken: bool) -> None:
    table = position(area=area, pending=effect(ORACLE, shown, owed), known=shown)
    decision = build("champion", Random(0)).decide(table)
    assert decision.action == respond(ORACLE, card(shown) if taken else None)


@pytest.mark.parametrize(
    ("area", "own", "other", "answer"),
    [
        ("Chest3 Hook2", "Cannon5 Key2", "", "Key2"),
        ("Key3 Hook2", "Cannon5 Chest2", "", "Chest2"),
        ("Hook2", "Kraken2 Mermaid5 Chest2 Map3 Oracle4 Cannon5", "", "Cannon5"),
        ("Hook2", "Mermaid5 Anchor3 Anchor6", "", "Anchor6"),
        ("Cannon2 Hook2", "Kraken7 Cannon5 Mermaid4", "", "Mermaid4"),
        # a Sword is safe only where it has no target or a safe one
        ("Hook2", "Mermaid5 Sword3", "Key4", "Sword3"),
        ("Hook2", "Mermaid5 Sword3", "Mermaid4", "Sword3"),
        ("Hook2 Key3", "Mermaid5 Sword3", "Key4", "Mermaid5"),
        # nothing safe: the first suit of the bank
        ("Hook2 Key3 Map2", "Map3 Key5", "", "Map3"),
        ("Hook2", "Hook5 Hook6", "", "Hook6"),
    ],
)
def test_what_it_hooks(area: str, own: str, other: str, answer: str) -> None:
    table = position(area=area, own=own, other=other, pending=effect(HOOK))
    assert chosen(table) == answer


@pytest.mark.parametrize(
    ("other", "answer"),
    [
        ("Key4 Map6", "Map6"),
        ("Key4 Key7 Map5", "Map5"),
        ("Key4 Map4", "Key4"),
        ("Key3 Key7 Map4", "Key7"),
    ],
)
def test_it_shoots_what_costs_the_opponent_most(other: str, answer: str) -> None:
    assert chosen(position(area="Cannon2", other=other, pending=effect(CANNON))) == answer


@pytest.mark.parametrize(
    ("area", "own", "other", "answer"),
    [
        ("Chest2 Sword2", "", "Hook5 Key3", "Key3"),
        ("Key2 Sword2", "", "Mermaid9 Chest3", "Chest3"),
        ("Sword2", "Key3", "Anchor7 Map2 Hook4", "Hook4"),
        # a Hook without a safe card to hook is not safe
        ("Sword2", "", "Anchor7 Map2 Hook4", "Map2"),
        ("Sword2", "", "Key5 Mermaid8 Kraken6", "Mermaid8"),
        ("Sword2", "Mermaid4", "Key5 Mermaid8 Kraken6", "Kraken6"),
        ("Sword2 Key4 Map4", "", "Key5 Map5", "Map5"),
    ],
)
def test_what_it_takes_with_a_sword(area: str, own: str, other: str, answer: str) -> None:
    assert chosen(position(area=area, own=own, other=other, pending=effect(SWORD))) == answer


@pytest.mark.parametrize(
    ("area", "own", "offer", "answer"),
    [
        ("Map2", "Key3", "Mermaid9 Cannon3 Hook2", "Hook2"),
        ("Map2", "", "Mermaid9 Cannon3 Hook2", "Cannon3"),
        ("Map2", "", "Mermaid5 Anchor6 Chest3", "Anchor6"),
        ("Map2", "", "Kraken7 Anchor6", "Kraken7"),
        ("Key2 Map2", "", "Kraken7 Anchor6", "Anchor6"),
        ("Key2 Map2", "", "Kraken7 Key6 Map3", "Kraken7"),
        ("Key2 Map2", "", "Key6 Map3", "Map3"),
    ],
)
def test_what_it_takes_from_a_map(area: str, own: str, offer: str, answer: str) -> None:
    assert chosen(position(area=area, own=own, pending=effect(MAP, offer))) == answer
