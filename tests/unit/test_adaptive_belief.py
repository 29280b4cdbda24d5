"""Who the opponent is: known ones are found by their decisions, all others stay strangers."""

from collections.abc import Iterator
from random import Random

import pytest
from support.matches import RunningMatch

from cardsharp.deadmansdraw.actions import DRAW
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.simulation import deal, fair_chance
from cardsharp.deadmansdraw.strategies import Decision, Strategy, build
from cardsharp.deadmansdraw.strategies.adaptive import Adaptive
from cardsharp.deadmansdraw.strategies.adaptive_belief import GENERAL, Belief, known_opponents
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen, Witness, drawn_in
from cardsharp.deadmansdraw.strategies.dossier import PastMatch, briefed
from workbench.lab.plan import Plan
from workbench.lab.players import strategy_of


class Whim:
    """Nobody known: it stops, and answers effects, by whim."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def decide(self, position: Position) -> Decision:
        return Decision(self.rng.choice(position.legal_actions()), "A whim.")


PLAN = Plan(first="captain", second="captain", pairs=1)


def opponent(name: str, rng: Random) -> Strategy:
    return Whim(rng) if name == "whim" else strategy_of(PLAN, name, rng)


def played(name: str, seed: int) -> RunningMatch:
    """A match of that opponent, who is player 1, against a `third`."""
    rng = Random(seed)
    match = RunningMatch(deal(rng), fair_chance(rng))
    match.finish(build("third", rng), opponent(name, rng))
    return match


def shown(name: str, matches: int) -> Iterator[Seen]:
    for seed in range(matches):
        match = played(name, seed)
        witness = Witness(drawn_in(match.history))
        for move in match.history:
            yield from witness.decisions(move, 1)


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("champion", "champion"),
        ("third", "third"),
        ("example-node", "example-node"),
        ("draw-3", "scripted"),
        ("champion-2", "champion"),
        ("champion-4", "champion"),
        ("whim", GENERAL),
        ("captain", GENERAL),
    ],
)
def test_an_opponent_is_known_by_its_decisions(name: str, weights: str) -> None:
    """The two variants of the champion, which stop otherwise, count as its kin."""
    belief = Belief(known_opponents())
    belief.see_all(shown(name, 1 if name == "captain" else 3))
    assert belief.weights() == weights


def test_a_belief_that_is_contradicted_is_given_up() -> None:
    """Somebody who has played as the champion and then decides by whim gets the general player."""
    belief = Belief(known_opponents())
    belief.see_all(shown("champion", 3))
    assert belief.weights() == "champion"
    belief.see_all(shown("whim", 1))
    assert belief.weights() == GENERAL


def test_adaptive_knows_an_opponent_from_past_matches_at_once() -> None:
    """With the past in mind the very first decision of a match is made with its weights."""
    past = [PastMatch(1, played("third", seed).history) for seed in range(2)]
    rng = Random(9)
    match = RunningMatch(deal(rng), fair_chance(rng))
    match.play(DRAW)
    while match.position().legal_actions() == (DRAW,):
        match.play(DRAW)
    position = match.position()
    stranger = Adaptive(Random(0))
    knowing = briefed(stranger, past)
    assert knowing is not stranger
    assert "as against third" in knowing.decide(position).reason
    assert stranger.decide(position) == build("captain", Random(0)).decide(position)


def test_adaptive_decides_the_same_however_often_it_is_made_anew() -> None:
    """A worker rebuilds it for every turn; what it keeps meanwhile only saves time."""
    rng = Random(4)
    match = RunningMatch(deal(rng), fair_chance(rng))
    kept, other = Adaptive(Random(0)), build("champion", rng)
    for _ in range(60):
        position = match.position()
        if position.me == 1:
            match.play(other.decide(position).action)
            continue
        decision = kept.decide(position)
        if len(decision.options) > 1 and rng.random() < 0.3:
            assert Adaptive(Random(0)).decide(position) == decision
        match.play(decision.action)
