"""Every game that is mounted, the sample games beside them, and matches as the log keeps them."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

import cardsharp.games
from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deciding import Decided
from cardsharp.game import Game
from cardsharp.simulation import Simulation
from cardsharp.strategy import Decision
from workbench.lab.extras import Extras, LabMatch, Taken

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


# --- matches between players that need no name --------------------------------------------------

AT = datetime(2026, 11, 22, tzinfo=UTC)

Kept = tuple[MatchRecord, list[MoveRecord]]


class Decides:
    """Takes what a strategy decides."""

    def __init__(self, game: Game, strategy: str, seed: int = 1, seats: int | None = None) -> None:
        self.simulation = simulated(game, seats)
        self.strategy = self.simulation.strategy(strategy, Random(seed))

    def decide(self, state: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        return self.strategy.decide(self.simulation.position(state))


def begun(game: Game, seed: int) -> Any:  # noqa: ANN401 - any game's
    """A new match."""
    return simulated(game).deal(Random(seed))


def taken(
    state: object,
    players: Sequence[Decides],
    dice: Random,
    over: Callable[[Any], bool] = lambda _: False,
) -> list[Taken]:
    """What the players, seat by seat, do from that state on; at last the end, as a state."""
    simulation, notes = players[0].simulation, []
    while (seat := simulation.to_act(state)) is not None and not over(state):
        decision = players[seat % len(players)].decide(state)
        notes.append(Taken(state, decision.action, Decided(decision)))
        state = simulation.act(state, decision.action, dice)
    return [*notes, Taken(state, None, None)]


def kept(game: Game, notes: Sequence[Taken], seats: int | None = None) -> list[Kept]:
    """A match as the log keeps it: in Euchre one for each deal."""
    simulation = simulated(game, seats)
    names = tuple(("one", "two", "three")[seat % 3] for seat in range(simulation.seats))
    told = LabMatch("played", AT, simulation.sides[0], names, tuple(notes[:-1]), notes[-1].state)
    extras: Extras = Extras() if game.lab is None else game.lab.load()()
    return list(extras.kept(told))


def played(game: Game, players: Sequence[Decides], seed: int = 1) -> Kept:
    """A match between those players, seat by seat; in Euchre its first deal, and no other."""
    notes = taken(
        begun(game, seed), players, Random(seed), lambda now: bool(getattr(now, "past", ()))
    )
    return kept(game, notes)[0]
