"""My strategy for Blef: one class with one method, from a position to a decision.

Nothing is remembered between decisions; all that you may know is in the position. Try it:

  cardsharp blef versus mine.py --why                # you against it
  cardsharp lab duel --game blef mine.py greedy      # how strong is it?
  cardsharp ladder --game blef mine.py               # who is the next to beat?
"""

from random import Random

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import Decision, Option, strategy
from cardsharp.blef.strategies.greedy import own_odds
from cardsharp.strategy import percent

DOUBT = 0.25  # check a bet that holds with less than this chance; try other numbers


@strategy("mine-of-0-2")
class Mine:
    """Checks what it doubts, else bets a little higher than the last player."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng  # for a strategy that rolls dice: the same seed, the same game

    def decide(self, position: Position) -> Decision:
        """One of `position.legal_actions()`, with a reason that is shown to you later."""
        chances = own_odds(position)  # of each bet to hold, by your own hand alone
        last = position.last_bet
        bets = [action for action in position.legal_actions() if action != CHECK]
        # What you weighed; print() works too, and its text lands in the same place.
        best = max(bets, key=lambda bet: chances[bet], default=CHECK)
        options = tuple(Option(bet, chances[bet], "chance that it holds") for bet in bets[:3])
        if last is None:
            return Decision(best, "Nobody has bet: the likeliest.", options)
        if not bets or chances[last] < DOUBT:
            return Decision(CHECK, f"{BETS[last].name}: {percent(chances[last])}.", options)
        believed = [bet for bet in bets if chances[bet] >= DOUBT]
        if not believed:
            return Decision(CHECK, "No higher bet is likely enough.", options)
        return Decision(believed[0], f"Holds with {percent(chances[believed[0]])}.", options)
