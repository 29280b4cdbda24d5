"""The third decides as OPPONENTS.md describes it, rule by rule."""

from random import Random

import pytest
from support.positions import card, effect, position

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType, respond
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import build

HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN


def chosen(table: Position) -> str:
    """The card with which the third answers."""
    response = build("third", Random(0)).decide(table).action.response
    assert response is not None
    return str(response.card)


@pytest.mark.parametrize(
    ("table", "action"),
    [
        (position(), DRAW),
        (position(area="Anchor7 Mermaid9 Map7"), DRAW),
        (position(area="Anchor2 Mermaid4 Map2 Key2"), END_TURN),
        (position(area="Mermaid9 Key6", own="Mermaid4 Key3"), DRAW),
        (position(area="Mermaid9 Key7", own="Mermaid4 Key3"), END_TURN),
        (position(area="Chest3 Key3"), DRAW),
        # its flaw: it draws the duplicate that it has just refused
        (position(area="Oracle3", known="Oracle4", refused="Oracle4"), DRAW),
        (position(area="Kraken3", pending=effect(KRAKEN, owed=2)), DRAW),
    ],
    ids=str,
)
def test_when_it_draws_and_when_it_stops(table: Position, action: object) -> None:
    assert build("third", Random(0)).decide(table).action == action


@pytest.mark.parametrize(
    ("area", "shown", "taken"),
    [
        ("Oracle3", "Key4", True),
        ("Oracle3", "Oracle4", False),
        ("Key3 Oracle3", "Key4", False),
        ("Key3 Oracle3", "Kraken4", True),
        ("Key3 Map3 Oracle3", "Kraken4", False),
    ],
)
def test_which_oracle_cards_it_takes(area: str, shown: str, *, taken: bool) -> None:
    table = position(area=area, pending=effect(ORACLE, shown), known=shown)
    decision = build("third", Random(0)).decide(table)
    assert decision.action == respond(ORACLE, card(shown) if taken else None)


def test_it_shoots_what_costs_the_opponent_most() -> None:
    table = position(area="Cannon2", other="Key4 Key7 Map5", pending=effect(CANNON))
    assert chosen(table) == "Map5"


@pytest.mark.parametrize(
    ("area", "own", "other", "answer"),
    [
        ("Chest3 Hook2", "Cannon5 Key2", "", "Key2"),
        ("Key3 Hook2", "Cannon5 Chest2", "", "Chest2"),
        ("Hook2", "Oracle3 Anchor4 Cannon5", "", "Cannon5"),
        ("Hook2", "Oracle3 Anchor4", "", "Anchor4"),
        ("Hook2", "Oracle7 Mermaid4", "", "Oracle7"),
        ("Hook2", "Mermaid8 Map5 Key6", "", "Map5"),
        ("Hook2 Map2", "Mermaid8 Map5 Key6", "", "Key6"),
        ("Hook2 Map2", "Map5", "", "Map5"),
        # a Sword that could only take what busts is left, unless it is all there is
        ("Hook2 Key3", "Mermaid5 Sword3", "Key4", "Mermaid5"),
        ("Hook2 Key3", "Mermaid5 Sword3", "Key4 Map4", "Sword3"),
        ("Hook2 Key3", "Sword3", "Key4", "Sword3"),
        # a Kraken with more than two cards lying, a Map with more than four
        ("Hook2 Key3", "Mermaid8 Kraken3", "", "Kraken3"),
        ("Hook2 Key3 Anchor3", "Mermaid8 Kraken3", "", "Mermaid8"),
        ("Hook2 Key3 Anchor3 Sword2", "Mermaid8 Map3", "", "Map3"),
        ("Hook2 Key3 Anchor3 Sword2 Cannon3", "Mermaid8 Map3", "", "Mermaid8"),
    ],
)
def test_what_it_hooks(area: str, own: str, other: str, answer: str) -> None:
    table = position(area=area, own=own, other=other, pending=effect(HOOK))
    assert chosen(table) == answer


@pytest.mark.parametrize(
    ("area", "own", "other", "answer"),
    [
        ("Chest2 Sword2", "", "Cannon5 Key3", "Key3"),
        ("Key2 Sword2", "", "Cannon5 Chest3", "Chest3"),
        ("Sword2", "", "Oracle3 Mermaid9 Cannon5", "Cannon5"),
        ("Sword2", "Cannon3", "Oracle3 Mermaid9 Cannon5", "Oracle3"),
        ("Sword2", "", "Mermaid8 Mermaid9 Key5", "Key5"),
        # a Hook that could only take what busts is left
        ("Sword2", "", "Hook7 Mermaid6", "Mermaid6"),
        ("Sword2", "Map3", "Hook7 Mermaid6", "Hook7"),
        ("Sword2 Key3 Map3", "", "Key5 Map7", "Map7"),
    ],
)
def test_what_it_takes_with_a_sword(area: str, own: str, other: str, answer: str) -> None:
    assert chosen(position(area=area, own=own, other=other, pending=effect(SWORD))) == answer


@pytest.mark.parametrize(
    ("area", "offer", "answer"),
    [
        ("Map2", "Mermaid9 Sword2 Cannon3", "Cannon3"),
        ("Map2", "Hook3 Map3 Kraken7", "Hook3"),
        ("Map2", "Chest3 Key7 Mermaid5", "Mermaid5"),
        ("Mermaid4 Map2", "Chest3 Key7 Mermaid5", "Key7"),
        ("Mermaid4 Map2", "Map7 Mermaid5", "Mermaid5"),
    ],
)
def test_what_it_takes_from_a_map(area: str, offer: str, answer: str) -> None:
    assert chosen(position(area=area, pending=effect(MAP, offer))) == answer
