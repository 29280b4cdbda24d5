"""Matches of an opponent against `third`, and the decisions that they show."""

from collections.abc import Iterator
from functools import cache
from random import Random

from cardsharp.games.deadmansdraw.simulation import DeadMansDrawSimulation
from cardsharp.games.deadmansdraw.strategies import PastMatch, build
from cardsharp.games.deadmansdraw.strategies.observed_decisions import (
    ObservedDecision,
    opponent_decisions,
)
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.plan import plan_duel
from cardsharp_tools.lab.players import build_player

GAME = DeadMansDrawSimulation()
PLAN = plan_duel("captain", "captain", pairs=1)


@cache
def play_opponent_match(name: str, seed: int) -> PastMatch:
    """Return a match of that opponent, who is player 1, against `third`."""
    rng = Random(seed)
    match, players = (
        GAME.initial_state(rng),
        (build("third", rng), build_player(PLAN, BuiltIn(name), rng)),
    )
    while (active := GAME.current_seat(match)) is not None:
        match = GAME.apply_action(match, players[active].decide(match.current_position).action, rng)
    return PastMatch(1, match.history)


def observed_decisions(name: str, matches: range) -> Iterator[ObservedDecision]:
    """Yield the decisions of that opponent in its matches with these seeds."""
    for seed in matches:
        yield from opponent_decisions(play_opponent_match(name, seed))
