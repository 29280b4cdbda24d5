"""Model of an opponent who plays by our tables in large rounds.

It was fitted to the tables (`cardsharp research blef fit-table-opponent`). A best response to it
exploits a player of the tables, and also a player who answers the tables.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from cardsharp.games.blef.strategies.betting_model import BettingModel
from cardsharp.games.blef.strategies.mapped_file import unreadable_file_error
from cardsharp.games.blef.strategies.opponent_model import CARDS_ONLY, MODEL_PRIOR, OpponentModel
from cardsharp.games.blef.strategies.opponent_types import HABIT_WEIGHTS

TABLE_OPPONENT_FILE = "table_opponent.json"
_EXCLUDED = -50.0  # log likelihood of what does not explain the tables


@cache
def load_table_opponent() -> OpponentModel:
    """Return the shipped model; raise `ConfigError` if its file cannot be read."""
    file = files("cardsharp.games.blef.strategies") / "tables" / TABLE_OPPONENT_FILE
    try:
        return to_table_opponent(parse_betting_model(file.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable_file_error(str(file)) from error


def to_table_opponent(betting_model: BettingModel) -> OpponentModel:
    """Return the model of a player whose bets follow from its cards by this betting model."""
    log_likelihoods = [_EXCLUDED] * len(MODEL_PRIOR)
    log_likelihoods[len(HABIT_WEIGHTS) + CARDS_ONLY] = 0.0
    return OpponentModel((betting_model, BettingModel()), tuple(log_likelihoods))


def parse_betting_model(text: str) -> BettingModel:
    """Return the betting model of a file; raise `ValueError`, `KeyError` or `TypeError`."""
    document: dict[str, Any] = json.loads(text)
    return BettingModel(**document["betting_model"])
