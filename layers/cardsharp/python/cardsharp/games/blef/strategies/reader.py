"""`reader`: exploits opponents that it has modelled, and plays as `solved` otherwise.

If the opponent models predict earlier rounds better than our tables do (`opponent_model.py`),
`bayes` decides with these models.

A player who plays like the tables may only pretend to do so, and answer them in the next round.
What we have learned follows from the open rounds, so everybody can compute it. Therefore, in large
rounds, private random numbers choose between three ways to play. An answer to one of them is no
answer to the others, and nobody can know which of them decides.
"""

from random import Random

from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import BlefDecision, legal_choices, strategy
from cardsharp.games.blef.strategies.bayes import Bayes
from cardsharp.games.blef.strategies.equilibrium import starter_and_other_card_counts
from cardsharp.games.blef.strategies.large_round_policy import load_large_round_policy
from cardsharp.games.blef.strategies.opponent_model import (
    opponent_models_by_seat,
    prefers_best_response,
)
from cardsharp.games.blef.strategies.solved import Solved
from cardsharp.games.blef.strategies.table_opponent import load_table_opponent

_TABLE_SHARE, _ANSWER_SHARE = 0.2, 0.6
"""Shares of decisions by the tables, and by the best response to a player of the tables.

The rest are best responses to what the opponent did in earlier rounds.
"""


def has_large_table(position: BlefPosition) -> bool:
    """Return True in a round that is played by the tables of large rounds.

    Opponents can exploit these tables: they are less exact than those of small rounds.
    """
    return starter_and_other_card_counts(position) in load_large_round_policy().rounds


@strategy("reader")
class OpponentReader:
    """Learns from its decisions how each opponent plays, and plays its best response to that.

    Plays by tables against opponents that it cannot exploit.
    """

    def __init__(self, rng: Random) -> None:
        self._rng, self._bayes, self._solved = rng, Bayes(rng), Solved(rng)

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Return the best decision against the opponents' models, or else that of the tables."""
        legal_choices(position)
        read = opponent_models_by_seat(position)
        if prefers_best_response(position, read):
            return self._bayes.decide(position, read)
        choice = self._rng.random() if has_large_table(position) else 0.0
        if choice < _TABLE_SHARE:
            return self._solved.decide(position)
        if choice < _TABLE_SHARE + _ANSWER_SHARE:
            return self._bayes.decide(position, dict.fromkeys(read, load_table_opponent()))
        return self._bayes.decide(position, read)
