"""All mounted games, the sample games, and matches in the form of the log."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

import cardsharp.play.catalog
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.game import Game
from cardsharp.play.simulation import Simulation
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp_tools.lab.game_adapter import LabAdapter, LabMatch, PlayedAction

_FOLDER = Path(__file__).parents[1] / "samples" / "games"

SAMPLE_NAMES = tuple(sorted(file.parent.name for file in _FOLDER.glob("*/game.py")))
"""The folders of the sample games."""

SAMPLE_SPECS = tuple(
    f"{folder}.game:GAME" for folder in SAMPLE_NAMES
)  # the lines that mount them, one each

NIM_SPEC = "nim.game:GAME"

GAMES = (*cardsharp.play.catalog.all_games(), *map(cardsharp.play.catalog.load_game, SAMPLE_SPECS))

HOSTED = {
    game.name: game.run_session.args[0]
    for game in GAMES
    if game.run_session is not None
    and game.run_session.import_path.startswith("cardsharp.server.hosted.")
}
"""The games of which the house makes all but the rules, mounted or samples, and their packages."""


_MOUNT_SCRIPT = """
import cardsharp.play.catalog
cardsharp.play.catalog.GAME_MODULES = (*cardsharp.play.catalog.GAME_MODULES, *{samples})
"""


def mount_samples(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Mount the sample games in this process and in the processes that it starts."""
    monkeypatch.setattr(
        cardsharp.play.catalog,
        "GAME_MODULES",
        (*cardsharp.play.catalog.GAME_MODULES, *SAMPLE_SPECS),
    )
    (folder / "sitecustomize.py").write_text(_MOUNT_SCRIPT.format(samples=SAMPLE_SPECS))
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{_FOLDER}")


def game_id(game: Game) -> str:
    """Return the test id of a game."""
    return game.name


def game_simulation(game: Game, seats: int | None = None) -> Simulation[Any, Any, Any]:
    """Return the simulation of a game in this process."""
    assert game.simulation is not None, "every game can be simulated"
    return game.simulation.load()(seats)


def match_states(simulation: Simulation[Any, Any, Any], seed: int) -> Iterator[Any]:
    """Yield all states of a match with random actions; the last state is final."""
    rng = Random(seed)
    state = simulation.initial_state(rng)
    while simulation.current_seat(state) is not None:
        yield state
        state = simulation.apply_action(state, rng.choice(simulation.legal_actions(state)), rng)
    yield state


# --- matches between players that need no name --------------------------------------------------

MATCH_TIME = datetime(2026, 11, 22, tzinfo=UTC)

StoredMatch = tuple[MatchRecord, list[MoveRecord]]


class SimulationPlayer:
    """Player that acts as a strategy decides."""

    def __init__(self, game: Game, strategy: str, seed: int = 1, seats: int | None = None) -> None:
        self.simulation = game_simulation(game, seats)
        self.strategy = self.simulation.build_strategy(strategy, Random(seed))

    def decide(self, state: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        return self.strategy.decide(self.simulation.current_position(state))


def new_match(game: Game, seed: int) -> Any:  # noqa: ANN401 - any game's
    """Return the initial state of a match."""
    return game_simulation(game).initial_state(Random(seed))


def play_to_end(
    state: object,
    players: Sequence[SimulationPlayer],
    rng: Random,
    is_over: Callable[[Any], bool] = lambda _: False,
) -> list[PlayedAction]:
    """Play from that state to the end with these players; the last item is the final state."""
    simulation, actions = players[0].simulation, []
    while (seat := simulation.current_seat(state)) is not None and not is_over(state):
        decision = players[seat % len(players)].decide(state)
        actions.append(PlayedAction(state, decision.action, DecisionResult(decision)))
        state = simulation.apply_action(state, decision.action, rng)
    return [*actions, PlayedAction(state, None, None)]


def stored_match(
    game: Game, actions: Sequence[PlayedAction], seats: int | None = None
) -> list[StoredMatch]:
    """Return a match in the form of the log: in Euchre one stored match for each deal."""
    simulation = game_simulation(game, seats)
    names = tuple(("one", "two", "three")[seat % 3] for seat in range(simulation.seats))
    lab_match = LabMatch(
        "played", MATCH_TIME, simulation.sides[0], names, tuple(actions[:-1]), actions[-1].state
    )
    extras: LabAdapter = LabAdapter() if game.duel_extras is None else game.duel_extras.load()()
    return list(extras.match_records(lab_match))


def play_match(game: Game, players: Sequence[SimulationPlayer], seed: int = 1) -> StoredMatch:
    """Play a match with these players by seat, and return it; in Euchre only its first deal."""
    actions = play_to_end(
        new_match(game, seed), players, Random(seed), lambda state: bool(getattr(state, "past", ()))
    )
    return stored_match(game, actions)[0]
