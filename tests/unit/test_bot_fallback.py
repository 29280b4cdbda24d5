"""Safe and blind actions: legal wherever there is a legal one, and of the least risk."""

import pytest
from support.bot_positions import DISCARDED, OWN, effect_pending

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType, Verb, respond
from cardsharp.deadmansdraw.cards import Card, Suit
from cardsharp.deadmansdraw.fallback import blind_action, safe_action

KEY, MERMAID = OWN
AREA = (Card(Suit.ANCHOR, 3),)


@pytest.mark.parametrize("effect", EffectType)
def test_every_effect_has_a_safe_and_legal_answer(effect: EffectType) -> None:
    position = effect_pending(effect, *AREA)
    assert safe_action(position) in position.legal_actions()


def test_an_answer_that_does_not_bust_comes_before_one_that_does() -> None:
    assert safe_action(effect_pending(EffectType.HOOK, Card(Suit.KEY, 3))) == respond(
        EffectType.HOOK, MERMAID
    )
    lying = Card(Suit(DISCARDED[0].suit), 6)
    assert safe_action(effect_pending(EffectType.MAP, lying)) == respond(
        EffectType.MAP, DISCARDED[1]
    )


def test_the_krakens_duty_is_done_and_the_oracle_left_alone() -> None:
    assert safe_action(effect_pending(EffectType.KRAKEN, *AREA)) == DRAW
    assert safe_action(effect_pending(EffectType.ORACLE, *AREA)) == END_TURN


def test_a_blind_turn_without_a_card_draws_one() -> None:
    """docs/spec/arena.md section 7: an empty play area cannot be ended."""
    drawn = blind_action(())
    assert (drawn.verb, drawn.autopick) == (Verb.DRAW, True)


def test_a_blind_action_that_was_refused_gives_way_to_the_other() -> None:
    first = blind_action(AREA)
    second = blind_action(AREA, frozenset({first}))
    assert (second.verb, second.autopick) == (Verb.DRAW, True)
    assert blind_action(AREA, frozenset({first, second})) == first
