"""`solved`: plays by trained tables if two players remain, and as `bayes` otherwise.

The tables come from `cardsharp research blef`. They mix their actions at random, so that a bet
discloses nothing about the hand. With three cards or fewer the exact tables of `bayes` are
played, with eight or more the large-round policy.
"""

from random import Random

from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import BlefDecision, legal_choices, strategy
from cardsharp.games.blef.strategies.bayes import Bayes, sample_decision
from cardsharp.games.blef.strategies.equilibrium import (
    SOLVED_CARD_COUNTS,
    starter_and_other_card_counts,
)
from cardsharp.games.blef.strategies.large_round_policy import load_large_round_policy
from cardsharp.games.blef.strategies.policy_tables import load_policy_tables
from cardsharp.games.blef.strategies.table_policy import mixed_strategy

_MIN_PROBABILITY = 0.01  # an action with a lower probability is not listed as an option


@strategy("solved")
class Solved:
    """Plays at random by trained tables; plays as `bayes` where they have no answer."""

    def __init__(self, rng: Random) -> None:
        self._rng, self._bayes = rng, Bayes(rng)
        load_policy_tables(), load_large_round_policy()

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Return an action of the table's row, sampled with its probability in the table."""
        legal_choices(position)
        mixed = (
            None
            if starter_and_other_card_counts(position) in SOLVED_CARD_COUNTS
            else mixed_strategy(position)
        )
        if mixed is None:
            return self._bayes.decide(position)
        return sample_decision(position, mixed, self._rng, "table", _MIN_PROBABILITY)
