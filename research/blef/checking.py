"""How good a player of rounds is: what it lacks at least; how a table does against `bayes`."""

from math import sqrt
from typing import NamedTuple

from cardsharp.ratings import NORMAL_95
from research.blef.compiled import (
    Cards,
    CPlayer,
    CTable,
    Knowing,
    local_best_response,
    play_rounds,
    player,
)


class Measured(NamedTuple):
    """Where a figure lies with 95 % confidence."""

    low: float
    high: float


def lacking(cards: Cards, other: CPlayer, knowing: Knowing, seed: int, rounds: int) -> Measured:
    """What a local best response wins above an equal share, mean of both seats.

    No best answer wins less, so this bounds the exploitability from below.
    """
    each = rounds // 2
    won = [won / each for won in local_best_response(other, cards, knowing, seed, each)]
    return _mean(won, each, offset=-0.5)


def beaten(cards: Cards, ours: CPlayer, seed: int, rounds: int) -> Measured:
    """The rounds that a player wins against `bayes`, mean of both seats."""
    each = rounds // 2
    theirs = player("bayes")
    first = play_rounds(ours, theirs, cards, seed, each)
    second = 1 - play_rounds(theirs, ours, cards, seed + 1, each)
    return _mean([first, second], each)


def tables_of(cards: Cards, table: CTable) -> CPlayer:
    """A player of one table."""
    return player("tables", {cards: table})


def _mean(shares: list[float], each: int, offset: float = 0.0) -> Measured:
    """The interval of the mean of shares of so many rounds each."""
    mean = sum(shares) / len(shares)
    spread = sum(share * (1 - share) / each for share in shares) / len(shares) ** 2
    margin = NORMAL_95 * sqrt(spread)
    return Measured(mean + offset - margin, mean + offset + margin)
