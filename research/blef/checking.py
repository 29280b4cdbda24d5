"""How good a player of rounds is: what it lacks at least."""

from math import sqrt
from typing import NamedTuple

from cardsharp.ratings import NORMAL_95
from research.blef.compiled import (
    Cards,
    CPlayer,
    CTable,
    local_best_response,
    player,
)


class Measured(NamedTuple):
    """Where a figure lies with 95 % confidence."""

    low: float
    high: float


def lacking(cards: Cards, other: CPlayer, depth: int, seed: int, rounds: int) -> Measured:
    """What a local best response wins above an equal share, mean of both seats.

    No best answer wins less, so this bounds the exploitability from below.
    """
    each = rounds // 2
    won = [won / each for won in local_best_response(other, cards, depth, seed, each)]
    spread = sum(share * (1 - share) / each for share in won) / len(won) ** 2
    margin, mean = NORMAL_95 * sqrt(spread), sum(won) / len(won) - 0.5
    return Measured(mean - margin, mean + margin)


def tables_of(cards: Cards, table: CTable) -> CPlayer:
    """A player of one table."""
    return player("tables", {cards: table})
