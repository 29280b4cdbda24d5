"""Matches of any game as the match log keeps them, between players that need no name."""

from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.game import Game
from cardsharp.strategy import Strategy
from support.games import simulated
from workbench.lab.extras import Taken, Told, extras_of

AT = datetime(2026, 11, 22, tzinfo=UTC)

Kept = tuple[MatchRecord, list[MoveRecord]]


class AtRandom:
    """Takes any legal action."""

    def __init__(self, game: Game, seed: int) -> None:
        self.simulation, self.dice = simulated(game), Random(seed)

    def action(self, state: Any) -> Any:  # noqa: ANN401 - any game's
        return self.dice.choice(self.simulation.actions(state))


class Decides:
    """Takes what a strategy decides."""

    def __init__(self, game: Game, strategy: Strategy[Any, Any] | str) -> None:
        self.simulation = simulated(game)
        named = isinstance(strategy, str)
        self.strategy = self.simulation.strategy(strategy, Random(1)) if named else strategy

    def action(self, state: Any) -> Any:  # noqa: ANN401 - any game's
        return self.strategy.decide(self.simulation.position(state)).action


def begun(game: Game, seed: int) -> Any:  # noqa: ANN401 - any game's
    """A new match."""
    return simulated(game).deal(Random(seed))


def taken(game: Game, state: Any, players: Sequence[Any], dice: Random) -> tuple[list[Taken], Any]:  # noqa: ANN401
    """What the players, seat by seat, do from there to the end, and the end."""
    simulation, notes = simulated(game), []
    while (seat := simulation.to_act(state)) is not None:
        notes.append(Taken(state, players[seat % len(players)].action(state), None))
        state = simulation.act(state, notes[-1].action, dice)
    return notes, state


def kept(game: Game, notes: Sequence[Taken], end: Any) -> list[Kept]:  # noqa: ANN401
    """A match as the log keeps it: in Euchre one for each deal."""
    simulation = simulated(game)
    names = ("one", "two") * (simulation.seats // 2)
    told = Told("played", AT, simulation.sides[0], names, tuple(notes), end)
    return list(extras_of(game.name).kept(told))


def played(game: Game, players: Sequence[Any], seed: int = 1) -> Kept:
    """A match between those players, seat by seat; in Euchre its first deal."""
    return kept(game, *taken(game, begun(game, seed), players, Random(seed)))[0]
