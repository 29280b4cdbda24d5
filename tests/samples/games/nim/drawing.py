"""Text display of Nim."""

from collections.abc import Iterable

from cardsharp.play.hosted_rules import TextRenderer
from nim.rules import Action, State


class Heaps(TextRenderer[State, Action]):
    """A line a heap."""

    rules = """\
There are three heaps of up to seven stones. Two players take
stones in turn: as many as they like, at least one, and all of
them from the same heap.

Whoever takes the last stone of all wins.
There is no chance in it, and nothing is hidden: whoever sees
far enough knows from the start who wins."""

    def lines(self, position: State) -> Iterable[str]:
        """The stones of each heap."""
        return [f"Heap {number}: {'o' * size}" for number, size in enumerate(position.heaps, 1)]


DRAWING = Heaps()
