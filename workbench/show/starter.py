"""My strategy for THE-GAME: one class with one method, from a position to a decision.

Nothing is remembered between decisions; all that you may know is in the position. Try it:

  cardsharp THE-GAME versus mine.py --why               # you against it
  cardsharp lab duel --game THE-GAME mine.py random     # how strong is it?
"""

from random import Random
from typing import Any

from cardsharp.host.house import house
from cardsharp.strategy import Decision

GAME = house("THE-FOLDER")


@GAME.rules().strategies.strategy("mine")
class Mine:
    """Does the first thing that it may; print(position) shows what you may know."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice  # for a strategy that rolls dice: the same seed, the same match

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - see the game's rules
        """One of the options, with a reason that is shown to you later."""
        options = GAME.rules().options(position)
        return Decision(options[0], f"The first of {len(options)}.")
