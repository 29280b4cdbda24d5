"""The example clients and the players that draw until k cards lie there."""

from random import Random

import pytest
from support.positions import card, effect, position

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType, respond
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import build

HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN


class Dice(Random):
    """A generator that always rolls the same."""

    def __init__(self, roll: float) -> None:
        super().__init__(0)
        self.roll = roll

    def random(self) -> float:
        return self.roll


@pytest.mark.parametrize("name", ["example-node", "example-java"])
def test_an_example_client_stops_with_three_chances_in_ten(name: str) -> None:
    table = position(area="Key3")
    assert build(name, Dice(0.29)).decide(table).action == END_TURN
    assert build(name, Dice(0.31)).decide(table).action == DRAW
    assert build(name, Dice(0.29)).decide(position()).action == DRAW
    kraken = position(area="Kraken3", pending=effect(KRAKEN, owed=2))
    assert build(name, Dice(0.29)).decide(kraken).action == DRAW


@pytest.mark.parametrize(
    ("table", "node", "java"),
    [
        (position(own="Key3 Key7 Map5", area="Key4 Hook2", pending=effect(HOOK)), "Map5", "Key7"),
        (position(own="Key3 Map5", area="Key4 Map3 Hook2", pending=effect(HOOK)), "Key3", "Key3"),
        (position(other="Key3 Map5", area="Key4 Cannon2", pending=effect(CANNON)), "Key3", "Key3"),
        (
            position(own="Key2", other="Key3 Map5 Map6", area="Map4 Sword2", pending=effect(SWORD)),
            "Map6",
            "Map6",
        ),
        (position(area="Key4 Map2", pending=effect(MAP, "Key3 Chest6")), "Chest6", "Key3"),
        (position(area="Map2", pending=effect(MAP, "Map3 Map4")), "Map3", "Map3"),
    ],
    ids=str,
)
def test_what_an_example_client_answers(table: Position, node: str, java: str) -> None:
    assert table.pending is not None
    kind = table.pending.effect_type
    for name, answer in (("example-node", node), ("example-java", java)):
        assert build(name, Random(0)).decide(table).action == respond(kind, card(answer))


def test_only_the_java_client_takes_an_oracles_card_and_not_always() -> None:
    table = position(area="Oracle3", pending=effect(ORACLE, "Key4"), known="Key4")
    refusal = respond(ORACLE)
    assert build("example-node", Dice(0.9)).decide(table).action == refusal
    assert build("example-java", Dice(0.9)).decide(table).action == respond(ORACLE, card("Key4"))
    assert build("example-java", Dice(0.29)).decide(table).action == refusal


def test_draw_k_stops_at_k_cards_also_of_a_debug_start_state() -> None:
    table = position(area="Key3 Map4")
    assert build("draw-2", Random(0)).decide(table).action == END_TURN
    assert build("draw-3", Random(0)).decide(table).action == DRAW
