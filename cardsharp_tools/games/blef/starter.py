"""My strategy for Blef: one class with one method, from a position to a decision.

Nothing is remembered between decisions; all that you may know is in the position. Try it:

  cardsharp blef versus mine.py --explain            # you against it
  cardsharp lab duel --game blef mine.py greedy      # how strong is it?
  cardsharp ladder --game blef mine.py               # who is the next to beat?
"""

from random import Random

from cardsharp.games.blef import BETS, CHECK, Decision, Position, ProbabilityOption, strategy
from cardsharp.games.blef.strategies.greedy import hand_bet_probabilities
from cardsharp.play.strategy import format_percent

CHECK_THRESHOLD = 0.25  # check a bet that holds with less than this chance; try other numbers


@strategy("mine")
class MyBlefStrategy:
    """Strategy that checks doubtful bets and otherwise bets a little higher."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng  # draw all random numbers from it: the same seed gives the same game

    def decide(self, position: Position) -> Decision:
        """Return one of `position.legal_actions()`, with a reason that is shown to you later."""
        # probability of each bet to hold, by your own hand alone
        chances = hand_bet_probabilities(position)
        last = position.last_bet
        bets = [action for action in position.legal_actions() if action != CHECK]
        # Options that you considered. print() works, too; its text is stored in the same place.
        best = max(bets, key=lambda bet: chances[bet], default=CHECK)
        options = tuple(
            ProbabilityOption(bet, chances[bet], ("chance that it holds")) for bet in bets[:3]
        )
        if last is None:
            return Decision(best, "Nobody has bet: the likeliest.", options)
        if not bets or chances[last] < CHECK_THRESHOLD:
            return Decision(CHECK, f"{BETS[last].name}: {format_percent(chances[last])}.", options)
        believed = [bet for bet in bets if chances[bet] >= CHECK_THRESHOLD]
        if not believed:
            return Decision(CHECK, "No higher bet is likely enough.", options)
        return Decision(believed[0], f"Holds with {format_percent(chances[believed[0]])}.", options)
