"""`captain`: sound on any table, always the same, and explained."""

from random import Random

import pytest
from support.matches import RunningMatch
from support.positions import KINDS, card, effect, opening, position

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, EffectType, Verb, respond
from cardsharp.deadmansdraw.simulation import fair_chance
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS, Captain, is_ordinary
from cardsharp.deadmansdraw.strategies.search.weights import model

OLD = "Anchor2 Hook2 Cannon2 Key2 Chest2 Map2 Oracle2 Sword2 Kraken2 Mermaid4"


@pytest.mark.parametrize("kind", KINDS)
def test_every_decision_is_legal_and_a_chance_to_win(kind: str) -> None:
    rng = Random(f"captain/{kind}")
    captain = build("captain", rng)
    for _ in range(3 if kind == "debug" else 1):
        match = RunningMatch(opening(kind, rng), fair_chance(rng))
        while match.state.active is not None:
            table = match.position()
            decision = captain.decide(table)
            assert decision.action in table.legal_actions()
            if is_ordinary(table):
                assert all(0.0 <= option.value <= 1.0 for option in decision.options)
                assert decision.action in {option.action for option in decision.options}
            match.play(decision.action)


def test_same_position_same_decision_by_another_captain() -> None:
    rng = Random(5)
    match = RunningMatch(opening("server", rng), fair_chance(rng))
    while match.state.active is not None:
        table = match.position()
        decision = build("captain", Random(1)).decide(table)
        if table.pending is not None or len(table.unseen) < 5:
            assert decision == build("captain", Random(2)).decide(table)
        match.play(decision.action)


def test_a_known_next_card_that_busts_is_not_drawn() -> None:
    table = position(own="Key5", other="Map6", area="Hook4 Chest6", discard=OLD, known="Hook7")
    assert build("captain", Random(1)).decide(table).action == END_TURN


def test_an_oracles_card_is_never_refused() -> None:
    shown = effect(EffectType.ORACLE, "Mermaid9")
    table = position(area="Oracle4", discard=OLD, pending=shown, known="Mermaid9")
    decision = build("captain", Random(1)).decide(table)
    assert decision.action == respond(EffectType.ORACLE, card("Mermaid9"))
    assert respond(EffectType.ORACLE) not in {option.action for option in decision.options}


def test_the_lead_is_banked_before_the_last_card() -> None:
    """One card is left and would bust: stopping now wins, drawing it would tie."""
    lying, last = "Mermaid5", "Mermaid4"
    table = position(own="Key3", other="Map3", area=lying, unseen=last, discard="Anchor2 Hook2")
    decision = build("captain", Random(1)).decide(table)
    assert decision.action == END_TURN


def test_with_nothing_to_lose_the_last_card_is_drawn() -> None:
    """Stopping leaves the opponent the last card and a lead: only the draw can win."""
    table = position(own="Key3", other="Map7", area="Hook2", unseen="Mermaid9", discard="Anchor2")
    decision = build("captain", Random(1)).decide(table)
    assert decision.action == DRAW
    drawn = next(option for option in decision.options if option.action == DRAW)
    assert drawn.value == pytest.approx(1.0)


def test_the_reason_names_the_chance_the_risk_and_what_would_be_banked() -> None:
    table = position(own="Key5", other="Map6", area="Hook4 Chest6", discard=OLD)
    decision = build("captain", Random(1)).decide(table)
    assert "% to win" in decision.reason
    notes = {option.action.verb: option.note for option in decision.options}
    assert notes[Verb.END_TURN] == "banks 10"
    assert notes[Verb.DRAW].startswith("busts ")


def test_what_the_anchor_saves_is_named() -> None:
    table = position(area="Key5 Anchor3 Hook4", discard=OLD)
    options = build("captain", Random(1)).decide(table).options
    assert "the Anchor saves 5" in next(o.note for o in options if o.action == DRAW)


def test_a_table_with_a_card_twice_is_left_to_steady() -> None:
    table = position(own="Key5", area="Key5 Map3", unseen="Hook3 Hook4")
    assert not is_ordinary(table)
    assert build("captain", Random(1)).decide(table) == build("steady", Random(1)).decide(table)


def test_when_time_is_short_the_options_weighed_so_far_must_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    table = position(own="Key5", other="Map6", area="Hook4 Chest6", discard=OLD)
    decision = Captain(model(WEIGHTS), late=lambda: True).decide(table)
    assert [option.action for option in decision.options] == [decision.action]
    assert "Time is short: 1 of 2 weighed." in caplog.text
