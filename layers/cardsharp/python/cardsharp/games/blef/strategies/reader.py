"""`reader`: exploits opponents that it has modelled, and plays as `solved` otherwise.

If the opponent models predict earlier rounds better than our tables do (`opponent_model.py`),
`bayes` decides with these models. Against a player who plays like the tables it uses the tables, so
that our own bets cannot be exploited either.
"""

from random import Random

from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import BlefDecision, legal_choices, strategy
from cardsharp.games.blef.strategies.bayes import Bayes
from cardsharp.games.blef.strategies.opponent_model import (
    opponent_models_by_seat,
    prefers_best_response,
)
from cardsharp.games.blef.strategies.solved import Solved


@strategy("reader")
class OpponentReader:
    """Learns from its decisions how each opponent plays, and plays its best response to that.

    Plays by tables against opponents that it cannot exploit.
    """

    def __init__(self, rng: Random) -> None:
        self._bayes, self._solved = Bayes(rng), Solved(rng)

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Return the best decision against the opponents' models, or else that of the tables."""
        legal_choices(position)
        read = opponent_models_by_seat(position)
        if not prefers_best_response(position, read):
            return self._solved.decide(position)
        return self._bayes.decide(position, read)
