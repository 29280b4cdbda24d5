"""Nim as a hosted game: three heaps of up to seven stones."""

from collections.abc import Sequence
from random import Random

from cardsharp.play.hosted_rules import HostedRules
from nim.rules import Action, State
from nim.strategies import STRATEGIES

HEAPS, LARGEST = 3, 7


class Nim(HostedRules[State, State, Action]):
    """Rules of Nim with three heaps of up to seven stones."""

    state_type, position_type, action_type = State, State, Action
    strategies = STRATEGIES
    has_hidden_information = False
    action_space = tuple(Action(heap, n) for heap in range(HEAPS) for n in range(1, LARGEST + 1))

    def initial_state(self, rng: Random) -> State:
        """Return heaps of random sizes."""
        return State(tuple(rng.randint(1, LARGEST) for _ in range(HEAPS)))

    def current_seat(self, state: State) -> int | None:
        """Return the seat to move, or None when no stones remain."""
        return state.turn if any(state.heaps) else None

    def position_for(self, state: State, _seat: int) -> State:
        """Return the heaps, which both seats see."""
        return state

    def legal_actions_in(self, position: State) -> Sequence[Action]:
        """Return all legal actions."""
        return position.options()

    def next_state(self, state: State, action: Action, _dice: Random) -> State:
        """Return the state after the action; there is no chance in it."""
        return state.without(action)

    def returns(self, state: State) -> tuple[float, ...]:
        """Return a win for the player who took the last stone."""
        return (-1.0, 1.0) if state.turn == 0 else (1.0, -1.0)

    def encode_position(self, position: State) -> Sequence[float]:
        """Return each heap's size as a share of the largest possible."""
        return [size / LARGEST for size in position.heaps]

    def sample_state(self, position: State, _dice: Random) -> State:
        """Return the position itself: nothing is hidden."""
        return position


RULES = Nim
