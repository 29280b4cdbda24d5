"""`steady` finds the one right answer where there is one, and says why."""

from random import Random

import pytest
from support.positions import card, cards, effect, position

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType, respond
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, build

HOOK, SWORD, CANNON = EffectType.HOOK, EffectType.SWORD, EffectType.CANNON
MAP, ORACLE, KRAKEN = EffectType.MAP, EffectType.ORACLE, EffectType.KRAKEN


def decide(table: Position) -> Decision:
    return build("steady", Random(0)).decide(table)


def chosen(table: Position) -> str:
    """The card with which steady answers."""
    response = decide(table).action.response
    assert response is not None
    return str(response.card)


# --- stop or draw --------------------------------------------------------------------------


def test_it_stops_before_a_card_that_is_known_to_bust() -> None:
    table = position(area="Oracle3 Map2", known="Map7", refused="Map7")
    assert decide(table).action == END_TURN


def test_it_draws_a_card_that_is_known_to_be_safe() -> None:
    table = position(area="Oracle3 Map2 Anchor4 Key7 Mermaid9", known="Chest7")
    assert decide(table).action == DRAW


def test_it_draws_when_no_unseen_card_can_bust() -> None:
    table = position(area="Mermaid9 Key7", unseen="Anchor2 Chest2 Cannon3")
    assert decide(table).action == DRAW


def test_it_stops_when_much_lies_open_and_a_bust_is_likely() -> None:
    table = position(area="Mermaid9 Key7 Map6", unseen="Mermaid8 Key6 Map5 Anchor3")
    assert decide(table).action == END_TURN


def test_what_lies_before_the_anchor_is_no_risk() -> None:
    """The same four cards: saved by the Anchor they invite a draw, behind it they forbid one."""
    unseen = "Chest7 Mermaid8 Chest6 Chest5 Map5"
    saved = position(area="Mermaid9 Map6 Anchor2", unseen=unseen)
    open_to_loss = position(area="Anchor2 Mermaid9 Map6", unseen=unseen)
    assert decide(saved).action == DRAW
    assert decide(open_to_loss).action == END_TURN


def test_the_last_card_is_drawn_when_it_cannot_bust() -> None:
    """Even a card that brings nothing is taken: the opponent would have to draw it else."""
    table = position(own="Key7", area="Mermaid9", unseen="Key3")
    assert decide(table).action == DRAW


def test_the_last_card_is_left_when_it_busts() -> None:
    assert decide(position(area="Mermaid4", unseen="Mermaid9")).action == END_TURN


def test_chest_and_key_count_the_discard_pile_in() -> None:
    """Three random cards of three sevens are worth 21 points more than what lies there."""
    table = position(area="Chest2 Key2 Map2", discard="Hook7 Cannon7 Sword7", unseen="Key5 Anchor3")
    stop = next(option for option in decide(table).options if option.action == END_TURN)
    assert stop.value == pytest.approx(2 + 2 + 2 + 21)


def test_the_bonus_is_the_mean_over_all_picks() -> None:
    """Two of three: Hook7 in two of three picks; Hook3 counts in the one without it."""
    table = position(area="Chest2 Key2", discard="Hook7 Hook3 Map2", unseen="Key5")
    stop = next(option for option in decide(table).options if option.action == END_TURN)
    assert stop.value == pytest.approx(4 + (7 + (7 + 2) + (3 + 2)) / 3)


# --- effects -------------------------------------------------------------------------------


def test_an_oracle_card_that_is_safe_is_taken() -> None:
    table = position(area="Mermaid9 Oracle3", pending=effect(ORACLE, "Anchor4"), known="Anchor4")
    assert decide(table).action == respond(ORACLE, card("Anchor4"))


def test_a_turn_ends_at_an_oracle_card_that_busts() -> None:
    table = position(area="Mermaid9 Oracle3", pending=effect(ORACLE, "Mermaid4"), known="Mermaid4")
    assert decide(table).action == END_TURN


def test_a_turn_ends_at_an_oracle_card_that_busts_even_under_a_kraken() -> None:
    """EndTurn escapes what the Kraken still demands (docs/spec/arena.md section 7)."""
    pending = effect(ORACLE, "Kraken4", owed=1)
    table = position(area="Mermaid9 Kraken3 Oracle3", pending=pending, known="Kraken4")
    assert decide(table).action == END_TURN


def test_a_kraken_is_answered_by_drawing() -> None:
    decision = decide(position(area="Mermaid9 Kraken3", pending=effect(KRAKEN, owed=2)))
    assert decision.action == DRAW
    assert [option.action for option in decision.options] == [DRAW]


