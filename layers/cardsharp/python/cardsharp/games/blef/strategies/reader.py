"""`reader`: plays its best response to what it has learned of the opponents.

The opponent models learn from the hands that are shown after each round (`opponent_model.py`), and
`bayes` decides with these models.

In small rounds of two players the tables of `solved` can hardly be exploited. They are played
unless the models predict the opponent's decisions much better than the tables do. In larger rounds
they are never played: a player who knows the tables can exploit them, and could compute from the
open rounds when we would play them.
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

    In small rounds it plays by tables against opponents that it cannot exploit.
    """

    def __init__(self, rng: Random) -> None:
        self._bayes, self._solved = Bayes(rng), Solved(rng)

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Return the best decision against the opponents' models, or else that of the tables."""
        legal_choices(position)
        models = opponent_models_by_seat(position)
        if prefers_best_response(position, models):
            return self._bayes.decide(position, models)
        return self._solved.decide(position)
