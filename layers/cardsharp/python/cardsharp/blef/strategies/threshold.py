"""`threshold(check, bet)`: checks what is unlikely, and goes as high as it dares at once."""

from random import Random

from cardsharp.blef.actions import BETS, CHECK, name_of
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import Decision, strategy
from cardsharp.blef.strategies.greedy import Greedy, own_odds, weighed
from cardsharp.strategy import percent


@strategy("threshold")
class Threshold:
    """Checks bets less likely than `check`, else bets the highest at least as likely as `bet`.

    All by its own cards alone. Where no higher bet is that likely it does what `greedy` does.
    """

    def __init__(self, _rng: Random, check: float = 0.2, bet: float = 0.5) -> None:
        if not (0 <= check <= 1 and 0 <= bet <= 1):
            raise ValueError("check and bet are chances between 0 and 1")
        self.check, self.bet = check, bet

    def decide(self, position: Position) -> Decision:
        """Check, or bet the highest that is likely enough."""
        chances, last = own_odds(position), position.last_bet
        options = weighed(position, chances)
        if last is not None and chances[last] < self.check:
            reason = f"{name_of(last)} holds with {percent(chances[last])} only."
            return Decision(CHECK, reason, options)
        lowest = 0 if last is None else last + 1
        likely = [bet for bet in range(lowest, len(BETS)) if chances[bet] >= self.bet]
        if likely:
            reason = f"The highest bet that holds with {percent(self.bet)} or more."
            return Decision(likely[-1], reason, options)
        # docs/spec/blef.md section 12 leaves this open; so played, its figures come out.
        return Greedy.decided(position, chances)
