"""What every strategy of every game that is mounted promises."""

from itertools import islice
from random import Random

import pytest
from support.games import GAMES, simulated, states
from support.size import cases

from cardsharp.game import Game
from cardsharp.registry import strategies_of

PLAYERS = [
    pytest.param(game, name, id=f"{game.name}-{name}")
    for game in GAMES
    for name in strategies_of(game.strategies).names()
]

every_strategy = pytest.mark.parametrize(("game", "name"), PLAYERS)


@every_strategy
def test_it_says_what_it_is(game: Game, name: str) -> None:
    assert strategies_of(game.strategies).about(name).endswith(".")


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_the_default_strategy_is_one_of_them(game: Game) -> None:
    assert game.default_strategy in strategies_of(game.strategies).names()


@every_strategy
def test_it_plays_whole_matches_by_the_rules_and_says_why(game: Game, name: str) -> None:
    """Against everybody else doing anything."""
    simulation = simulated(game)
    for seat in range(cases(1, every=simulation.seats)):
        dice = Random(seat)
        player, state = simulation.strategy(name, Random(seat)), simulation.deal(dice)
        while (acting := simulation.to_act(state)) is not None:
            legal = simulation.actions(state)
            action = dice.choice(legal)
            if acting == seat:
                decision = player.decide(simulation.position(state))
                action = decision.action
                assert action in legal
                assert decision.reason.endswith(".")  # type: ignore[attr-defined]
            state = simulation.act(state, action, dice)


@every_strategy
def test_nothing_hidden_decides(game: Game, name: str) -> None:
    """What it cannot know is dealt anew: decision, reason and values stay the same."""
    simulation = simulated(game)
    for seed in range(cases(1, every=5)):
        step = 1 + seed % 3
        for number, state in enumerate(islice(states(simulation, seed), seed, 40, step)):
            if simulation.to_act(state) is None:
                break
            other = simulation.disguised(state, Random(number))
            here, there = (
                simulation.strategy(name, Random(seed)).decide(simulation.position(one))
                for one in (state, other)
            )
            assert here == there
