"""`cardsharp research blef fit-table-opponent`: a betting model of a player of our tables."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from math import log
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.cards import DECK, sort_hand
from cardsharp.games.blef.position import position_of
from cardsharp.games.blef.rules import MIN_PLAYERS, Round, RoundMove, max_cards
from cardsharp.games.blef.strategies.bet_probabilities import card_bits
from cardsharp.games.blef.strategies.betting_model import (
    BettingModel,
    PreparedBettingModel,
    bet_features,
)
from cardsharp.games.blef.strategies.large_round_policy import load_large_round_policy
from cardsharp.games.blef.strategies.opponent_types import NO_BET
from cardsharp.games.blef.strategies.table_opponent import TABLE_OPPONENT_FILE
from cardsharp.games.blef.strategies.table_policy import mixed_strategy
from cardsharp_tools.cli.console import result_console
from cardsharp_tools.cli.options import CommandOptions, Positive
from cardsharp_tools.lab.options import Seed
from cardsharp_tools.research.blef.solved_tables import TABLES_DIR

_TREMBLE_PROBABILITY, _MAX_TREMBLE = 0.1, 10
"""Share of bets that are replaced by one of the next higher bets, as another player may make it."""

_BET_RATE, _BET_HALVING = 0.6, 150.0
_CHECK_RATE, _CHECK_HALVING = 1.0, 100.0
"""Learning rates at first, and the decisions after which each is halved."""

_TEST_SHARE = 0.15
_DIGITS = 3


class TableDecision(NamedTuple):
    """Decision of a player of the tables: its hand as bits, what it does not see, and the bets."""

    hand: int
    hidden_card_count: int
    last_bet: int
    action: int


@dataclass(frozen=True, kw_only=True)
class FitOptions(CommandOptions):
    """Options of the fit: the number of decisions, the seed and the file."""

    decisions: Annotated[int, Parameter(alias="-n", validator=Positive)] = 20_000
    seed: Seed = 1
    out: Annotated[Path, Parameter(help="A file.")] = TABLES_DIR / TABLE_OPPONENT_FILE


def fit_table_opponent(*, options: FitOptions = FitOptions()) -> None:
    """Fit the model of an opponent who plays by our tables, and write it to a file.

    It prints how well the model predicts decisions that it was not fitted to,
    and how well an unfitted model does.
    """
    decisions = [*islice(play_table_rounds(Random(options.seed)), options.decisions)]
    test_count = int(_TEST_SHARE * len(decisions))
    model = round_numbers(fit_betting_model(decisions[test_count:]))
    document = {
        "made_by": f"cardsharp research blef fit-table-opponent -n {options.decisions} "
        f"--seed {options.seed}",
        "betting_model": asdict(model),
    }
    options.out.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    unfitted, fitted = (
        mean_log_likelihood(candidate, decisions[:test_count])
        for candidate in (BettingModel(), model)
    )
    result_console().print(f"log likelihood of a decision: {unfitted:.3f} unfitted, {fitted:.3f}")


def play_table_rounds(rng: Random) -> Iterator[TableDecision]:
    """Yield decisions of the tables in random large rounds, without an end."""
    rounds = sorted(load_large_round_policy().rounds)
    while True:
        card_counts = rng.choice(rounds)
        cards = rng.sample(DECK, sum(card_counts))
        hands = sort_hand(cards[: card_counts[0]]), sort_hand(cards[card_counts[0] :])
        live = Round(1, max_cards(MIN_PLAYERS), card_counts, hands, 0)
        while live.turn is not None:
            strategy = mixed_strategy(position_of(live, live.turn)) or ((CHECK, 1.0),)
            actions, probabilities = zip(*strategy, strict=True)
            (action,) = rng.choices(actions, probabilities)
            last_bet = NO_BET if live.last_bet is None else live.last_bet
            hidden = card_counts[1 - live.turn]
            yield TableDecision(card_bits(hands[live.turn]), hidden, last_bet, action)
            live = _continue_round(live, action, rng)


def _continue_round(live: Round, action: int, rng: Random) -> Round:
    """Return the round after a bet, which is sometimes a higher one; a check ends it."""
    if action != CHECK and rng.random() < _TREMBLE_PROBABILITY:
        action = min(action + rng.randint(1, _MAX_TREMBLE), len(BETS) - 1)
    if action in {CHECK, len(BETS) - 1} or live.turn is None:
        return replace(live, turn=None)
    history = (*live.history, RoundMove(live.turn, action))
    return replace(live, turn=1 - live.turn, history=history)


def fit_betting_model(decisions: Sequence[TableDecision]) -> BettingModel:
    """Return the betting model that these decisions make likely, by stochastic gradient ascent."""
    model = BettingModel()
    for number, decision in enumerate(decisions):
        features = bet_features(decision.hand, decision.hidden_card_count)
        rate = _BET_RATE / (1 + number / _BET_HALVING)
        updated = model.updated(features, decision.last_bet, decision.action, rate)
        model = _scale_check_update(model, updated, _CHECK_RATE / (1 + number / _CHECK_HALVING))
    return model


def _scale_check_update(model: BettingModel, updated: BettingModel, rate: float) -> BettingModel:
    """Return the updated model with a share `rate` of the update of its checks."""

    def scaled(values: Sequence[float], new_values: Sequence[float]) -> Sequence[float]:
        return [old + rate * (new - old) for old, new in zip(values, new_values, strict=True)]

    return replace(
        updated,
        check_log_odds=scaled(model.check_log_odds, updated.check_log_odds),
        prior_check_log_odds=scaled(model.prior_check_log_odds, updated.prior_check_log_odds),
        best_alternative_log_odds=scaled(
            model.best_alternative_log_odds, updated.best_alternative_log_odds
        ),
    )


def round_numbers(model: BettingModel) -> BettingModel:
    """Return the model with numbers of few digits, as they are stored."""
    return BettingModel(
        **{
            name: [round(value, _DIGITS) for value in values]
            for name, values in asdict(model).items()
        }
    )


def mean_log_likelihood(model: BettingModel, decisions: Sequence[TableDecision]) -> float:
    """Return the mean log likelihood of decisions by a betting model."""
    prepared = PreparedBettingModel(model)
    return fmean(
        log(
            max(
                prepared.action_probability(
                    bet_features(decision.hand, decision.hidden_card_count),
                    decision.last_bet,
                    decision.action,
                ),
                1e-6,
            )
        )
        for decision in decisions
    )
