"""The champion and the third decide as docs/spec/arena.md section 9 describes it, rule by rule."""

from random import Random

import pytest
from support.positions import card, effect, position

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType, respond
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import build

HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN
CHAMPION, THIRD = "champion", "third"


def chosen(name: str, table: Position) -> str:
    """The card with which a player answers."""
    response = build(name, Random(0)).decide(table).action.response
    assert response is not None
    return str(response.card)


@pytest.mark.parametrize(
    ("name", "table", "action"),
    [
        (CHAMPION, position(), DRAW),
        (CHAMPION, position(area="Anchor7 Mermaid9"), DRAW),
        (CHAMPION, position(area="Anchor7 Mermaid9 Map2"), END_TURN),
        (CHAMPION, position(area="Anchor3 Key3 Map3", own="Anchor3 Key4 Map5"), DRAW),
        (CHAMPION, position(area="Anchor3 Key3 Map3", own="Anchor2 Key4 Map5"), END_TURN),
        (CHAMPION, position(area="Chest3 Key3", own="Chest7 Key7"), END_TURN),
        (CHAMPION, position(area="Oracle3", refused="Oracle4"), END_TURN),
        (CHAMPION, position(area="Oracle3", known="Oracle4"), DRAW),
        (CHAMPION, position(area="Kraken3", pending=effect(KRAKEN, owed=2)), DRAW),
        (THIRD, position(), DRAW),
        (THIRD, position(area="Anchor7 Mermaid9 Map7"), DRAW),
        (THIRD, position(area="Anchor2 Mermaid4 Map2 Key2"), END_TURN),
        (THIRD, position(area="Mermaid9 Key6", own="Mermaid4 Key3"), DRAW),
        (THIRD, position(area="Mermaid9 Key7", own="Mermaid4 Key3"), END_TURN),
        (THIRD, position(area="Chest3 Key3"), DRAW),
        # its flaw: it draws the duplicate that it has just refused
        (THIRD, position(area="Oracle3", known="Oracle4", refused="Oracle4"), DRAW),
        (THIRD, position(area="Kraken3", pending=effect(KRAKEN, owed=2)), DRAW),
    ],
    ids=str,
)
def test_when_it_draws_and_when_it_stops(name: str, table: Position, action: object) -> None:
    assert build(name, Random(0)).decide(table).action == action


@pytest.mark.parametrize(
    ("name", "area", "shown", "owed", "taken"),
    [
        (CHAMPION, "Oracle3", "Key4", 0, True),
        (CHAMPION, "Key3 Oracle3", "Key4", 0, False),
        (CHAMPION, "Oracle3", "Kraken4", 0, True),
        (CHAMPION, "Key3 Oracle3", "Kraken4", 0, False),
        (CHAMPION, "Kraken3 Oracle3", "Kraken4", 1, True),
        (THIRD, "Oracle3", "Key4", 0, True),
        (THIRD, "Oracle3", "Oracle4", 0, False),
        (THIRD, "Key3 Oracle3", "Key4", 0, False),
        (THIRD, "Key3 Oracle3", "Kraken4", 0, True),
        (THIRD, "Key3 Map3 Oracle3", "Kraken4", 0, False),
    ],
)
def test_which_oracle_cards_it_takes(
    name: str, area: str, shown: str, owed: int, *, taken: bool
) -> None:
    table = position(area=area, pending=effect(ORACLE, shown, owed), known=shown)
    decision = build(name, Random(0)).decide(table)
    assert decision.action == respond(ORACLE, card(shown) if taken else None)


@pytest.mark.parametrize(
    ("name", "area", "own", "other", "answer"),
    [
        (CHAMPION, "Chest3 Hook2", "Cannon5 Key2", "", "Key2"),
        (CHAMPION, "Key3 Hook2", "Cannon5 Chest2", "", "Chest2"),
        (CHAMPION, "Hook2", "Kraken2 Mermaid5 Chest2 Map3 Oracle4 Cannon5", "", "Cannon5"),
        (CHAMPION, "Hook2", "Mermaid5 Anchor3 Anchor6", "", "Anchor6"),
        (CHAMPION, "Cannon2 Hook2", "Kraken7 Cannon5 Mermaid4", "", "Mermaid4"),
        # a Sword is safe only where it has no target or a safe one
        (CHAMPION, "Hook2", "Mermaid5 Sword3", "Key4", "Sword3"),
        (CHAMPION, "Hook2", "Mermaid5 Sword3", "Mermaid4", "Sword3"),
        (CHAMPION, "Hook2 Key3", "Mermaid5 Sword3", "Key4", "Mermaid5"),
        # nothing safe: the first suit of the bank
        (CHAMPION, "Hook2 Key3 Map2", "Map3 Key5", "", "Map3"),
        (CHAMPION, "Hook2", "Hook5 Hook6", "", "Hook6"),
        (THIRD, "Chest3 Hook2", "Cannon5 Key2", "", "Key2"),
        (THIRD, "Key3 Hook2", "Cannon5 Chest2", "", "Chest2"),
        (THIRD, "Hook2", "Oracle3 Anchor4 Cannon5", "", "Cannon5"),
        (THIRD, "Hook2", "Oracle3 Anchor4", "", "Anchor4"),
        (THIRD, "Hook2", "Oracle7 Mermaid4", "", "Oracle7"),
        (THIRD, "Hook2", "Mermaid8 Map5 Key6", "", "Map5"),
        (THIRD, "Hook2 Map2", "Mermaid8 Map5 Key6", "", "Key6"),
        (THIRD, "Hook2 Map2", "Map5", "", "Map5"),
        # a Sword that could only take what busts is left, unless it is all there is
        (THIRD, "Hook2 Key3", "Mermaid5 Sword3", "Key4", "Mermaid5"),
        (THIRD, "Hook2 Key3", "Mermaid5 Sword3", "Key4 Map4", "Sword3"),
        (THIRD, "Hook2 Key3", "Sword3", "Key4", "Sword3"),
        # a Kraken with more than two cards lying, a Map with more than four
        (THIRD, "Hook2 Key3", "Mermaid8 Kraken3", "", "Kraken3"),
        (THIRD, "Hook2 Key3 Anchor3", "Mermaid8 Kraken3", "", "Mermaid8"),
        (THIRD, "Hook2 Key3 Anchor3 Sword2", "Mermaid8 Map3", "", "Map3"),
        (THIRD, "Hook2 Key3 Anchor3 Sword2 Cannon3", "Mermaid8 Map3", "", "Mermaid8"),
    ],
)
def test_what_it_hooks(name: str, area: str, own: str, other: str, answer: str) -> None:
    table = position(area=area, own=own, other=other, pending=effect(HOOK))
    assert chosen(name, table) == answer


