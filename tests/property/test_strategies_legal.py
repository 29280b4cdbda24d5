"""Any strategy plays any table by the rules; what decides is tested in each game's contract."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.matches import RunningMatch
from support.positions import KINDS, cards, opening

from cardsharp.deadmansdraw.actions import END_TURN, Action, EffectType, Verb
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.events import Comment, MatchEnded, TurnEnded
from cardsharp.deadmansdraw.rules import apply, force_turn_end, start, terminate
from cardsharp.deadmansdraw.simulation import fair_chance
from cardsharp.deadmansdraw.strategies import build, names
from cardsharp.deadmansdraw.strategies.choices import autopick
from cardsharp.errors import Illegal

SEEDS = st.integers(0, 10**9)


@pytest.mark.parametrize("name", [name for name in names() if "-" not in name])
def test_every_action_is_legal_and_decided_by_the_strategy_itself(name: str) -> None:
    """In a match of random moves from a debug table, of whichever deck."""
    rng = Random(3)
    match = RunningMatch(opening("debug", rng), fair_chance(rng))
    player = build(name, Random(3))
    while match.state.active is not None:
        position = match.position()
        action = player.decide(position).action
        assert action in position.legal_actions(), (position, action)
        assert not action.autopick
        match.play(rng.choice((action, *position.legal_actions())))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from(KINDS))
def test_our_autopick_is_the_servers(seed: int, kind: str) -> None:
    """Where the rules answer an effect by themselves, they answer it as `autopick` does."""
    rng = Random(seed)
    match = RunningMatch(opening(kind, rng), fair_chance(rng))
    while match.state.active is not None:
        position = match.position()
        pending = position.pending
        if pending is not None and pending.effect_type is not EffectType.KRAKEN:
            by_server = Action(Verb.END_TURN, autopick=True)
            _, events = apply(match.state, by_server, fair_chance(Random(seed)))
            _, ours = apply(match.state, autopick(position), fair_chance(Random(seed)))
            assert events[: len(ours)] == ours, position
        match.play(rng.choice(position.legal_actions()))


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
