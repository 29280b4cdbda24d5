"""Nim in one process, for lab, contract tests and pages."""

from collections.abc import Sequence
from random import Random

from cardsharp.errors import ConfigError, Illegal
from cardsharp.simulation import Simulation
from cardsharp.strategy import Decision, Strategy
from nim import strategies
from nim.position import Position, position_of
from nim.rules import SEATS, Action, State, apply, legal_actions

HEAPS, LARGEST = 3, 7


class Nim(Simulation[State, Position, Action]):
    """Three heaps of up to seven stones."""

    kind = State
    sides = ((0,), (1,))

    def __init__(self, seats: int | None = None) -> None:
        if seats not in {None, SEATS}:
            raise ConfigError(f"Nim is played by {SEATS}, not by {seats}.")

    def deal(self, dice: Random) -> State:
        """Heaps of any size."""
        return State(tuple(dice.randint(1, LARGEST) for _ in range(HEAPS)))

    def to_act(self, state: State) -> int | None:
        """Whose turn it is."""
        return state.turn if state.winner is None else None

    def position(self, state: State) -> Position:
        """The heaps."""
        if state.winner is not None:
            raise Illegal("The match has ended.")
        return position_of(state)

    def view(self, state: State, seat: int) -> Position:
        """The heaps, as either seat sees them."""
        return Position(state.heaps, seat, 1)

    def actions(self, state: State) -> Sequence[Action]:
        """Everything that may be taken."""
        return legal_actions(state.heaps)

    def act(self, state: State, action: Action, dice: Random) -> State:
        """The state after the action; there is no chance in it."""
        del dice
        return apply(state, action)

    def points(self, state: State) -> tuple[float, ...]:
        """All for whoever took the last stone."""
        return tuple(float(seat == state.winner) for seat in range(SEATS))

    def strategy(
        self, name: str, dice: Random, past: Sequence[tuple[int, State]] = ()
    ) -> Strategy[Position, Decision[Action]]:
        """The strategy of that name; none learns."""
        del past
        return strategies.build(name, dice)

    def disguised(self, state: State, dice: Random) -> State:
        """The same: nothing is hidden."""
        del dice
        return state

    def material(self, state: State) -> Sequence[object]:
        """Every stone, on the heaps or taken."""
        return ["stone"] * (sum(state.heaps) + sum(state.taken))
