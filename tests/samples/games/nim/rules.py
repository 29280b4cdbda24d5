"""Nim in normal play: take stones from one heap in turn; whoever takes the last one wins."""

from dataclasses import dataclass

from cardsharp.errors import Illegal

SEATS = 2


@dataclass(frozen=True, slots=True, order=True)
class Action:
    """So many stones from one heap, counted from 0."""

    heap: int
    stones: int

    def __str__(self) -> str:
        return f"{self.stones} from heap {self.heap + 1}"


@dataclass(frozen=True, slots=True)
class State:
    """The stones on each heap, those that each seat has taken, and whose turn it is."""

    heaps: tuple[int, ...]
    taken: tuple[int, int] = (0, 0)
    turn: int = 0

    @property
    def winner(self) -> int | None:
        """Who took the last stone; None while there are any."""
        return None if any(self.heaps) else 1 - self.turn


def legal_actions(heaps: tuple[int, ...]) -> tuple[Action, ...]:
    """Everything that may be taken."""
    return tuple(
        Action(heap, stones) for heap, size in enumerate(heaps) for stones in range(1, size + 1)
    )


def apply(state: State, action: Action) -> State:
    """The state after an action of the player whose turn it is.

    Raises:
        Illegal: the heap has not so many stones.
    """
    if action not in legal_actions(state.heaps):
        raise Illegal(f"You cannot take {action}.")
    heaps = list(state.heaps)
    heaps[action.heap] -= action.stones
    taken = list(state.taken)
    taken[state.turn] += action.stones
    return State(tuple(heaps), (taken[0], taken[1]), 1 - state.turn)
