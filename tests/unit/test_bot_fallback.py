"""Safe and blind actions: legal wherever there is a legal one, and of the least risk."""

import pytest
from support.positions import card, cards, effect, position

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, Verb, respond
from cardsharp.deadmansdraw.fallback import blind_action, safe_action
from cardsharp.deadmansdraw.position import Position

AREA = cards("Anchor3")
OFFERED = {EffectType.MAP: "Key4 Hook2", EffectType.ORACLE: "Anchor5"}


def pending(kind: EffectType, area: str = "Anchor3") -> Position:
    """A turn whose last card's effect waits for its answer."""
    waits = effect(kind, OFFERED.get(kind, ""), 2 * (kind is EffectType.KRAKEN))
    return position(own="Key5 Mermaid8", other="Chest4 Key7", area=area, pending=waits)


@pytest.mark.parametrize("kind", EffectType)
def test_every_effect_has_a_safe_and_legal_answer(kind: EffectType) -> None:
    assert safe_action(pending(kind)) in pending(kind).legal_actions()


@pytest.mark.parametrize(
    ("kind", "area", "action"),
    [
        (EffectType.HOOK, "Key3", respond(EffectType.HOOK, card("Mermaid8"))),
        (EffectType.MAP, "Key6", respond(EffectType.MAP, card("Hook2"))),
        (EffectType.KRAKEN, "Anchor3", DRAW),
        (EffectType.ORACLE, "Anchor3", END_TURN),
    ],
)
def test_what_does_not_bust_comes_first_a_duty_is_done_and_an_oracle_left_alone(
    kind: EffectType, area: str, action: Action
) -> None:
    assert safe_action(pending(kind, area)) == action


def test_a_blind_turn_without_a_card_draws_one() -> None:
    """docs/spec/arena.md section 7: an empty play area cannot be ended."""
    drawn = blind_action(())
    assert (drawn.verb, drawn.autopick) == (Verb.DRAW, True)


def test_a_blind_action_that_was_refused_gives_way_to_the_other() -> None:
    first = blind_action(AREA)
    second = blind_action(AREA, frozenset({first}))
    assert (second.verb, second.autopick) == (Verb.DRAW, True)
    assert blind_action(AREA, frozenset({first, second})) == first
