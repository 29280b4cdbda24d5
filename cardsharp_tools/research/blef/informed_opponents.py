"""Opponents that know our default strategy: they measure how hard it is to exploit.

All of them know the shipped tables. `one-step` and `two-step` believe what the bets of the tables
imply, and look one or two steps ahead. A steering player also computes what our strategy has
learned about it, as everybody can do from the open rounds. It plays by the tables while our
strategy reads it, and answers the tables while our strategy may play them. `best-response` has
learned from earlier games how our strategy plays, learns on from the open rounds, and plays its
best response.

All but the last need a C compiler (`native/local_best_response.c`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from random import Random

from cardsharp.errors import ConfigError
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import MIN_PLAYERS, Round
from cardsharp.games.blef.simulation import BlefSimulation
from cardsharp.games.blef.strategies import STRATEGIES, BlefDecision, Strategy, legal_choices
from cardsharp.games.blef.strategies.bayes import Bayes
from cardsharp.games.blef.strategies.bet_probabilities import card_bits
from cardsharp.games.blef.strategies.equilibrium import starter_and_other_card_counts
from cardsharp.games.blef.strategies.large_round_policy import load_large_round_policy
from cardsharp.games.blef.strategies.opponent_model import (
    OpponentModel,
    opponent_model_of,
    prefers_best_response,
    update_opponent_model,
)
from cardsharp.games.blef.strategies.policy_tables import DEFAULT_FILE, load_policy_tables
from cardsharp.games.blef.strategies.reader import OpponentReader
from cardsharp.games.blef.strategies.solved import Solved
from cardsharp_tools.research.blef.native import (
    RoundPlayer,
    build_round_player,
    find_local_best_response,
)
from cardsharp_tools.research.blef.table_files import (
    load_tables,
    policy_bytes_by_hand_sizes,
    set_large_round_policies,
)


@cache
def load_table_player() -> RoundPlayer:
    """Return the compiled player of all shipped tables."""
    return set_large_round_policies(
        build_round_player("tables", load_tables(DEFAULT_FILE)),
        policy_bytes_by_hand_sizes(load_large_round_policy()),
    )


class LookaheadPlayer:
    """Player that weights possible hands by the tables and looks ahead.

    Where the tables include no round it plays as `solved`.
    """

    def __init__(self, rng: Random, depth: int) -> None:
        self._rng, self._depth, self._solved_player = rng, depth, Solved(rng)
        self._table_rounds = {*load_policy_tables().rounds, *load_large_round_policy().rounds}

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Return the check or a likely bet, whichever wins the round more often."""
        legal_choices(position)
        cards = starter_and_other_card_counts(position)
        if cards not in self._table_rounds:
            return self._solved_player.decide(position)
        action = find_local_best_response(
            load_table_player(),
            cards,
            (card_bits(position.hand), [move.action for move in position.history]),
            self._depth,
            self._rng.getrandbits(64),
        )
        return BlefDecision(action, "By what the table says.")


class SteeringPlayer:
    """Player that knows whether our default strategy plays tables against it.

    It answers the tables while they are likely, and plays them itself otherwise.
    """

    def __init__(self, rng: Random, depth: int) -> None:
        self._reader, self._answerer = Solved(rng), LookaheadPlayer(rng, depth)

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Return the decision of the tables, or of the answer to them."""
        legal_choices(position)
        return self._choose_player(position).decide(position)

    def _choose_player(self, position: BlefPosition) -> Strategy:
        seat = position.seat or 0
        models = {seat: opponent_model_of(position.earlier_rounds, seat)}
        return self._reader if prefers_best_response(position, models) else self._answerer


_LESSON_GAMES, _LESSON_SEED = 12, 5


class BestResponder:
    """Player that has learned from whole games how our default strategy plays."""

    def __init__(self, rng: Random) -> None:
        self._bayes = Bayes(rng)
        self._rounds: tuple[Round, ...] = ()
        self._model = learn_default_strategy()

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Return the best response to the model of our strategy, updated by the open rounds."""
        legal_choices(position)
        seats = position.to_round().active_seats
        if len(seats) > MIN_PLAYERS:
            raise ConfigError("best-response plays games for two.")
        (seat,) = (seat for seat in seats if seat != position.seat)
        if position.earlier_rounds[: len(self._rounds)] != self._rounds:
            self._rounds, self._model = (), learn_default_strategy()
        for closed_round in position.earlier_rounds[len(self._rounds) :]:
            self._model = update_opponent_model(self._model, closed_round, seat)
        self._rounds = position.earlier_rounds
        return self._bayes.decide(position, {seat: self._model})


@cache  # a single entry
def learn_default_strategy() -> OpponentModel:
    """Return a model of our default strategy, learned from games against players of tables."""
    model = opponent_model_of((), 0)
    simulation = BlefSimulation(MIN_PLAYERS)
    for game in range(_LESSON_GAMES):
        rng = Random(_LESSON_SEED + game)
        opponent = Solved(rng) if game % 2 else LookaheadPlayer(rng, 1)
        players: Sequence[Strategy] = (OpponentReader(rng), opponent)
        state = simulation.initial_state(rng)
        while (seat := simulation.current_seat(state)) is not None:
            action = players[seat].decide(simulation.position_for(state, seat)).action
            state = simulation.apply_action(state, action, rng)
        for closed_round in state.closed_rounds:
            model = update_opponent_model(model, closed_round, 0)
    return model


INFORMED_PLAYERS: Mapping[str, Callable[[Random], Strategy]] = {
    "one-step": partial(LookaheadPlayer, depth=1),
    "two-step": partial(LookaheadPlayer, depth=2),
    "steering": partial(SteeringPlayer, depth=1),
    "steering-two-step": partial(SteeringPlayer, depth=2),
    "best-response": BestResponder,
}

for _name, _player in INFORMED_PLAYERS.items():
    STRATEGIES.register_unlisted(_name, _player)
