"""`reader`: plays against the others as it has read them, and what cannot be read as `solved`.

Where the rounds before were better foretold by how a player decides than by our own tables
(`reading.py`), `bayes` decides, and knows of it. Who is like the tables is played by the tables, so
that there is nothing to be read in what we bet either.
"""

from random import Random

from cardsharp.blef.position import Position
from cardsharp.blef.strategies import Decision, choices, strategy
from cardsharp.blef.strategies.bayes import Bayes
from cardsharp.blef.strategies.reading import readings, unlike_tables
from cardsharp.blef.strategies.solved import Solved


@strategy("reader")
class Reader:
    """Learns how each of the others decides, and mixes as tables say where nothing shows."""

    def __init__(self, rng: Random) -> None:
        self._bayes, self._solved = Bayes(rng), Solved(rng)

    def decide(self, position: Position) -> Decision:
        """What does best against the others as they were read, or what the tables play."""
        choices(position)
        read = readings(position)
        if not unlike_tables(position, read):
            return self._solved.decide(position)
        return self._bayes.decide(position, read)
