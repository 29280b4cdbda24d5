"""Judge of Blef: `bayes` estimates the chance not to lose the round, then to win the match.

The value of a round within the match assumes that all remaining players are equally likely to lose
each future round. Over 115 matches of `bayes` against itself that predicted the winner better than
odds by starting player and card counts did (mean squared error 0.186 to 0.189 in 2,126 rounds).

In a solved round every action of the equilibrium has the same value, because the equilibrium
balances them. Any other action has the value that `bayes` gives it, but never a higher one. In
larger rounds the frequent actions of our tables are treated in the same way. Otherwise the judge
would mark most actions of a player who plays by the tables as mistakes.
"""

from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean

from cardsharp.analysis.judge import Judge
from cardsharp.errors import ConfigError
from cardsharp.games.blef.actions import CHECK
from cardsharp.games.blef.history.replay import closed_rounds_of_match
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import MIN_PLAYERS, max_cards
from cardsharp.games.blef.strategies import BlefDecision, BlefOption
from cardsharp.games.blef.strategies.bayes import (
    BetProbabilityEstimates,
    best_decision,
    describe_probability,
    evaluate_bets,
)
from cardsharp.games.blef.strategies.equilibrium import (
    SOLVED_CARD_COUNTS,
    MixedStrategy,
    equilibrium_strategy,
    starter_and_other_card_counts,
)
from cardsharp.games.blef.strategies.explanations import explain_choice
from cardsharp.games.blef.strategies.table_policy import mixed_strategy
from cardsharp.play.strategy import format_percent
from cardsharp.store.match_log import MatchRecord, MoveRecord

_MIN_POLICY_PROBABILITY = 0.05  # an action that our tables take at least this often costs nothing


class BayesJudge(Judge):
    """Judge by the estimates of `bayes`, which assumes typical habits of the players."""

    name = "bayes"

    def evaluate(self, position: BlefPosition, extra_actions: Sequence[int] = ()) -> BlefDecision:
        """Return the decision of `bayes`, with `extra_actions` evaluated too."""
        evaluation, solved = evaluate_bets(position), equilibrium_strategy(position)
        decision = (
            best_decision(position, evaluation)
            if solved is None
            else _decide_by_equilibrium(position, evaluation, solved)
        )
        mixed = (
            None
            if starter_and_other_card_counts(position) in SOLVED_CARD_COUNTS
            else mixed_strategy(position)
        )
        # An equilibrium mixes actions of equal value. Sampling noise in `bayes` would rate them
        # differently, so every frequent action of the tables gets the value of the best one.
        as_good = {action for action, often in mixed or () if often >= _MIN_POLICY_PROBABILITY}
        listed_actions = {option.action for option in decision.options}
        max_value = max(option.value for option in decision.options)
        rest = [
            _build_option(position, evaluation, action)
            for action in extra_actions
            if action not in listed_actions
        ]
        options = tuple(
            BlefOption(
                option.action,
                _to_match_win_probability(
                    position,
                    max_value if option.action in as_good else min(option.value, max_value),
                ),
                option.note,
            )
            for option in (*decision.options, *rest)
        )
        return BlefDecision(decision.action, decision.reason, options)

    def first_side_result(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """Return 1 if the first player won, 0 if the second did, None if the match is not over.

        Raises `ConfigError` if there are more than two players.
        """
        rounds = closed_rounds_of_match(record, moves)
        players = max((len(played.hands) for played in rounds.values()), default=MIN_PLAYERS)
        if players > MIN_PLAYERS:
            raise ConfigError(
                f"Match {record.match_id} has {players} players; of Blef only two are analysed."
            )
        last_round = rounds[max(rounds)] if rounds else None
        if last_round is None:
            return None
        loser = last_round.history[-1].seat
        if last_round.n_cards[loser] < max_cards(players):
            return None
        return float(loser == 1)


def _decide_by_equilibrium(
    position: BlefPosition, evaluation: BetProbabilityEstimates, solved: MixedStrategy
) -> BlefDecision:
    """Return the equilibrium's most frequent action; all of its actions have the same value."""
    often = dict(solved)
    worth = max(_compute_round_win_probability(position, evaluation, action) for action in often)
    options = tuple(
        BlefOption(action, worth, f"the equilibrium has it with {format_percent(often[action])}")
        for action in often
    )
    best = max(often, key=lambda action: often[action])
    return BlefDecision(best, explain_choice(position, best), options)


def _build_option(
    position: BlefPosition, evaluation: BetProbabilityEstimates, action: int
) -> BlefOption:
    bet = position.last_bet if action == CHECK else action
    note = "" if bet is None else describe_probability(evaluation.bet_probabilities[bet])
    return BlefOption(action, _compute_round_win_probability(position, evaluation, action), note)


def _compute_round_win_probability(
    position: BlefPosition, evaluation: BetProbabilityEstimates, action: int
) -> float:
    """Return the probability of not losing the round with an action."""
    last_bet = position.last_bet
    if action == CHECK and last_bet is not None:
        return 1 - evaluation.bet_probabilities[last_bet]
    return evaluation.survival_probability(action)


def _to_match_win_probability(position: BlefPosition, round_win_probability: float) -> float:
    """Convert the probability of not losing the round into that of winning the match."""
    me = position.seat or 0
    lives = [position.max_cards + 1 - cards if cards else 0 for cards in position.card_counts]
    opponent_lives = tuple(
        remaining for seat, remaining in enumerate(lives) if seat != me and remaining
    )
    return round_win_probability * _compute_value_if_opponent_loses(lives[me], opponent_lives) + (
        1 - round_win_probability
    ) * match_win_probability(lives[me] - 1, opponent_lives)


def _compute_value_if_opponent_loses(player_lives: int, opponent_lives: tuple[int, ...]) -> float:
    """Return the probability of winning the match after a random opponent loses a round."""
    return fmean(
        match_win_probability(
            player_lives,
            (
                *opponent_lives[:opponent_index],
                remaining - 1,
                *opponent_lives[opponent_index + 1 :],
            ),
        )
        for opponent_index, remaining in enumerate(opponent_lives)
    )


@lru_cache(maxsize=4096)
def match_win_probability(player_lives: int, opponent_lives: tuple[int, ...]) -> float:
    """Return the chance to win the match, given how many rounds each player may still lose."""
    active_lives = tuple(sorted(remaining for remaining in opponent_lives if remaining))
    if not player_lives or not active_lives:
        return float(bool(player_lives))
    loss_probability = 1 / (1 + len(active_lives))
    return loss_probability * match_win_probability(player_lives - 1, active_lives) + (
        1 - loss_probability
    ) * _compute_value_if_opponent_loses(player_lives, active_lives)


JUDGE = BayesJudge()
