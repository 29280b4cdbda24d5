"""Every game that is mounted, and the sample games beside them."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import cardsharp.games
from cardsharp.game import Game
from cardsharp.simulation import Simulation

_FOLDER = Path(__file__).parents[1] / "samples" / "games"

SAMPLED = tuple(sorted(file.parent.name for file in _FOLDER.glob("*/game.py")))
"""The folders of the sample games."""

SAMPLES = tuple(f"{folder}.game:GAME" for folder in SAMPLED)  # the lines that mount them, one each

NIM = "nim.game:GAME"

GAMES = (*cardsharp.games.games(), *map(cardsharp.games.mounted, SAMPLES))

HOSTED = {
    game.name: game.attend.given[0]
    for game in GAMES
    if game.attend is not None and game.attend.place.startswith("cardsharp.host.")
}
"""The games of which the house makes all but the rules, mounted or samples, and their packages."""


_MOUNT = """
import cardsharp.games
cardsharp.games.MOUNTED = (*cardsharp.games.MOUNTED, *{samples})
"""


def mount_samples(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Mount the sample games, a line each, here and in the processes that are started from here."""
    monkeypatch.setattr(cardsharp.games, "MOUNTED", (*cardsharp.games.MOUNTED, *SAMPLES))
    (folder / "sitecustomize.py").write_text(_MOUNT.format(samples=SAMPLES))
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{_FOLDER}")


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