@pytest.mark.parametrize(
    ("name", "other", "answer"),
    [
        (CHAMPION, "Key4 Map6", "Map6"),
        (CHAMPION, "Key4 Key7 Map5", "Map5"),
        (CHAMPION, "Key4 Map4", "Key4"),
        (CHAMPION, "Key3 Key7 Map4", "Key7"),
        (THIRD, "Key4 Key7 Map5", "Map5"),
    ],
)
def test_it_shoots_what_costs_the_opponent_most(name: str, other: str, answer: str) -> None:
    assert chosen(name, position(area="Cannon2", other=other, pending=effect(CANNON))) == answer


@pytest.mark.parametrize(
    ("name", "area", "own", "other", "answer"),
    [
        (CHAMPION, "Chest2 Sword2", "", "Hook5 Key3", "Key3"),
        (CHAMPION, "Key2 Sword2", "", "Mermaid9 Chest3", "Chest3"),
        (CHAMPION, "Sword2", "Key3", "Anchor7 Map2 Hook4", "Hook4"),
        # a Hook without a safe card to hook is not safe
        (CHAMPION, "Sword2", "", "Anchor7 Map2 Hook4", "Map2"),
        (CHAMPION, "Sword2", "", "Key5 Mermaid8 Kraken6", "Mermaid8"),
        (CHAMPION, "Sword2", "Mermaid4", "Key5 Mermaid8 Kraken6", "Kraken6"),
        (CHAMPION, "Sword2 Key4 Map4", "", "Key5 Map5", "Map5"),
        (THIRD, "Chest2 Sword2", "", "Cannon5 Key3", "Key3"),
        (THIRD, "Key2 Sword2", "", "Cannon5 Chest3", "Chest3"),
        (THIRD, "Sword2", "", "Oracle3 Mermaid9 Cannon5", "Cannon5"),
        (THIRD, "Sword2", "Cannon3", "Oracle3 Mermaid9 Cannon5", "Oracle3"),
        (THIRD, "Sword2", "", "Mermaid8 Mermaid9 Key5", "Key5"),
        # a Hook that could only take what busts is left
        (THIRD, "Sword2", "", "Hook7 Mermaid6", "Mermaid6"),
        (THIRD, "Sword2", "Map3", "Hook7 Mermaid6", "Hook7"),
        (THIRD, "Sword2 Key3 Map3", "", "Key5 Map7", "Map7"),
    ],
)
def test_what_it_takes_with_a_sword(
    name: str, area: str, own: str, other: str, answer: str
) -> None:
    table = position(area=area, own=own, other=other, pending=effect(SWORD))
    assert chosen(name, table) == answer


@pytest.mark.parametrize(
    ("name", "area", "own", "offer", "answer"),
    [
        (CHAMPION, "Map2", "Key3", "Mermaid9 Cannon3 Hook2", "Hook2"),
        (CHAMPION, "Map2", "", "Mermaid9 Cannon3 Hook2", "Cannon3"),
        (CHAMPION, "Map2", "", "Mermaid5 Anchor6 Chest3", "Anchor6"),
        (CHAMPION, "Map2", "", "Kraken7 Anchor6", "Kraken7"),
        (CHAMPION, "Key2 Map2", "", "Kraken7 Anchor6", "Anchor6"),
        (CHAMPION, "Key2 Map2", "", "Kraken7 Key6 Map3", "Kraken7"),
        (CHAMPION, "Key2 Map2", "", "Key6 Map3", "Map3"),
        (THIRD, "Map2", "", "Mermaid9 Sword2 Cannon3", "Cannon3"),
        (THIRD, "Map2", "", "Hook3 Map3 Kraken7", "Hook3"),
        (THIRD, "Map2", "", "Chest3 Key7 Mermaid5", "Mermaid5"),
        (THIRD, "Mermaid4 Map2", "", "Chest3 Key7 Mermaid5", "Key7"),
        (THIRD, "Mermaid4 Map2", "", "Map7 Mermaid5", "Mermaid5"),
    ],
)
def test_what_it_takes_from_a_map(name: str, area: str, own: str, offer: str, answer: str) -> None:
    assert chosen(name, position(area=area, own=own, pending=effect(MAP, offer))) == answer
