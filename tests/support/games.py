"""Every game that is mounted, and the sample of a whole game beside them."""

from collections.abc import Iterator
from random import Random
from typing import Any

import cardsharp.games
from cardsharp.game import Game
from cardsharp.simulation import Simulation

NIM = "nim.game:GAME"
"""The one line that mounts the sample (tests/samples/games/nim)."""

GAMES = (*cardsharp.games.games(), cardsharp.games.mounted(NIM))


def id_of(game: Game) -> str:
    """What a test of that game is called."""
    return game.name


def simulated(game: Game, seats: int | None = None) -> Simulation[Any, Any, Any]:
    """The game in this process."""
    assert game.simulation is not None, "every game can be simulated"
    return game.simulation.load()(seats)


def states(simulation: Simulation[Any, Any, Any], seed: int) -> Iterator[Any]:
    """All states of a match in which everybody does anything, the ended one last."""
    dice = Random(seed)
    state = simulation.deal(dice)
    while simulation.to_act(state) is not None:
        yield state
        state = simulation.act(state, dice.choice(simulation.actions(state)), dice)
    yield state
