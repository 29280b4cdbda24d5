"""My strategy for THE-GAME: one class with one method, from a position to a decision.

Nothing is remembered between decisions; all that you may know is in the position. Try it:

  cardsharp THE-GAME versus mine.py --explain           # you against it
  cardsharp lab duel --game THE-GAME mine.py random     # how strong is it?
"""

from random import Random
from typing import Any

from cardsharp.play.strategy import Decision
from cardsharp.server.hosted.hosted_game import load_hosted_game

GAME = load_hosted_game("THE-FOLDER")


@GAME.build_rules().strategies.register("mine")
class MyGameStrategy:
    """Strategy that takes the first legal action; print(position) shows what it may know."""

    def __init__(self, rng: Random) -> None:
        self.dice = rng  # for a strategy that rolls dice: the same seed, the same match

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - see the game's rules
        """One of the options, with a reason that is shown to you later."""
        options = GAME.build_rules().legal_actions_in(position)
        return Decision(options[0], f"The first of {len(options)} options.")
