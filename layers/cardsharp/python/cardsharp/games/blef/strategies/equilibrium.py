"""Solved rounds: exact strategies for two remaining players with three cards or fewer.

The tables beside this module come from `cardsharp research solve blef`. With so few cards suits
decide nothing, so a hand is the ranks of its cards. A bet that cannot hold is in no table: the only
answer to it is a check.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TypedDict

from cardsharp.errors import ConfigError
from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.cards import RANKS
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies.mapped_file import unreadable_file_error

SOLVED_ROUNDS_FORMAT = 1
SOLVED_CARD_COUNTS = ((1, 1), (2, 1), (1, 2))  # cards of the player who begins, and of the other
SOLVED_PROBABILITY_SCALE = 1000  # the tables store probabilities in thousandths
MixedStrategy = tuple[tuple[int, float], ...]  # actions with their probabilities
CHECK_ONLY: MixedStrategy = ((CHECK, 1.0),)

BehaviorStrategy = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Probabilities in thousandths: by history of bets, then by hand, then by action.

A missing entry means a check.
"""


class SolvedRound(TypedDict):
    """Solved round as in its file: the strategies of both players and their exploitability."""

    format: int
    cards: Sequence[int]
    made_by: str
    made_on: str
    value: float
    exploitability: float
    starter: BehaviorStrategy
    other: BehaviorStrategy


def equilibrium_strategy(position: BlefPosition) -> MixedStrategy | None:
    """Return the equilibrium's mixed strategy, or None where it has no answer.

    It has none with more than two players or three cards, or if the viewer made bets that the
    equilibrium never makes.
    """
    if starter_and_other_card_counts(position) not in SOLVED_CARD_COUNTS:
        return None
    plan, bets, hand = _load_plan_and_hand(position)
    if not _is_last_bet_impossible(position):
        # After a bet of our own that the equilibrium never makes, its rows are arbitrary: the
        # equilibrium does not reach them, so nothing balances them.
        for index in range(len(bets) % 2, len(bets), 2):
            if bets[index] not in dict(look_up_plan(plan, bets[:index], hand)):
                return None
    return solved_mixed_strategy(position)


def solved_mixed_strategy(position: BlefPosition) -> MixedStrategy:
    """Return the solved plan's mixed strategy, whatever the viewer bet earlier."""
    return (
        CHECK_ONLY
        if _is_last_bet_impossible(position)
        else look_up_plan(*_load_plan_and_hand(position))
    )


def _is_last_bet_impossible(position: BlefPosition) -> bool:
    last_bet = position.last_bet
    return last_bet is not None and BETS[last_bet].size > sum(position.card_counts)


def _load_plan_and_hand(position: BlefPosition) -> tuple[BehaviorStrategy, tuple[int, ...], str]:
    """Return the viewer's plan, the bets so far, and the viewer's hand."""
    solved = load_solution(*starter_and_other_card_counts(position))
    plan = solved["other"] if len(position.history) % 2 else solved["starter"]
    bets = tuple(move.action for move in position.history)
    return plan, bets, hand_key(card.value for card in position.hand)


@cache  # an entry for each solved round
def load_solution(starter_card_count: int, other_card_count: int) -> SolvedRound:
    """Return the table of a round, which is read on first use.

    Raises `ConfigError` if it cannot be read.
    """
    file = (
        files("cardsharp.games.blef.strategies")
        / "tables"
        / f"{starter_card_count}v{other_card_count}.json"
    )
    try:
        read: SolvedRound = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable_file_error(str(file)) from error
    if read["format"] != SOLVED_ROUNDS_FORMAT:
        raise ConfigError(
            f"{file} has format {read['format']}, not {SOLVED_ROUNDS_FORMAT}; solve it again."
        )
    return read


def history_key(bets: tuple[int, ...]) -> str:
    """Return the key of a bet history in a table: the numbers of the bets."""
    return " ".join(map(str, bets))


def hand_key(values: Iterable[int]) -> str:
    """Return the key of a hand in a table: its ranks in ascending order."""
    return " ".join(RANKS[value] for value in sorted(values))


def look_up_plan(plan: BehaviorStrategy, bets: tuple[int, ...], hand: str) -> MixedStrategy:
    """Return a plan's mixed strategy for a hand after these bets."""
    chances = plan.get(history_key(bets), {}).get(hand)
    if chances is None:
        return CHECK_ONLY
    return tuple(
        (int(action), scaled_probability / SOLVED_PROBABILITY_SCALE)
        for action, scaled_probability in chances.items()
    )


def starter_and_other_card_counts(position: BlefPosition) -> tuple[int, int]:
    """Return the cards of the starting player and of the other; (0, 0) unless two are active."""
    starter = position.history[0].seat if position.history else position.turn
    other_seats = [seat for seat in position.to_round().active_seats if seat != starter]
    if starter is None or len(other_seats) > 1:
        return (0, 0)
    return position.card_counts[starter], position.card_counts[other_seats[0]]
