"""What a player may know: here everything, for nothing is hidden."""

from dataclasses import dataclass

from nim.rules import Action, State, legal_actions


@dataclass(frozen=True, slots=True)
class Position:
    """The heaps as the player whose turn it is sees them; `turn` counts from 1."""

    heaps: tuple[int, ...]
    me: int
    turn: int

    def legal_actions(self) -> tuple[Action, ...]:
        """Everything that may be taken."""
        return legal_actions(self.heaps)


def position_of(state: State, turn: int = 1) -> Position:
    """The position of the player who is to act."""
    return Position(state.heaps, state.turn, turn)
