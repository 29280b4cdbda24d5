"""Matches of Dead Man's Draw between strategies that need no name."""

from collections.abc import Callable
from random import Random

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.events import Event
from cardsharp.deadmansdraw.position import PastMove, Position
from cardsharp.deadmansdraw.simulation import DeadMansDraw, match_from
from cardsharp.deadmansdraw.state import Chance, State
from cardsharp.deadmansdraw.strategies import Strategy

Maker = Callable[[Random], Strategy]


class RunningMatch:
    """A match that is played on, move by move."""

    def __init__(self, opening: State, chance: Chance) -> None:
        self.now = match_from(opening)
        self._chance = chance

    @property
    def state(self) -> State:
        return self.now.state

    @property
    def history(self) -> tuple[PastMove, ...]:
        return self.now.history

    def position(self) -> Position:
        return self.now.position

    def play(self, action: Action) -> tuple[Event, ...]:
        self.now = self.now.after(action, self._chance)
        return self.history[-1].events

    def finish(self, *players: Strategy) -> dict[str, tuple[float, ...]]:
        """Play to the end; the counts, and the points."""
        while self.state.active is not None:
            self.play(players[self.state.active].decide(self.position()).action)
        game = DeadMansDraw()
        return {**game.counts(self.now), "points": game.points(self.now)}
