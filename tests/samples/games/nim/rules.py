"""Nim in normal play: take stones from one heap in turn; whoever takes the last one wins."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Action:
    """So many stones from one heap, counted from 0."""

    heap: int
    stones: int

    def __str__(self) -> str:
        return f"{self.stones} from heap {self.heap + 1}"


@dataclass(frozen=True, slots=True)
class State:
    """The stones on each heap, and the player to move; Nim has no hidden information."""

    heaps: tuple[int, ...]
    turn: int = 0

    def options(self) -> tuple[Action, ...]:
        """Return all legal actions."""
        return tuple(
            Action(heap, stones)
            for heap, size in enumerate(self.heaps)
            for stones in range(1, size + 1)
        )

    def without(self, action: Action) -> "State":
        """Return the state after the action, with the other player to move."""
        heaps = list(self.heaps)
        heaps[action.heap] -= action.stones
        return State(tuple(heaps), 1 - self.turn)
