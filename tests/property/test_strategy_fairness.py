"""Every strategy plays by the rules, and by nothing that a player may not know."""

import copy
from collections.abc import Callable, Iterable
from itertools import islice
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.matches import RunningMatch
from support.positions import KINDS, opening
from support.recorded import SAMPLE, looks

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, Verb
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import rebuild
from cardsharp.deadmansdraw.rules import State, apply, start
from cardsharp.deadmansdraw.simulation import fair_chance
from cardsharp.deadmansdraw.strategies import Decision, Strategy, build, names
from cardsharp.deadmansdraw.strategies.choices import autopick
from cardsharp.deadmansdraw.wire import parse_view

SEEDS = st.integers(0, 10**9)
Seat = Callable[[RunningMatch, Random], Strategy]
"""Makes a strategy for a match; only a cheat looks at the match itself."""


def registered(name: str) -> Seat:
    return lambda _match, rng: build(name, rng)


# --- legal play ----------------------------------------------------------------------------


SEARCHERS = ("adaptive", "captain", "steady")
"""The strategies that search, for which fewer matches must do."""


@pytest.mark.parametrize("name", sorted({*names()} - {*SEARCHERS}))
@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=SEEDS, kind=st.sampled_from(KINDS))
def test_every_action_is_legal_and_decided_by_the_strategy_itself(
    name: str, seed: int, kind: str
) -> None:
    """In matches of random moves, on both decks and debug tables, never an illegal action."""
    play_legally(name, seed, kind)


@pytest.mark.parametrize("name", SEARCHERS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_action_of_a_search_is_legal(name: str, kind: str) -> None:
    play_legally(name, 3, kind)


def play_legally(name: str, seed: int, kind: str) -> None:
    rng = Random(seed)
    match = RunningMatch(opening(kind, rng), fair_chance(rng))
    player = build(name, Random(seed))
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


# --- nothing hidden decides ----------------------------------------------------------------


def moments(seed: int, kind: str) -> tuple[RunningMatch, RunningMatch]:
    """The same moment of a random match twice, with two hidden futures.

    The order of the draw pile and the server's next picks from the discard pile differ; what was
    drawn and picked until then, and a known top card, are the same in both.
    """
    rng = Random(seed)
    first = opening(kind, rng)
    match, actions = RunningMatch(first, fair_chance(Random(seed))), list[Action]()
    for _ in range(rng.randrange(60)):
        action = rng.choice(match.position().legal_actions())
        match.play(action)
        if match.state.active is None:
            break
        actions.append(action)
    here = replayed(first, actions, seed)
    open_cards = len(first.draw_pile) - len(here.state.draw_pile)
    open_cards += here.position().known_top is not None
    hidden = list(first.draw_pile[open_cards:])
    rng.shuffle(hidden)
    pile = (*first.draw_pile[:open_cards], *hidden)
    second = start(pile, first.discard_pile, first.player, first.banks, first.play_area)
    there = replayed(second, actions, seed)
    there._chance = fair_chance(Random(seed + 1))
    return here, there


def replayed(first: State, actions: Iterable[Action], chance: int) -> RunningMatch:
    match = RunningMatch(first, fair_chance(Random(chance)))
    for action in actions:
        match.play(action)
    return match


def decides_by_hidden_order(seat: Seat, seed: int, kind: str) -> bool:
    """Whether another hidden order of the same cards changes the decision."""
    here, there = moments(seed, kind)
    mine, theirs = (seat(match, Random(seed)).decide(match.position()) for match in (here, there))
    return mine != theirs


@pytest.mark.parametrize("name", names())
@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=SEEDS, kind=st.sampled_from(KINDS))
def test_the_hidden_order_changes_no_decision(name: str, seed: int, kind: str) -> None:
    """Action, reason and values are the same whatever the order of the cards nobody has seen."""
    assert not decides_by_hidden_order(registered(name), seed, kind)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from(KINDS))
def test_a_position_is_the_same_for_every_hidden_order(seed: int, kind: str) -> None:
    here, there = moments(seed, kind)
    assert here.position() == there.position()


class Peeker:
    """A cheat: it knows the next card and stops before one that busts."""

    def __init__(self, match: RunningMatch) -> None:
        self.match = match

    def decide(self, position: Position) -> Decision:
        actions = position.legal_actions()
        if actions != (DRAW, END_TURN):
            return Decision(actions[0], "The first action.")
        suits = {card.suit for card in position.play_area}
        busts = any(card.suit in suits for card in self.match.state.draw_pile[:1])
        return Decision(END_TURN if busts else DRAW, "The next card is known.")


def catches(cheat: Callable[[RunningMatch], Strategy]) -> bool:
    """Whether another hidden order changes more than ten of at most 200 decisions."""
    caught = (
        seed
        for seed in range(200)
        if decides_by_hidden_order(lambda match, _rng: cheat(match), seed, "server")
    )
    return len([*islice(caught, 11)]) > 10


def test_a_cheat_that_looks_at_the_draw_pile_is_caught() -> None:
    """The check above finds a strategy that decides by the hidden order."""
    assert catches(Peeker)


class PickPeeker:
    """A cheat: it knows which cards the server picks next, and draws only if the first is high."""

    def __init__(self, match: RunningMatch) -> None:
        self.match = match

    def decide(self, position: Position) -> Decision:
        actions = position.legal_actions()
        if actions != (DRAW, END_TURN) or not position.discard_pile:
            return Decision(actions[0], "The first action.")
        chance = copy.deepcopy(self.match._chance)
        picked = chance(position.discard_pile, 1)[0]
        return Decision(DRAW if picked.value > 3 else END_TURN, "The next pick is known.")


def test_a_cheat_that_foresees_the_servers_picks_is_caught() -> None:
    assert catches(PickPeeker)


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
