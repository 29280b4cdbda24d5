"""Nim, as it is hosted: three heaps of up to seven stones."""

from collections.abc import Sequence
from random import Random

from cardsharp.play.hosted_rules import HostedRules
from nim.rules import Action, State
from nim.strategies import STRATEGIES

HEAPS, LARGEST = 3, 7


class Nim(HostedRules[State, State, Action]):
    """Three heaps of up to seven stones."""

    state_type, position_type, action_type = State, State, Action
    strategies = STRATEGIES
    has_hidden_information = False
    action_space = tuple(Action(heap, n) for heap in range(HEAPS) for n in range(1, LARGEST + 1))

    def initial_state(self, rng: Random) -> State:
        """Heaps of any size."""
        return State(tuple(rng.randint(1, LARGEST) for _ in range(HEAPS)))

    def current_seat(self, state: State) -> int | None:
        """Whose turn it is, while there are stones."""
        return state.turn if any(state.heaps) else None

    def position_for(self, state: State, _seat: int) -> State:
        """The heaps, as either seat sees them."""
        return state

    def legal_actions_in(self, position: State) -> Sequence[Action]:
        """Everything that may be taken."""
        return position.options()

    def next_state(self, state: State, action: Action, _dice: Random) -> State:
        """What is left; there is no chance in it."""
        return state.without(action)

    def returns(self, state: State) -> tuple[float, ...]:
        """The match, for whoever took the last stone."""
        return (-1.0, 1.0) if state.turn == 0 else (1.0, -1.0)

    def encode_position(self, position: State) -> Sequence[float]:
        """How full each heap is."""
        return [size / LARGEST for size in position.heaps]

    def sample_state(self, position: State, _dice: Random) -> State:
        """The same: nothing is hidden."""
        return position


RULES = Nim
