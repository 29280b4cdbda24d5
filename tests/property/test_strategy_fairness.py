"""By the rules on any table, and by no seed that a view tells; the rest is each game's contract."""

from collections.abc import Callable
from itertools import islice
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.matches import RunningMatch
from support.positions import KINDS, opening
from support.recorded import SAMPLE, looks

from cardsharp.deadmansdraw.actions import Action, EffectType, Verb
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import rebuild
from cardsharp.deadmansdraw.rules import apply
from cardsharp.deadmansdraw.simulation import fair_chance
from cardsharp.deadmansdraw.strategies import Decision, Strategy, build, names
from cardsharp.deadmansdraw.strategies.choices import autopick
from cardsharp.deadmansdraw.wire import parse_view

SEEDS = st.integers(0, 10**9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in names() if "-" not in name])
def test_every_action_is_legal_and_decided_by_the_strategy_itself(name: str, kind: str) -> None:
    """In matches of random moves, on both decks and debug tables."""
    rng = Random(3)
    match = RunningMatch(opening(kind, rng), fair_chance(rng))
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


# --- recorded matches ----------------------------------------------------------------------

Table = Callable[[dict[str, Any]], Strategy]
"""Makes a strategy for a recorded view; only a cheat looks at the raw view itself."""


def with_another_seed(raw: dict[str, Any]) -> dict[str, Any]:
    """A recorded view in which everything is otherwise that tells of the server's chance."""
    params = {**raw["creationParams"], "randomSeed": "1234567890123456"}
    moves = [
        {**move, "events": [{**e, "matchStartedSeed": "1234567890123456"} for e in move["events"]]}
        for move in raw["moves"]
    ]
    return {**raw, "creationParams": params, "moves": moves}


def decides_by_seed(table: Table, matches: int, every: int) -> list[bool]:
    """For some recorded decisions, whether another seed in the view changes what is decided."""
    found = []
    for match in SAMPLE.of_random_play(matches):
        for look in islice(looks(match), 0, None, every):
            decisions = []
            for shown in (look.raw, with_another_seed(look.raw)):
                view = parse_view(shown)
                if view.active_player_index is not None:
                    position = rebuild(view, view.active_player_index)
                    decisions.append(table(shown).decide(position))
            found.append(len(decisions) == 2 and decisions[0] != decisions[1])
    return found


@pytest.mark.parametrize("name", ["captain", "adaptive", "steady"])
def test_the_seed_of_a_recorded_match_changes_no_decision(name: str) -> None:
    looked = decides_by_seed(lambda _raw: build(name, Random(1)), matches=3, every=9)
    assert len(looked) > 12
    assert not any(looked)


class SeedPeeker:
    """A cheat that stops by the seed in the view."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.even = str(raw["creationParams"].get("randomSeed"))[-1:] in "02468"

    def decide(self, position: Position) -> Decision:
        actions = position.legal_actions()
        return Decision(actions[0 if self.even else -1], "The seed says so.")


def test_a_cheat_that_looks_at_the_seed_is_caught() -> None:
    assert any(decides_by_seed(SeedPeeker, matches=3, every=9))
