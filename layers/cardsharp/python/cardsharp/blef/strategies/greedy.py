"""`greedy`: the likeliest bet by its own cards alone; what the others bet tells it nothing."""

from random import Random

from cardsharp.blef.actions import BETS, CHECK, name_of
from cardsharp.blef.position import Position
from cardsharp.blef.strategies import Decision, Option, choices, strategy
from cardsharp.blef.strategies.odds import Odds, bits_of, odds
from cardsharp.strategy import percent

SHOWN = 5  # how many of the likeliest bets an explanation lists


def own_odds(position: Position) -> list[float]:
    """The chance of each bet given the viewer's hand and nothing else."""
    return odds(bits_of(position.hand), position.hidden)


def weighed(position: Position, chances: Odds) -> tuple[Option, ...]:
    """The check, worth the chance that the last bet fails, and the likeliest bets."""
    legal = choices(position)
    bets = [action for action in legal if action != CHECK]
    shown = sorted(bets, key=lambda bet: (-chances[bet], -bet))[:SHOWN]
    options = [Option(bet, chances[bet], "chance that it holds") for bet in shown]
    if position.last_bet is not None:
        options.append(Option(CHECK, 1 - chances[position.last_bet], "chance that the bet fails"))
    return tuple(options)


@strategy("greedy")
class Greedy:
    """Bets what is likeliest by its own cards, checks what is less likely than not to hold."""

    def __init__(self, _rng: Random) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        """Check if the last bet fails as likely as the best higher one holds."""
        return self.decided(position, own_odds(position))

    @staticmethod
    def decided(position: Position, chances: Odds) -> Decision:
        """What follows from these chances."""
        last = position.last_bet
        options = weighed(position, chances)
        if last is not None and last == len(BETS) - 1:
            return Decision(CHECK, "Nothing higher can be bet.", options)
        higher = range(0 if last is None else last + 1, len(BETS))
        best = max(higher, key=lambda bet: (chances[bet], bet))
        if last is not None and 1 - chances[last] >= chances[best]:
            reason = (
                f"{name_of(last)} fails with {percent(1 - chances[last])}, "
                f"no higher bet holds with more than {percent(chances[best])}."
            )
            return Decision(CHECK, reason, options)
        reason = f"The likeliest bet: by our own cards it holds with {percent(chances[best])}."
        return Decision(best, reason, options)
