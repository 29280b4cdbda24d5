"""`steady` finds the one right answer where there is one, and says why."""

from random import Random

import pytest
from support.positions import card, effect, position

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType, respond
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, build

HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN
ANCHORED = "Chest7 Mermaid8 Chest6 Chest5 Map5"


def decide(table: Position) -> Decision:
    return build("steady", Random(0)).decide(table)


def shown(name: str, area: str, owed: int = 0) -> Position:
    """An Oracle has shown that card."""
    return position(area=area, pending=effect(ORACLE, name, owed), known=name)


@pytest.mark.parametrize(
    ("table", "action"),
    [
        (position(area="Oracle3 Map2", known="Map7", refused="Map7"), END_TURN),
        (position(area="Oracle3 Map2 Anchor4 Key7 Mermaid9", known="Chest7"), DRAW),
        (position(area="Mermaid9 Key7", unseen="Anchor2 Chest2 Cannon3"), DRAW),
        (position(area="Mermaid9 Key7 Map6", unseen="Mermaid8 Key6 Map5 Anchor3"), END_TURN),
        # saved by the Anchor the same cards invite a draw, behind it they forbid one
        (position(area="Mermaid9 Map6 Anchor2", unseen=ANCHORED), DRAW),
        (position(area="Anchor2 Mermaid9 Map6", unseen=ANCHORED), END_TURN),
        # even a last card that brings nothing is taken: the opponent would have to draw it else
        (position(own="Key7", area="Mermaid9", unseen="Key3"), DRAW),
        (position(area="Mermaid4", unseen="Mermaid9"), END_TURN),
        (position(area="Mermaid9 Kraken3", pending=effect(KRAKEN, owed=2)), DRAW),
        (shown("Anchor4", "Mermaid9 Oracle3"), respond(ORACLE, card("Anchor4"))),
        (shown("Mermaid4", "Mermaid9 Oracle3"), END_TURN),
        # EndTurn escapes what the Kraken still demands (docs/spec/arena.md section 7)
        (shown("Kraken4", "Mermaid9 Kraken3 Oracle3", owed=1), END_TURN),
        (position(area="Parrot9", unseen="Parrot2 Parrot3 Parrot4 Key2"), END_TURN),
    ],
)
def test_when_it_draws_and_when_it_stops(table: Position, action: object) -> None:
    assert decide(table).action == action


def hook(own: str, area: str, **more: str) -> Position:
    return position(own=own, area=area, pending=effect(HOOK), **more)


@pytest.mark.parametrize(
    ("table", "answer"),
    [
        (hook("Key2 Mermaid5 Kraken6", "Chest2 Hook2", discard="Cannon7 Map7 Oracle7"), "Key2"),
        (hook("Chest2 Mermaid5 Kraken6", "Key2 Hook2", discard="Cannon7 Map7 Oracle7"), "Chest2"),
        # nothing is gained by the Anchor now, but the next draw loses nothing
        (
            hook(
                "Mermaid4 Anchor2",
                "Map7 Cannon7 Sword7 Hook7",
                unseen="Map6 Cannon6 Chest7 Chest6 Chest5",
            ),
            "Anchor2",
        ),
        (hook("Key7 Mermaid4", "Key3 Hook2"), "Mermaid4"),
        (position(other="Key6 Key7 Map5", area="Cannon2", pending=effect(CANNON)), "Map5"),
        (
            position(other="Mermaid9 Key7 Chest3", area="Key2 Sword2", pending=effect(SWORD)),
            "Mermaid9",
        ),
        (position(other="Map6 Key7", area="Sword2 Key2 Map2", pending=effect(SWORD)), "Key7"),
        (
            position(
                own="Mermaid8",
                area="Key3 Map2",
                unseen="Key2 Map3",
                pending=effect(MAP, "Mermaid9 Chest6 Key7"),
            ),
            "Chest6",
        ),
    ],
)
def test_with_which_card_it_answers(table: Position, answer: str) -> None:
    response = decide(table).action.response
    assert response is not None
    assert str(response.card) == answer


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
                area="Mermaid9 Kraken3",
                unseen="Mermaid4 Anchor5",
                pending=effect(KRAKEN, owed=2),
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
