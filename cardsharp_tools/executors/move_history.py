"""History of a position, of which the process of a strategy file gets only the new moves.

Late in a match of Dead Man's Draw the history is ten times as large as the rest of a position.
"""

from collections.abc import Sequence
from dataclasses import is_dataclass, replace
from typing import Any

Moves = tuple[object, ...]


def move_history(position: object) -> Moves:
    """Return the moves that led to a position; none if its game does not keep them in a tuple."""
    history = getattr(position, "history", ())
    return history if is_dataclass(position) and isinstance(history, tuple) else ()


def shared_move_count(position: object, previous_history: Moves) -> int:
    """Return how many moves both have: all of the previous history, or none."""
    count = len(previous_history)
    return count if move_history(position)[:count] == previous_history else 0


def without_first_moves(position: Any, count: int) -> Any:  # noqa: ANN401 - any game's
    """Return a position whose history lacks the first moves."""
    return replace(position, history=position.history[count:]) if count else position


def with_first_moves(position: Any, moves: Sequence[object]) -> Any:  # noqa: ANN401 - any game's
    """Return a position with these moves before its history."""
    return replace(position, history=(*moves, *position.history)) if moves else position
