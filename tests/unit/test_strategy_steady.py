"""`steady` finds the one right answer where there is one, and says why."""

from random import Random

import pytest
from support.positions import effect, position

from cardsharp.deadmansdraw.actions import END_TURN, EffectType
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, build

HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN


def decide(table: Position) -> Decision:
    return build("steady", Random(0)).decide(table)


def hook(own: str, area: str, **more: str) -> Position:
    return position(own=own, area=area, pending=effect(HOOK), **more)


def stopping(area: str, discard: str, unseen: str) -> float | None:
    """What it is worth to stop."""
    options = decide(position(area=area, discard=discard, unseen=unseen)).options
    return next(option.value for option in options if option.action == END_TURN)


def test_chest_and_key_count_the_mean_of_what_the_discard_pile_may_bring() -> None:
    sevens = stopping("Chest2 Key2 Map2", "Hook7 Cannon7 Sword7", "Key5 Anchor3")
    assert sevens == pytest.approx(2 + 2 + 2 + 21)
    # Two of three: Hook7 in two of three picks; Hook3 counts in the one without it.
    two_of_three = stopping("Chest2 Key2", "Hook7 Hook3 Map2", "Key5")
    assert two_of_three == pytest.approx(4 + (7 + (7 + 2) + (3 + 2)) / 3)


@pytest.mark.parametrize(
    ("table", "worth"),
    [
        # Mermaid first: all is lost. Anchor first: what lies before it is saved, itself is not.
        (
            position(
                area="Mermaid9 Kraken3", unseen="Mermaid4 Anchor5", pending=effect(KRAKEN, owed=2)
            ),
            (0 + 9 + 3) / 2,
        ),
        # the hooked seven is lost, so the two that lies before the Anchor counts now
        (hook("Cannon7", "Cannon2 Anchor2 Hook2"), 2),
        # a hooked Oracle shows a card that is known already
        (hook("Oracle7", "Hook2", known="Mermaid9", unseen="Mermaid9 Hook3"), 7 + 2 + 9),
    ],
)
def test_what_an_answer_is_worth(table: Position, worth: float) -> None:
    assert decide(table).options[0].value == pytest.approx(worth)


def test_every_legal_action_is_listed_with_its_value() -> None:
    table = position(
        other="Mermaid9 Key7", area="Cannon2", pending=effect(CANNON), unseen="Cannon3 Cannon4"
    )
    options = decide(table).options
    assert [option.action for option in options] == list(table.legal_actions())
    assert [option.value for option in options] == [2 - 7, 2 - 9]
    assert options[0].note == "costs the opponent 9 points"
