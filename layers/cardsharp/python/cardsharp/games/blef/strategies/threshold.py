"""`threshold(check, bet)`: checks unlikely bets, else bets the highest that is likely enough."""

from random import Random

from cardsharp.games.blef.actions import BETS, CHECK, action_name
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import BlefDecision, strategy
from cardsharp.games.blef.strategies.greedy import (
    Greedy,
    greedy_options,
    hand_bet_probabilities,
)
from cardsharp.play.strategy import format_percent


@strategy("threshold")
class Threshold:
    """Checks bets less likely than `check`, else bets the highest at least as likely as `bet`.

    It uses only its cards. If no higher bet is that likely, it decides as `greedy` does.
    """

    def __init__(
        self, _rng: Random, check_below: float = 0.2, min_bet_probability: float = 0.5
    ) -> None:
        if not (0 <= check_below <= 1 and 0 <= min_bet_probability <= 1):
            raise ValueError("check and bet are probabilities between 0 and 1")
        self.check, self.bet = check_below, min_bet_probability

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Check, or bet the highest that is likely enough."""
        chances, last_bet = hand_bet_probabilities(position), position.last_bet
        options = greedy_options(position, chances)
        if last_bet is not None and chances[last_bet] < self.check:
            reason = f"{action_name(last_bet)} holds with {format_percent(chances[last_bet])} only."
            return BlefDecision(CHECK, reason, options)
        lowest = 0 if last_bet is None else last_bet + 1
        likely = [bet for bet in range(lowest, len(BETS)) if chances[bet] >= self.bet]
        if likely:
            reason = f"The highest bet that holds with {format_percent(self.bet)} or more."
            return BlefDecision(likely[-1], reason, options)
        # docs/spec/blef.md section 12 leaves this open. Played like this, the strategy reproduces
        # the figures given there.
        return Greedy.decision_from(position, chances)
