"""The example clients and the players that draw until k cards lie there."""

from random import Random

import pytest
from support.positions import card, effect, position

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType, respond
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


def test_only_the_java_client_takes_an_oracles_card_and_not_always() -> None:
    table = position(area="Oracle3", pending=effect(ORACLE, "Key4"), known="Key4")
    refusal = respond(ORACLE)
    assert build("example-node", Dice(0.9)).decide(table).action == refusal
    assert build("example-java", Dice(0.9)).decide(table).action == respond(ORACLE, card("Key4"))
    assert build("example-java", Dice(0.29)).decide(table).action == refusal