def test_a_kraken_is_valued_by_both_cards_that_it_demands() -> None:
    """Of two cards left one busts: after both nothing is left of the nine points."""
    table = position(
        area="Mermaid9 Kraken3",
        unseen="Mermaid4 Anchor5",
        pending=effect(KRAKEN, owed=2),
    )
    # Mermaid first: all is lost. Anchor first: what lies before it is saved, itself is not.
    assert decide(table).options[0].value == pytest.approx((0 + 9 + 3) / 2)


@pytest.mark.parametrize(("lying", "wanted"), [("Chest2", "Key2"), ("Key2", "Chest2")])
def test_a_hook_picks_the_mate_of_chest_or_key(lying: str, wanted: str) -> None:
    table = position(
        own=f"{wanted} Mermaid5 Kraken6",
        area=f"{lying} Hook2",
        discard="Cannon7 Sword7 Map7 Oracle7",
        pending=effect(HOOK),
    )
    assert chosen(table) == wanted


def test_a_hook_saves_the_table_with_an_anchor() -> None:
    """Nothing is gained by it now, but the next draw loses nothing."""
    table = position(
        own="Mermaid4 Anchor2",
        area="Map7 Cannon7 Sword7 Hook7",
        unseen="Map6 Cannon6 Chest7 Chest6 Chest5",
        pending=effect(HOOK),
    )
    assert chosen(table) == "Anchor2"


def test_a_hook_avoids_a_suit_that_lies_there() -> None:
    table = position(own="Key7 Mermaid4", area="Key3 Hook2", pending=effect(HOOK))
    assert chosen(table) == "Mermaid4"


def test_a_hook_that_must_bust_leaves_the_lower_card_that_the_anchor_saves() -> None:
    """The hooked seven is lost, so the two that lies before the Anchor counts now."""
    table = position(own="Cannon7", area="Cannon2 Anchor2 Hook2", pending=effect(HOOK))
    assert decide(table).options[0].value == 2


def test_a_hooked_oracle_shows_a_card_that_is_known_already() -> None:
    table = position(
        own="Oracle7", area="Hook2", known="Mermaid9", unseen="Mermaid9 Hook3", pending=effect(HOOK)
    )
    assert decide(table).options[0].value == pytest.approx(7 + 2 + 9)


def test_a_cannon_hits_what_costs_the_opponent_most() -> None:
    table = position(other="Key6 Key7 Map5", area="Cannon2", pending=effect(CANNON))
    assert chosen(table) == "Map5"


def test_a_sword_takes_what_hurts_and_is_kept() -> None:
    table = position(other="Mermaid9 Key7 Chest3", area="Key2 Sword2", pending=effect(SWORD))
    assert chosen(table) == "Mermaid9"


def test_a_sword_that_must_bust_still_costs_the_opponent_most() -> None:
    table = position(other="Map6 Key7", area="Sword2 Key2 Map2", pending=effect(SWORD))
    assert chosen(table) == "Key7"


def test_a_map_brings_the_card_that_adds_most() -> None:
    table = position(
        own="Mermaid8",
        area="Key3 Map2",
        unseen="Key2 Map3",
        pending=effect(MAP, "Mermaid9 Chest6 Key7"),
    )
    assert chosen(table) == "Chest6"


# --- explanations --------------------------------------------------------------------------


def test_a_stop_is_explained_by_the_points_and_the_risk() -> None:
    table = position(area="Mermaid9 Key7 Map6", unseen="Mermaid8 Key6 Map5 Anchor3")
    reason = "Stop: 22 points on the table, a draw busts with 75.0 %."
    assert decide(table).reason == reason


def test_every_legal_action_is_listed_with_its_value() -> None:
    table = position(
        other="Mermaid9 Key7", area="Cannon2", pending=effect(CANNON), unseen="Cannon3 Cannon4"
    )
    options = decide(table).options
    assert [option.action for option in options] == list(table.legal_actions())
    assert [option.value for option in options] == [2 - 7, 2 - 9]
    assert options[0].note == "costs the opponent 9 points"


def test_the_same_position_gets_the_same_decision() -> None:
    table = position(own="Key5", other="Map3", area="Mermaid4 Anchor3", discard="Key2 Map2")
    assert build("steady", Random(1)).decide(table) == build("steady", Random(2)).decide(table)


def test_cards_of_a_suit_that_nobody_knows_are_played_without_an_effect() -> None:
    table = position(area="Parrot9", unseen="Parrot2 Parrot3 Parrot4 Key2")
    assert decide(table).action == END_TURN
    assert cards("Parrot9") == table.play_area
