"""Matches of any game as the match log keeps them, between players that need no name."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deciding import Decided
from cardsharp.game import Game
from cardsharp.strategy import Decision
from support.games import simulated
from workbench.lab.extras import Extras, LabMatch, Taken

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
    state: Any,  # noqa: ANN401 - any game's
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
