"""`greedy`: makes the likeliest bet by its own cards, and ignores what the others bet."""

from random import Random

from cardsharp.games.blef.actions import BETS, CHECK, action_name
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import (
    BlefDecision,
    BlefOption,
    legal_choices,
    strategy,
)
from cardsharp.games.blef.strategies.bet_probabilities import (
    BetProbabilities,
    bet_probabilities,
    card_bits,
)
from cardsharp.play.strategy import format_percent

MAX_OPTIONS = 5  # number of likeliest bets that an explanation lists


def hand_bet_probabilities(position: BlefPosition) -> list[float]:
    """Return the probability of each bet given the viewer's hand and nothing else."""
    return bet_probabilities(card_bits(position.hand), position.hidden_card_count)


def greedy_options(
    position: BlefPosition, bet_probabilities: BetProbabilities
) -> tuple[BlefOption, ...]:
    """Return the options: the likeliest bets, and the check with the chance that the bet fails."""
    legal = legal_choices(position)
    bets = [action for action in legal if action != CHECK]
    listed = sorted(bets, key=lambda bet: (-bet_probabilities[bet], -bet))[:MAX_OPTIONS]
    options = [BlefOption(bet, bet_probabilities[bet], "chance that it holds") for bet in listed]
    if position.last_bet is not None:
        options.append(
            BlefOption(CHECK, 1 - bet_probabilities[position.last_bet], "chance that the bet fails")
        )
    return tuple(options)


@strategy("greedy")
class Greedy:
    """Makes the bet that is likeliest by its cards.

    Checks a bet that is at least as likely to fail.
    """

    def __init__(self, _rng: Random) -> None:
        pass

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Check if the last bet fails at least as likely as the best higher one holds."""
        return self.decision_from(position, hand_bet_probabilities(position))

    @staticmethod
    def decision_from(position: BlefPosition, chances: BetProbabilities) -> BlefDecision:
        """Return the decision that follows from these probabilities."""
        last_bet = position.last_bet
        options = greedy_options(position, chances)
        if last_bet is not None and last_bet == len(BETS) - 1:
            return BlefDecision(CHECK, "Nothing higher can be bet.", options)
        higher = range(0 if last_bet is None else last_bet + 1, len(BETS))
        best = max(higher, key=lambda bet: (chances[bet], bet))
        if last_bet is not None and 1 - chances[last_bet] >= chances[best]:
            reason = (
                f"{action_name(last_bet)} fails with {format_percent(1 - chances[last_bet])}, "
                f"no higher bet holds with more than {format_percent(chances[best])}."
            )
            return BlefDecision(CHECK, reason, options)
        reason = (
            f"The likeliest bet: by our own cards it holds with {format_percent(chances[best])}."
        )
        return BlefDecision(best, reason, options)
