"""What every game that is mounted promises of its rules, whatever the game."""

import json
from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Any

import pytest
from support.games import GAMES, id_of, simulated, states
from support.size import cases

from cardsharp.errors import Malformed, RulesError
from cardsharp.game import Game
from cardsharp.simulation import Simulation

SEEDS = range(cases(3, every=20))

HIDING = ("deadmansdraw", "blef", "euchre")
"""Games of which it is known that something is hidden."""

every_game = pytest.mark.parametrize("game", GAMES, ids=id_of)
every_match = pytest.mark.parametrize("seed", SEEDS)


@every_game
@every_match
def test_legal_actions_are_all_that_is_accepted(game: Game, seed: int) -> None:
    """Each is accepted; what is legal at other moments of the match alone is refused."""
    simulation = simulated(game)
    match = list(states(simulation, seed))
    known = {action for state in match for action in simulation.actions(state)}
    for state in match[:-1]:
        legal = simulation.actions(state)
        assert legal, "whoever is to act can"
        assert len({*legal}) == len(legal)
        for action in legal:
            simulation.act(state, action, Random(seed))
        others = sorted(known - {*legal}, key=str)
        for action in Random(seed).sample(others, min(5, len(others))):
            assert refused(simulation, state, action) or does_as_one_of(
                simulation, state, action, legal
            ), (state, action)


def refused(simulation: Simulation[Any, Any, Any], state: object, action: object) -> bool:
    try:
        simulation.act(state, action, Random(0))
    except RulesError:
        return True
    return False


def does_as_one_of(
    simulation: Simulation[Any, Any, Any], state: object, action: object, legal: Sequence[object]
) -> bool:
    """Whether it is only another spelling, as Draw is of an answer to a Kraken."""
    after = simulation.act(state, action, Random(0))
    return any(simulation.act(state, other, Random(0)) == after for other in legal)


@every_game
@every_match
def test_a_match_ends_and_its_points_are_shared(game: Game, seed: int) -> None:
    simulation = simulated(game)
    *_, ended = states(simulation, seed)
    points = simulation.points(ended)
    assert sum(points) == pytest.approx(1)
    assert all(points[seat] == points[side[0]] for side in simulation.sides for seat in side)
    assert not simulation.actions(ended)


WITH_MATERIAL = [one for one in GAMES if simulated(one).material(next(states(simulated(one), 0)))]


@pytest.mark.parametrize("game", WITH_MATERIAL, ids=id_of)
@every_match
def test_nothing_is_made_or_lost(game: Game, seed: int) -> None:
    """In every game that says of what it is made."""
    assert len(WITH_MATERIAL) > 2
    simulation = simulated(game)
    first, *rest = (simulation.material(state) for state in states(simulation, seed))
    assert all(material == first for material in rest)


@every_game
@every_match
def test_the_same_dice_give_the_same_match(game: Game, seed: int) -> None:
    simulation = simulated(game)
    assert list(states(simulation, seed)) == list(states(simulation, seed))
    others = (list(states(simulation, seed + more)) for more in range(1, 20))
    assert any(other != list(states(simulation, seed)) for other in others)


@every_game
@every_match
def test_a_state_is_read_back_as_it_was_written(game: Game, seed: int) -> None:
    simulation = simulated(game)
    for state in islice(states(simulation, seed), 0, None, cases(7, every=1)):
        body = json.loads(json.dumps(simulation.dump(state)))
        assert simulation.load(body) == state


@every_game
@pytest.mark.parametrize("body", [{}, {"state": 1}, {"heaps": "many"}])
def test_what_is_no_state_is_refused(game: Game, body: dict[str, object]) -> None:
    with pytest.raises(Malformed):
        simulated(game).load(body)


@every_game
@every_match
def test_what_is_hidden_does_not_show_in_a_position(game: Game, seed: int) -> None:
    """Dealt anew, a game of cards is another match, and looks the same."""
    simulation, moved = simulated(game), False
    for number, state in enumerate(islice(states(simulation, seed), 200)):
        if simulation.to_act(state) is not None:
            other = simulation.disguised(state, Random(number))
            moved |= other != state
            assert simulation.position(other) == simulation.position(state)
            assert simulation.actions(other) == simulation.actions(state)
    assert moved or game.name not in HIDING
