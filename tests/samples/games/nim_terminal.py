"""Nim as a person sees it, in a terminal or a browser."""

from collections.abc import Iterable, Sequence

from nim.position import Position
from nim.rules import Action, State

from workbench.show.screen import Choice, Screen, Told

_RULES = """\
There are three heaps of up to seven stones. Two players take
stones in turn: as many as they like, at least one, and all of
them from the same heap.

Whoever takes the last stone of all wins.
There is no chance in it, and nothing is hidden: whoever sees
far enough knows from the start who wins."""


class Terminal(Screen[State, Position, Action]):
    """The heaps."""

    rules = _RULES
    chapter = "turn"

    def table(self, position: Position) -> Iterable[str]:
        """A line a heap."""
        return [f"Heap {number}: {'o' * size}" for number, size in enumerate(position.heaps, 1)]

    def choices(self, position: Position) -> Sequence[Choice[Action]]:
        """Everything that may be taken."""
        actions = position.legal_actions()
        return [
            Choice(str(number), str(action), action) for number, action in enumerate(actions, 1)
        ]

    def told(self, before: State, action: Action, after: State) -> Told:
        """Who took what; a turn of everybody is over with the second player's."""
        return Told([f"{self.names[before.turn]}: {action}"], closes=after.turn == 0)
