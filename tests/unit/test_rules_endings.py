"""How a turn and a match end by decision, not by play (docs/spec/arena.md section 4)."""

import pytest
from support.positions import cards

from cardsharp.deadmansdraw.actions import END_TURN
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.events import Comment, MatchEnded, TurnEnded
from cardsharp.deadmansdraw.rules import apply, force_turn_end, start, terminate
from cardsharp.errors import Illegal


def first(pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
    return pile[:number]


def test_a_turn_that_is_ended_by_force_banks_its_bonus_too() -> None:
    lying = start(cards("Map5"), cards("Hook2 Key2"), 0, play_area=cards("Chest4 Key4"))
    state, events = force_turn_end(lying, "late", "", first)
    assert [event.bonus for event in events if isinstance(event, TurnEnded)] == [
        cards("Hook2 Key2")
    ]
    assert (state.discard_pile, set(state.banks[0])) == ((), {*cards("Chest4 Key4 Hook2 Key2")})


def test_a_match_that_is_ended_by_decision_is_won_by_nobody_for_points() -> None:
    """Whoever leads: without a winner it is a tie."""
    leading, _ = apply(start(cards("Map5"), (), 0, play_area=cards("Chest4")), END_TURN, first)
    for winner, comment in ((None, None), (1, "late")):
        state, events = terminate(leading, winner, comment)
        assert state.outcome == MatchEnded((4, 0), winner, terminated=True)
        assert events == (*([Comment(comment)] if comment else []), state.outcome)
        with pytest.raises(Illegal, match=r"^No action possible on finished matches\.$"):
            apply(state, END_TURN, first)
